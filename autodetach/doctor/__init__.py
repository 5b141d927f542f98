"""The doctor: watches a real run on PyTorch, and names the tensor and the line when PyTorch will not.

Nothing here imports PyTorch: the program that is watched does, and is observed from then on. What was seen are facts
(`autodetach.machine.evidence`), and what to do about it is the business of the same rules as without a run.
"""

from __future__ import annotations
