"""The files of one program, and how each finds the others."""
