"""What the machine is documented not to know, each with the check that a disagreement is a case of it."""

from __future__ import annotations

import re

from autodetach.checker import CheckOptions, check
from autodetach.machine.statements import BOUNDED
from autodetach.source import Source

from .compare import GROWING, Disagreement, Outcome

COUNT = re.compile(r"(?<=range\()\d+|(?<=batches\()\d+|(?<=randn\()\d+(?=, 2, 3)")


def limit(source: str, outcome: Outcome, disagreement: Disagreement) -> str | None:
    """The documented limit that a disagreement is a case of, or None."""
    if "create_graph=True" in source and disagreement.kind in ("missed growth", "missed again"):
        return "backward(create_graph=True) is left alone"
    if disagreement.kind == "missed growth" and grows_if_longer(source):
        return "a loop of few passes is taken for one over layers or heads"
    return None


def grows_if_longer(source: str) -> bool:
    """Whether growth is found once no loop is bounded by its structure (`statements.BOUNDED`)."""
    longer = COUNT.sub(str(BOUNDED + 2), source)
    result = check(Source.from_bytes(longer.encode(), "longer.py"), CheckOptions())
    return any(f.code in GROWING for f in result.findings)
