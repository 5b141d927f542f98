"""How an observed program is ended early."""

from __future__ import annotations


class Enough(BaseException):
    """The steps that were asked for have been seen. No `Exception`: a program that catches those is to end, too."""
