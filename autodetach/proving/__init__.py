"""What may repair a finding is tried here, and offered only if nothing speaks against it."""
