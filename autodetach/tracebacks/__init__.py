"""From the text of a log to the findings that explain the error in it."""
