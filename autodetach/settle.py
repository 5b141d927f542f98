"""The outcomes of many files made one: a file that two of them would change is changed once, each fix on the last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from autodetach.checks import Change, Choice, Wanted
from autodetach.finding import Finding
from autodetach.named_tuples import NamedTuple
from autodetach.perform import run_one
from autodetach.shared import KEPT, Shared, first_sources
from autodetach.source import Source, compose
from autodetach.task import Outcome, Task

MAX_ROUNDS = 4


class Settled(NamedTuple):
    """Outcomes in the order of their tasks, and what becomes of every file that is changed, in the order of changes."""

    outcomes: tuple[Outcome, ...]
    changes: tuple[Change, ...]


def settle(tasks: Sequence[Task], outcomes: Iterable[Outcome]) -> Settled:
    """Do again, one after the other, those tasks whose files an earlier one has changed meanwhile.

    A fix is proven on the files as they were; so what rests on a file that has changed since is not taken, but looked
    for anew. Files that no other one imports come first: they show how the others are used.
    """
    tasks, settled = list(tasks), list(outcomes)
    shared = Shared(settled)
    for i, (task, outcome) in enumerate(zip(tasks, settled, strict=True)):
        if shared.may_want_tensors(outcome):
            # What stays a tensor is right for whoever takes it for a number, too.
            tasks[i] = task._replace(options=task.options._replace(prefer_accumulate="detach"))
            settled[i] = run_one(tasks[i])
    state = _State({task.file.path for task in tasks if not task.is_beside}, shared)
    order = _programs_first(settled)
    for number in range(MAX_ROUNDS):
        again = False
        for i in order:
            task = tasks[i]
            if number and not state.is_stale(i, settled[i]):
                continue
            if number or state.is_stale(i, settled[i]) or not state.allows(settled[i]):
                settled[i] = state.anew(i, task, settled[i])
            again = state.take(i, settled[i]) or again
        if not again:
            break
    return Settled(tuple(settled), tuple(state.changes.values()))


def sifted(wanted: Wanted | None, findings: Sequence[Finding], sources: Mapping[str, Source], root: str) -> Choice:
    """See `checker.Wanted`; all, and none of them known, where nothing says what is wanted."""
    if wanted is None:
        return tuple(range(len(findings))), frozenset()
    return wanted.sift(findings, sources, root)


class _Uncontradicted(NamedTuple):
    """What is wanted of a program and contradicted by no other, see `checker.Wanted`; `changes` were made meanwhile."""

    wanted: Wanted | None
    shared: Shared
    program: str
    changes: tuple[Change, ...]

    def sift(self, findings: Sequence[Finding], sources: Mapping[str, Source], root: str) -> Choice:
        from autodetach.fixing import in_terms_of

        places, known = sifted(self.wanted, findings, sources, root)
        edits = {change.path: change.edits for change in self.changes}
        first = {**sources, **{change.path: change.original for change in self.changes}}
        before = {n: in_terms_of(findings[n], root, first, edits, sources) for n in places}
        return tuple(
            n for n, f in before.items() if not self.shared.contradict(f, first.get(f.path or root), self.program)
        ), known

    def after(self, changes: Iterable[Change]) -> Wanted:
        wanted = None if self.wanted is None else self.wanted.after(changes)
        return self._replace(wanted=wanted, changes=tuple(changes))


class _Judge(NamedTuple):
    """What the others say of the repairs of one program, see `fixing.Judge`; `changes` were made meanwhile."""

    shared: Shared
    program: str
    changes: tuple[Change, ...]

    def of(self, finding: Finding, first: Finding, sources: Mapping[str, Source]) -> Finding:
        from autodetach.fixing import in_terms_of

        edits = {change.path: change.edits for change in self.changes}
        before = {**sources, **{change.path: change.original for change in self.changes}}
        first = in_terms_of(first, self.program, before, edits, sources)
        return self.shared.judged(finding, first, before, self.program)


class _State:
    def __init__(self, asked: set[str], shared: Shared) -> None:
        self._shared = shared
        self.changes: dict[str, Change] = {}
        self._asked = asked
        self._versions: dict[str, int] = {}
        self._seen: dict[int, dict[str, int]] = {}

    def is_stale(self, task: int, outcome: Outcome) -> bool:
        """Whether a file that the outcome rests on has been changed by another task since."""
        seen = self._seen.get(task, {})
        return any(self._versions.get(path, 0) != seen.get(path, 0) for path in _inputs(outcome))

    def allows(self, outcome: Outcome) -> bool:
        program = outcome.file.path
        first = first_sources(outcome)
        sources = {at or program: source for at, source in first.items()}
        return not self._forbidden(outcome) and not any(
            self._shared.contradict(f, first.get(f.path) or outcome.source_of(f.path), program)
            or self._shared.judged(f, f, sources, program) != f
            for f in outcome.applied
        )

    def anew(self, number: int, task: Task, before: Outcome) -> Outcome:
        forbidden = task.forbidden | self._forbidden(before)
        changed = {**task.changed, **{path: change.source for path, change in self.changes.items()}}
        changes = tuple(self.changes.values())
        wanted = None if task.wanted is None else task.wanted.after(changes)
        wanted = _Uncontradicted(wanted, self._shared, task.file.path, changes)
        judge = _Judge(self._shared, task.file.path, changes)
        after = run_one(task._replace(changed=changed, forbidden=forbidden, wanted=wanted, judge=judge))
        applied = (*before.applied, *after.applied) if number in self._seen else after.applied
        return after._replace(applied=applied)

    def _forbidden(self, outcome: Outcome) -> frozenset[str]:
        """Files that this outcome changes, and may not."""
        return frozenset(change.path for change in outcome.elsewhere if change.path not in self._asked)

    def take(self, task: int, outcome: Outcome) -> bool:
        """Note what an outcome changes; whether that is anything."""
        changed = list(outcome.elsewhere)
        if outcome.edits and outcome.original is not None and outcome.source is not None:
            changed.insert(0, Change(outcome.file.path, outcome.original, outcome.edits, outcome.source))
        for change in changed:
            earlier = self.changes.get(change.path)
            if earlier is not None:
                edits = compose(earlier.edits, change.edits, earlier.original)
                change = Change(change.path, earlier.original, edits, change.source)
            self.changes[change.path] = change
            self._versions[change.path] = self._versions.get(change.path, 0) + 1
        self._seen[task] = {path: self._versions.get(path, 0) for path in _inputs(outcome)}
        return bool(changed)


def _programs_first(outcomes: Sequence[Outcome]) -> list[int]:
    imported = {path for outcome in outcomes for path in outcome.imported}
    return sorted(range(len(outcomes)), key=lambda i: outcomes[i].file.path in imported)


def _inputs(outcome: Outcome) -> tuple[str, ...]:
    return (outcome.file.path, *outcome.imported)


def _by_path(outcome: Outcome) -> dict[str, Source]:
    """The sources in which findings of an outcome count, by absolute path."""
    own = {} if outcome.source is None else {outcome.file.path: outcome.source}
    return {**outcome.sources, **own}


def once(outcomes: Sequence[Outcome]) -> list[tuple[Finding, Outcome]]:
    """Every finding once, with its outcome, in the order of the files: of several views of a place, a program's own.

    Where that has no repair, and another one has, as `fix` would apply it, it is that one. What others contradict
    is not told: see `Shared`.
    """
    kept: dict[_Place, tuple[Finding, Outcome]] = {}
    shared = Shared(outcomes)
    for outcome in (outcomes[i] for i in _programs_first(outcomes)):
        for finding in outcome.findings:
            if shared.contradict(finding, outcome.source_of(finding.path), outcome.file.path):
                continue
            finding = shared.judged(finding, finding, _by_path(outcome), outcome.file.path)
            key = _place(finding, outcome)
            if key not in kept or (kept[key][0].fix is None and finding.fix is not None):
                kept[key] = finding, outcome
    place = {outcome.file.path: i for i, outcome in enumerate(outcomes)}

    def order(one: tuple[Finding, Outcome]) -> tuple[int, str, int, str]:
        path = one[0].path or one[1].file.path
        return place.get(path, len(place)), path, one[0].span.start, one[0].code

    return sorted(kept.values(), key=order)


def as_others_leave_it(outcomes: Sequence[Outcome]) -> Outcome:
    """The first outcome: without findings that the others contradict, and with repairs that are right for them, too.

    Of what is kept too long, it is the repair of another one, where that has one in the same file.
    """
    own, shared = outcomes[0], Shared(outcomes)
    program, sources = own.file.path, _by_path(own)
    others = {_place(finding, outcome): finding for outcome in outcomes[1:] for finding in outcome.findings}
    findings = []
    for finding in own.findings:
        if shared.contradict(finding, own.source_of(finding.path), program):
            continue
        other = others.get(_place(finding, own)) if finding.code.startswith(KEPT) else None
        fix = other.fix if other is not None else None
        if fix is not None and not fix.elsewhere:
            rest = (one for one in (finding.fix, *finding.alternatives) if one is not None and one.edits != fix.edits)
            findings.append(finding._replace(fix=fix, alternatives=tuple(rest)))
        else:
            findings.append(shared.judged(finding, finding, sources, program))
    return own._replace(findings=tuple(findings))


_Place = tuple[str, str, int, int]
"""A file, a code, and where a finding begins and ends."""


def _place(finding: Finding, outcome: Outcome) -> _Place:
    return finding.path or outcome.file.path, finding.code, finding.span.start, finding.span.end
