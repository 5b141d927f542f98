"""Files of the user: which of them, their bytes, and how they are replaced."""
