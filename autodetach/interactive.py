"""`fix -i`: one finding after the other, each repaired only after a person has said so. Nothing is written here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autodetach.beside import with_beside
from autodetach.checks import Change
from autodetach.comments.add_ignore import NotSilenced, ignoring
from autodetach.finding import Applicability, Finding, Fix, edits_by_file
from autodetach.report import Located
from autodetach.settle import Settled
from autodetach.source import Edit, Source, compose, offset_before
from autodetach.task import Outcome, Task

HELP = """\
y  apply this fix
n  leave this finding as it is
a  show the next alternative
i  silence the finding with a comment in its line
q  quit: what you said yes to is written, the rest stays
?  this help
"""

Key = tuple[str, str, str, int]


class Walk:
    """A walk through the findings of `tasks`, until there are no more or somebody quits.

    `ask` prints a question and returns the answer, None at the end of the input; `show` prints text; `tell` makes the
    paragraph of a finding, with its fix.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        ask: Callable[[str], str | None],
        show: Callable[[str], None],
        tell: Callable[[Located], str],
    ) -> None:
        self._tasks = tasks
        self._ask = ask
        self._show = show
        self._tell = tell
        self._asked_for = {task.file.path for task in tasks}
        self._changes: dict[str, Change] = {}
        self._answered: set[Key] = set()
        self._ended = False

    def go(self) -> Settled:
        """Ask about every finding. What was accepted is in the result, as are the findings that are left."""
        outcomes = [self._file(task) for task in self._tasks if not self._ended]
        return Settled(tuple(outcomes), tuple(self._changes.values()))

    def _file(self, task: Task) -> Outcome:
        """Walk through one program, which is looked at again whenever an answer has changed it."""
        applied: list[Finding] = []
        outcome = self._look(task)
        while not self._ended:
            left = (f for f in outcome.findings if self._key(f, outcome) not in self._answered)
            finding = next(left, None)
            if finding is None:
                break
            self._answered.add(self._key(finding, outcome))
            before = dict(self._changes)
            taken = self._settle(finding, outcome)
            if taken is not None:
                applied.append(taken)
            if self._changes != before:
                outcome = self._look(task)
        return outcome._replace(applied=tuple(applied))

    def _look(self, task: Task) -> Outcome:
        changed = {path: change.source for path, change in self._changes.items()}
        task = task._replace(unsafe=None, options=task.options._replace(alternatives=True), changed=changed)
        return with_beside(task).outcomes[0]

    def _settle(self, finding: Finding, outcome: Outcome) -> Finding | None:
        """Ask until there is an answer; the finding with the fix that was taken, if one was."""
        every = [fix for fix in (finding.fix, *finding.alternatives) if fix is not None]
        choices = [fix for fix in every if self._may(finding._replace(fix=fix))]
        at, shown = 0, False
        while True:
            chosen = choices[at] if choices else None
            one = finding._replace(fix=chosen, alternatives=())
            if not shown:
                self._show("\n" + self._tell(located(one, outcome)))
                if every and not choices:
                    self._show("   (a repair is known, but in a file that was not given)\n")
                shown = True
            answer = self._ask(question(chosen, at, len(choices)))
            if answer is None or answer == "q":
                self._ended = True
                return None
            if answer == "y" and chosen is not None:
                for path, edits in edits_by_file(one):
                    self._put(path or outcome.file.path, source_of(outcome, path), edits)
                return one
            if answer == "n":
                return None
            if answer == "i" and self._silence(finding, outcome):
                return None
            if answer == "a" and len(choices) > 1:
                at, shown = (at + 1) % len(choices), False
            elif answer != "i":
                self._show(HELP)

    def _may(self, finding: Finding) -> bool:
        """Files that were not asked for are not edited."""
        return all(not path or path in self._asked_for for path, _ in edits_by_file(finding))

    def _silence(self, finding: Finding, outcome: Outcome) -> bool:
        path = finding.path or outcome.file.path
        if path not in self._asked_for:
            self._show(f"{path} was not given, so it is left alone.\n")
            return False
        source = source_of(outcome, finding.path)
        try:
            self._put(path, source, ignoring(source, [finding]))
        except NotSilenced as error:
            self._show(f"No comment can stand there: {error}.\n")
            return False
        return True

    def _put(self, path: str, source: Source, edits: tuple[Edit, ...]) -> None:
        earlier = self._changes.get(path)
        original = source if earlier is None else earlier.original
        whole = edits if earlier is None else compose(earlier.edits, edits, earlier.original)
        if edits:
            self._changes[path] = Change(path, original, whole, source.with_edits(edits))

    def _key(self, finding: Finding, outcome: Outcome) -> Key:
        """Tells a finding apart while text around it comes and goes: by its place in the first text."""
        path, start = finding.path or outcome.file.path, finding.span.start
        change = self._changes.get(path)
        place = start if change is None else offset_before(change.original, change.edits, start)
        return path, finding.code, finding.message, place


def source_of(outcome: Outcome, path: str) -> Source:
    """A source that a finding of the outcome counts in."""
    source = outcome.source_of(path)
    assert source is not None
    return source


def located(finding: Finding, outcome: Outcome) -> Located:
    """A finding with its sources."""
    source = source_of(outcome, finding.path)
    others = {**outcome.sources, "": source_of(outcome, "")}
    return Located(finding, source, source.path, finding.path or outcome.file.path, outcome.file.path, others)


def question(fix: Fix | None, at: int, count: int) -> str:
    """The question below a finding: what can be answered."""
    if fix is None:
        return "No repair is offered. [n]ext, [i]gnore, [q]uit, [?]: "
    kind = "" if fix.applicability is Applicability.SAFE else "unsafe "
    more = f" [a]lternative ({at + 1} of {count})," if count > 1 else ""
    return f"Apply this {kind}fix? [y]es, [n]o,{more} [i]gnore, [q]uit, [?]: "
