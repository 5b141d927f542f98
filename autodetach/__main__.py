"""`python -m autodetach`."""

# Python has put the current folder first on the path, and in it may lie a json.py that somebody else has written: all
# that is imported below, `__future__` too, would come from there.
import sys

if not getattr(sys.flags, "safe_path", False) and sys.path and not __file__.startswith(sys.path[0] + "/autodetach"):
    del sys.path[0]

from autodetach.cli import main

if __name__ == "__main__":
    main()
