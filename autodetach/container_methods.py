"""What the methods of Python's containers, and of queues, do to them, by their names."""

from __future__ import annotations

ADDING_ONE = frozenset("add append appendleft insert put".split())
"""Put one element in, which is the last argument."""
ADDING = ADDING_ONE | frozenset("extend extendleft setdefault update".split())
"""Put something in."""
FILLING = ADDING | {"clear"}
"""Change what is in it, and take nothing out that somebody reads."""
TAKING = frozenset("discard pop popitem popleft remove".split())
"""Take single elements out."""
CHANGING = FILLING | TAKING
