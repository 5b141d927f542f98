"""What a user has set: in files, and on the command line."""
