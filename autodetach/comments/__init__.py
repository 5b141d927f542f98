"""The comments in a program that silence findings."""
