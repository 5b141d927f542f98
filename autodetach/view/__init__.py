"""A program under analysis, as rules look at it: its tree, its runs, and what several of them ask of these."""
