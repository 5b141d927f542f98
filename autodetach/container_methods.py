"""What the methods of Python's containers, and of queues, do to them, by their names."""

from __future__ import annotations

ADDING_ONE = frozenset("add append appendleft insert put".split())
"""Put one element in, which is the last argument."""
ADDING = ADDING_ONE | frozenset("extend extendleft setdefault update".split())
"""Put something in; `setdefault` also gives what is in it."""
FILLING = ADDING - {"setdefault"} | {"clear"}
"""Change what is in it, and give nothing of it."""
TAKING = frozenset("discard pop popitem popleft remove".split())
"""Take single elements out."""
CHANGING = ADDING | TAKING | {"clear"}
