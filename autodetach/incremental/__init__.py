"""What an editor asks for again and again: what an edit leaves as it was is not done anew."""
