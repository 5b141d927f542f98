"""What the machine is documented not to know, each with the check that a disagreement is a case of it."""

from __future__ import annotations

import re

from autodetach.checker import CheckOptions, check, fix
from autodetach.source import Source

from .compare import GROWING, Disagreement, Outcome, longer
from .judge import judge

EPOCHS = re.compile(r"for epoch in range\(\d+\):")


def limit(source: str, outcome: Outcome, disagreement: Disagreement) -> str | None:
    """The documented limit that a disagreement is a case of, or None."""
    if "create_graph=True" in source and disagreement.kind.endswith(("missed growth", "missed again", "grows")):
        return "backward(create_graph=True) is left alone"
    if disagreement.kind == "missed growth" and outcome.verdict.growing <= outcome.verdict.unrolled:
        return "what is differentiated in the end on some path is meant to be kept"
    if disagreement.kind.endswith("grows") and is_repaired_if_longer(source):
        return "a loop of few passes is taken for one over layers or heads"
    if disagreement.kind.endswith("grows") and stays_unrolled(source):
        return "what is differentiated in the end on some path is meant to be kept"
    if disagreement.kind == "missed growth" and finds_growth(longer(source)):
        return "a loop of few passes is taken for one over layers or heads"
    if disagreement.kind == "missed growth" and grows_if_outermost(source):
        return "what nothing differentiates may be unrolled by an inner loop"
    return None


def is_repaired_if_longer(source: str) -> bool:
    """Whether nothing is left to grow once no loop is bounded by its structure (`statements.BOUNDED`)."""
    after = judge(fixed(longer(source)))
    return after.error is None and not after.growing


def stays_unrolled(source: str) -> bool:
    """Whether the repaired program differentiates together, behind a loop, what the passes of this loop made."""
    after = judge(fixed(source))
    return after.error is None and bool(after.unrolled)


def fixed(source: str) -> str:
    return fix(Source.from_bytes(source.encode(), "fixed.py"), CheckOptions(), unsafe=True).source.text


def grows_if_outermost(source: str) -> bool:
    """Whether growth is found in the inner loop if it is the only one."""
    return finds_growth(EPOCHS.sub("if True:", longer(source)))


def finds_growth(source: str) -> bool:
    result = check(Source.from_bytes(source.encode(), "longer.py"), CheckOptions())
    return any(f.code in GROWING for f in result.findings)
