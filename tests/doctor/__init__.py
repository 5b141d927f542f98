"""The doctor: what it says of real runs, measured and tested."""
