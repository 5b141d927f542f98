"""`python -m autodetach`."""

from __future__ import annotations

from autodetach.cli import main

if __name__ == "__main__":
    main()
