"""`python -m autodetach`."""

# Python has put the current folder first on the path, and in it may lie a json.py that somebody else has written: all
# that is imported below, `__future__` too, would come from there. So it is replaced by what a script that pip installs
# has there, its own folder; but for a checkout that is run from where it lies.
import sys

if not getattr(sys.flags, "safe_path", False) and not __file__.replace("\\", "/").startswith(
    sys.path[0].replace("\\", "/") + "/autodetach/"
):
    del sys.path[0]
    import os

    sys.path.insert(0, os.path.dirname(sys.executable))

from autodetach.cli import run

if __name__ == "__main__":
    run()
