"""What the commands do: which files, what is printed where, and the exit code."""
