"""What the machine is documented not to know, each with the check that a disagreement is a case of it."""

from __future__ import annotations

import re

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.fixing import fix
from autodetach.source import Source

from .compare import COUNT, GROWING, RAISING, Disagreement, Outcome, compare, longer
from .judge import judge

EPOCHS = re.compile(r"for epoch in range\(\d+\):")
STEPS = re.compile(r"while (?:step < \d+|True):")
ROWS = re.compile(r"zip\(xs, ys\)")
COUNTER = re.compile(r"^( *)step = 0$", re.MULTILINE)
REMAINDER = re.compile(r"step % (\d+) == (\d+)")


def limit(source: str, outcome: Outcome, disagreement: Disagreement) -> str | None:
    """The documented limit that a disagreement is a case of, or None."""
    if "create_graph=True" in source and disagreement.kind.endswith(("missed growth", "missed again", "grows")):
        return "backward(create_graph=True) is left alone"
    if is_of_versions(disagreement.kind) and is_seen_of_view(source, disagreement.kind):
        return "what `reshape` returns may be a copy"
    if disagreement.kind == "false AD302" and raises_if_always_alike(source):
        return "a test of a remainder may go the same way in every pass"
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
    if disagreement.kind == "missed growth" and grows_if_endless(source):
        return "what nothing differentiates may be unrolled by a loop that does not go on for long"
    if disagreement.kind.endswith("grows") and grows_if_endless(fixed(source)):
        return "what nothing differentiates may be unrolled by a loop that does not go on for long"
    if disagreement.kind.endswith("raises no-history") and stood_behind(source):
        return "what stands behind a fault is seen only when this is repaired"
    if disagreement.kind == "another place version" and is_at_its_place_with_zeros(source):
        return "`autograd.grad` is taken to give a gradient where it gives None"
    if is_seen_from_any_step(source, disagreement.kind):
        return "three passes are run, and a counter that begins at 0 may spend the first of them on nothing"
    return None


def is_of_versions(kind: str) -> bool:
    return kind in ("missed version", "missed error version") or kind.endswith("raises version")


def is_seen_of_view(source: str, kind: str) -> bool:
    """Whether the same error is seen once every `reshape` is written as the `view` that it is here."""
    if ".reshape(" not in source:
        return False
    outcome = compare(source.replace(".reshape(", ".view("))
    raises = "raises" in kind
    same = [d for d in outcome.disagreements if d.kind == kind or (raises and "raises" in d.kind)]
    return outcome.fault == "version" and not same


def raises_if_always_alike(source: str) -> bool:
    """Whether the program raises once the first remainder that it tests is the same in every pass."""
    first = REMAINDER.search(source)
    if first is None:
        return False

    def alike(test: re.Match[str], ways: dict[str, str]) -> str:
        return str(ways.setdefault(test[1], test[2]) == test[2])

    for default in (True, False):
        ways: dict[str, str] = {} if default else {first[1]: "-1"}
        error = judge(REMAINDER.sub(lambda test, ways=ways: alike(test, ways), source)).error  # type: ignore[misc]
        if error is not None and error.kind in ("second", "version"):
            return True
    return False


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


def grows_if_endless(source: str) -> bool:
    """Whether growth is found once the loops go on for long, that around the steps aside."""
    endless = STEPS.sub("for _ in range(1000):", COUNT.sub("1000", source))
    endless = ROWS.sub("torch.utils.data.DataLoader(xs)", endless)
    return finds_growth(endless) or finds_growth(EPOCHS.sub("if True:", endless))


def is_seen_from_any_step(source: str, kind: str) -> bool:
    """Whether what is missed is found once nothing is known of where the counter of a remainder begins."""
    of_growth = kind == "missed growth" or kind.endswith("grows")
    if REMAINDER.search(source) is None or not (of_growth or is_of_versions(kind)):
        return False
    if kind.startswith(("fixed", "safely fixed")):
        source = fixed(source)
    return finds(COUNTER.sub(r"\1step = int(input())", longer(source)), GROWING if of_growth else RAISING)


def stood_behind(source: str) -> bool:
    """Whether the call that raises after the repair raises as well where no other call differentiates before it."""
    text = fixed(source)
    error = judge(text).error
    if error is None:
        return False
    call = text.splitlines()[error.line - 1].strip()
    lines = source.splitlines()
    alone = [re.sub(r"\S.*", "pass", s) if ".backward(" in s and s.strip() != call else s for s in lines]
    before = judge("\n".join(alone)).error
    return before is not None and before.kind == error.kind and lines[before.line - 1].strip() == call


def is_at_its_place_with_zeros(source: str) -> bool:
    """Whether the machine has the right pass once PyTorch gives zeros for what a loss does not depend on."""
    if "allow_unused=True" not in source:
        return False
    outcome = compare(source.replace("allow_unused=True", "materialize_grads=True"))
    return outcome.fault == "version" and all(d.kind != "another place version" for d in outcome.disagreements)


def finds(source: str, codes: frozenset[str]) -> bool:
    result = check(Source.from_bytes(source.encode(), "longer.py"), CheckOptions())
    return any(f.code in codes for f in result.findings)


def finds_growth(source: str) -> bool:
    return finds(source, GROWING)
