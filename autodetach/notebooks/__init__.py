"""Notebooks: their cells as one program, and edits put back where the cells are."""
