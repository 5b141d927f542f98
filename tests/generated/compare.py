"""What PyTorch did with a program against what the tool says about it, and the tool's repairs on PyTorch."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from unittest.mock import patch

import numpy as np

from autodetach import fixing
from autodetach.checker import check
from autodetach.checks import CheckOptions, CheckResult
from autodetach.finding import Applicability, Finding
from autodetach.fixing import FixResult, fix
from autodetach.machine.exploring import analyse
from autodetach.machine.graph import Differentiation
from autodetach.machine.loops import BOUNDED
from autodetach.machine.run import Analysis, Run
from autodetach.machine.values import Tensor
from autodetach.source import Source

from .judge import Verdict, judge

RAISING = frozenset({"AD201", "AD202", "AD203", "AD301", "AD302"})
STORED = frozenset({"AD101", "AD102"})
GROWING = STORED | {"AD302", "AD303"}
DIFFERENTIATING = frozenset({"second", "version"})
AS_IF_RETAINED = frozenset({"AD103", "AD201"})
"""Rules whose repair gives the gradients which the program would have if it retained its graphs everywhere."""
COUNT = re.compile(r"(?<=range\()\d+|(?<=batches\()\d+|(?<=randn\()\d+(?=, 2, 3)|(?<=step < )\d+|(?<=step >= )\d+")
"""Where a program says how many passes its loops make."""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """`kind` says what is wrong: harm ("false ...", "numbers ...", "fixed ..."), or a miss ("missed ...")."""

    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """One program: what PyTorch did, what was found, and in what they disagree."""

    verdict: Verdict
    codes: tuple[str, ...]
    disagreements: tuple[Disagreement, ...]

    @property
    def fault(self) -> str:
        """What is wrong with the program, in a word."""
        v = self.verdict
        if v.error is not None:
            return v.error.kind
        return "grows" if v.growing else "useless" if v.useless else "again" if v.again else "sound"


@lru_cache(maxsize=32)
def remembered(raw: bytes, options: CheckOptions) -> CheckResult:
    return check(Source.from_bytes(raw, "generated.py"), options)


def compare(source: str) -> Outcome:
    """Run a program, look for faults, repair it, and run what comes of it."""
    with patch.object(fixing, "check", lambda source, options, **_: remembered(source.raw, options)):
        return compared(source)


def compared(source: str) -> Outcome:
    verdict = judge(source)
    if verdict.error is not None and verdict.error.kind == "other":
        return Outcome(verdict, (), (Disagreement("invalid", verdict.error.text),))
    try:
        result = remembered(source.encode(), CheckOptions())
        findings = result.findings
        found = [
            *of_the_machine(source, verdict),
            *of_the_findings(source, verdict, findings),
            *of_the_repairs(source, verdict, findings),
        ]
        if result.problems:
            found.append(Disagreement("problem", result.problems[0].message))
    except Exception as error:
        return Outcome(verdict, (), (Disagreement("crash", f"{type(error).__name__}: {error}"),))
    return Outcome(verdict, tuple(f.code for f in findings), tuple(found))


# ---- the first error


def of_the_machine(source: str, verdict: Verdict) -> Iterator[Disagreement]:
    """The machine has a path on which the same call raises the same error in the same pass."""
    analysis = analyse(ast.parse(source))
    error = verdict.error
    first = [first_error(run) for run in analysis.runs]
    if error is None:
        if is_exact(analysis):
            for run, fault in zip(analysis.runs, first, strict=True):
                if fault is not None or run.stopped_by:
                    yield Disagreement("false error", f"{fault} {run.stopped_by} {run.policy}")
                    return
        return
    if error.kind not in (*DIFFERENTIATING, "no-history"):
        return
    expected = (error.kind, error.line)
    same = [f for f in first if f is not None and f[:2] == expected]
    if not same:
        yield Disagreement(f"missed error {error.kind}", f"line {error.line}, the machine has {first[:3]}")
    elif is_exact(analysis) and first[0] is not None and (error.number, *expected) != (first[0][2], *first[0][:2]):
        yield Disagreement(f"another place {error.kind}", f"{error} {first[0]}")
    elif only_cut_short(analysis) and error.number in (0, 1) and first[0] is not None and first[0][2] != error.number:
        yield Disagreement(f"another pass {error.kind}", f"{error} {same}")


def first_error(run: Run) -> tuple[str, int, int | None] | None:
    """Kind, line, and the pass of the outermost loop."""
    found: list[tuple[int, str, int, int | None]] = []

    def add(d: Differentiation, kind: str) -> None:
        found.append((d.number, kind, d.call.lineno, d.loops[0].index if d.loops else None))

    for walk in run.machine.second_walks:
        add(walk.second, "second")
    for stale in run.machine.stale:
        add(stale.by, "version")
    for d in run.machine.differentiations:
        if any(isinstance(root, Tensor) and root.node is None for root in d.operands):
            add(d, "no-history")
    return min(found)[1:] if found else None


def is_exact(analysis: Analysis) -> bool:
    """Whether the machine runs the program as Python does: one path, no loop cut short."""
    only = analysis.runs[0].machine
    return len(analysis.runs) == 1 and all(a.exact for a in only.activations) and not only.oracle.decisions


def only_cut_short(analysis: Analysis) -> bool:
    """Whether the first passes are run as Python runs them."""
    return len(analysis.runs) == 1 and not analysis.runs[0].machine.oracle.decisions


# ---- findings


def of_the_findings(source: str, verdict: Verdict, findings: Iterable[Finding]) -> Iterator[Disagreement]:
    codes = {f.code for f in findings}
    error = verdict.error
    if error is not None:
        if error.kind in DIFFERENTIATING and not codes & (RAISING | {"AD402"}):
            yield Disagreement(f"missed {error.kind}", f"{error}, found {sorted(codes)}")
        if error.kind == "detach-view" and "AD404" not in codes:
            yield Disagreement(f"missed {error.kind}", f"{error}, found {sorted(codes)}")
        return
    for finding in findings:
        reason = innocent(source, verdict, finding)
        if reason:
            yield Disagreement(f"false {finding.code}", f"{finding.message}: {reason}")
    if verdict.growing and not codes & (GROWING | {"AD402"}) and grows(source, verdict):
        yield Disagreement("missed growth", f"loops {sorted(verdict.growing)}, found {sorted(codes)}")
    for line in verdict.useless:
        lines = {source.encode()[: f.span.start].count(b"\n") + 1 for f in findings if f.code == "AD103"}
        if line not in lines and not (codes & RAISING):
            yield Disagreement("missed retain", f"line {line}, found {sorted(codes)}")
    if verdict.again and not codes & RAISING:
        yield Disagreement("missed again", f"found {sorted(codes)}")


def innocent(source: str, verdict: Verdict, finding: Finding) -> str:
    """Why a finding about a program that ran is wrong, or nothing."""
    code = finding.code
    line = source.encode()[: finding.span.start].count(b"\n") + 1
    if code == "AD302" and (verdict.growing or verdict.again or raises(longer(source))):
        return ""
    if code in GROWING:
        if verdict.swelling or (verdict.short and code != "AD303") or swells(source):
            return ""
        return "nothing grows"
    if code == "AD103":
        return "" if line in verdict.useless else "the graph is walked again"
    if code in RAISING:
        return "" if verdict.again else "nothing raises, nothing is walked again"
    if code == "AD501":
        return "nothing raises"
    return ""


def longer(source: str) -> str:
    """The program with more passes: what few of them cannot tell, these can."""
    return COUNT.sub(str(BOUNDED + 2), source)


def grows(source: str, verdict: Verdict) -> bool:
    again = judge(longer(source))
    return bool(verdict.growing if again.error is not None else again.growing)


def raises(source: str) -> bool:
    error = judge(source).error
    return error is not None and error.kind in DIFFERENTIATING


def swells(source: str) -> bool:
    return bool(judge(longer(source)).swelling)


# ---- repairs


def of_the_repairs(source: str, verdict: Verdict, findings: tuple[Finding, ...]) -> Iterator[Disagreement]:
    if not any(f.fix is not None for f in findings):
        return
    raw = Source.from_bytes(source.encode(), "generated.py")
    whole = fix(raw, CheckOptions(), unsafe=True)
    yield from of_one_repair(source, verdict, whole, "")
    if any(f.fix is not None and f.fix.applicability is Applicability.SAFE for f in findings):
        safe = fix(raw, CheckOptions(), unsafe=False)
        if safe.source.raw != whole.source.raw:
            yield from of_one_repair(source, verdict, safe, "safely ")
        yield from of_numbers(source, verdict, safe)


def of_one_repair(source: str, verdict: Verdict, result: FixResult, how: str) -> Iterator[Disagreement]:
    after = judge(result.source.text)
    applied = ",".join(sorted({f.code for f in result.applied}))
    error = verdict.error
    if after.error is not None and (error is None or not result.remaining):
        if error is not None and after.error.kind == "no-history":
            first = judge(source, retain=True).error
            if first is not None and first.kind == "no-history":
                return  # a fault of the program that stood behind the one which is repaired
        yield Disagreement(f"{how}fixed {applied} raises {after.error.kind}", f"{after.error}")
    elif after.error is None and not result.remaining:
        if after.growing and grows(result.source.text, after):
            yield Disagreement(f"{how}fixed {applied} grows", f"loops {sorted(after.growing)}")
        if after.useless:
            yield Disagreement(f"{how}fixed {applied} retains", f"lines {sorted(after.useless)}")
    if not after.finite and verdict.finite:
        yield Disagreement(f"{how}fixed {applied} is not finite", "")


def of_numbers(source: str, verdict: Verdict, result: FixResult) -> Iterator[Disagreement]:
    """What the program computed until it ended or raised, it computes after safe repairs, to the bit."""
    after = judge(result.source.text)
    applied = {f.code for f in result.applied}
    shown = ",".join(sorted(applied))
    if verdict.error is None:
        if after.losses != verdict.losses or after.weights != verdict.weights:
            yield Disagreement(f"numbers {shown}", "losses or weights of a program that ran have changed")
        elif not alike(verdict.printed, after.printed):
            yield Disagreement(f"numbers {shown}", f"prints {after.printed[:80]!r} for {verdict.printed[:80]!r}")
        return
    common = min(len(verdict.losses), len(after.losses))
    if applied <= AS_IF_RETAINED and not result.remaining and after.error is None:
        retained = judge(source, retain=True)
        if retained.error is None and not close(retained.weights, after.weights):
            yield Disagreement(f"numbers {shown}", "not the weights that the program would have had")
    common -= "AD301" in applied  # what is computed anew has another value in the pass that raises
    if after.losses[:common] != verdict.losses[:common] and "AD201" not in applied:
        yield Disagreement(f"numbers {shown}", "losses before the error have changed")


def alike(before: str, after: str) -> bool:
    """What a person reads: `tensor(0.5, grad_fn=<AddBackward0>)` and `0.5` are the same number."""
    pairs = list(zip(numbers(before), numbers(after), strict=False))
    return len(numbers(before)) == len(numbers(after)) and all(
        math.isclose(a, b, rel_tol=1e-3, abs_tol=1e-3) or (math.isnan(a) and math.isnan(b)) for a, b in pairs
    )


def numbers(printed: str) -> list[float]:
    return [float(n) for n in NUMBER.findall(re.sub(r"grad_fn=<\w+>|requires_grad=True", "", printed))]


def close(one: tuple[bytes, ...], other: tuple[bytes, ...]) -> bool:
    return len(one) == len(other) and all(
        len(a) == len(b) and np.allclose(np.frombuffer(a, "f4"), np.frombuffer(b, "f4"), 1e-3, 1e-4, equal_nan=True)
        for a, b in zip(one, other, strict=True)
    )
