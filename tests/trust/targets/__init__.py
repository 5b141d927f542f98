"""Where this tool reads bytes that somebody else may have written, one module each.

A target has `SEEDS`, inputs to begin with, `WORDS`, what to put into them, and `one(raw)`, which raises where a promise
is broken.
"""
