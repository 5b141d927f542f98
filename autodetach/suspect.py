"""What a rule makes of the events of a run: suspects, and what might repair them. Nothing here is proven yet."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autodetach.finding import Severity, StoryStep

if TYPE_CHECKING:
    from autodetach.codemods import Codemod
    from autodetach.machine.run import Run
    from autodetach.view.program import Program


EARLIER = "gradient of earlier passes is cut off"
TRAINED_THERE = "it may train what is only evaluated there: that it is differentiated may be what is wrong"
OF_UPDATES = "gradient of the updates themselves, as in meta-learning, may be what was meant"


@dataclass(frozen=True, eq=False, slots=True)
class Candidate:
    """A repair to be tried. `doubt` says why it is unsafe whatever the proof says; None leaves that to the proof.

    `prefers` names the setting that would choose it ("item", "detach", "retain", "sum"), if there is one. `cuts`: it is
    meant to cut off gradient, so that only losing all gradient of a parameter speaks against it. `adds`: it is meant to
    give more, and if it `begins`, only to steps that got none. `starts`: it is meant that only the first pass trains
    what a state begins with. `gathers`: it makes one parameter step of several. `merges`: one differentiation does what
    two did. `last_resort`: of use only where nothing before it passes. `keeps`: it may not even take gradient of
    earlier passes away. `respelled`: what a call calls, or what updates a parameter, as its text will be and as it was.
    """

    message: str
    codemods: tuple[Codemod, ...]
    doubt: str | None = None
    prefers: str = ""
    cuts: bool = False
    adds: bool = False
    begins: bool = False
    starts: bool = False
    gathers: bool = False
    merges: bool = False
    last_resort: bool = False
    keeps: bool = False
    respelled: tuple[tuple[str, str], ...] = ()

    @property
    def changes_nothing(self) -> bool:
        """Whether all that is differentiated is to stay what it is."""
        meant = self.cuts or self.adds or self.begins or self.starts or self.gathers or self.merges or self.respelled
        return not (meant or self.doubt or self.last_resort)


@dataclass(frozen=True, eq=False, slots=True)
class Suspect:
    """One fault, as one rule sees it.

    `key` tells it apart independent of lines, so that it can be looked for in the edited program; its first element is
    the rule's code. Suspects with the same `fault` are different views of one error, of which one is reported.
    `certain`: no edge of the graph that it rests on is assumed; `observed` says which ones only a run has shown.
    `candidates` imports what makes them: of most files, nobody asks.
    `lasts` tells whether an edited program still does what is told, though it may be too little to be told by itself.
    `untrains` tells whether an edited program comes to where a leaf is trained, and has cut that off from its gradient.
    `crosses`: it is that gradient crosses from one pass into the next, so that a repair can only cut it off there.
    `ends`: the program ends there, so that what comes behind is seen only once it is repaired.
    `is_guess`: it blames what a repair of it would change; where none passes, another view of the fault is shown.
    `is_spelling`: its first candidate says the same in other words, so that several can be proven at once.
    """

    key: tuple[object, ...]
    node: ast.AST
    message: str
    severity: Severity
    story: tuple[StoryStep, ...]
    certain: bool
    assumptions: tuple[str, ...]
    candidates: Callable[[], Iterator[Candidate]]
    fault: tuple[object, ...] = ()
    observed: tuple[str, ...] = ()
    crosses: bool = False
    ends: bool = False
    is_guess: bool = False
    is_spelling: bool = False
    lasts: Callable[[Program], bool] | None = None
    untrains: Callable[[Run, Run], bool] | None = None

    @property
    def identity(self) -> tuple[object, ...]:
        return self.fault or self.key

    @property
    def code(self) -> str:
        return str(self.key[0])


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its documentation, and what finds its suspects in a program."""

    code: str
    name: str
    summary: str
    fix_safety: str
    page: str
    find: Callable[[Program], Iterator[Suspect]]


def rule(module_doc: str | None, code: str, name: str, find: Callable[[Program], Iterator[Suspect]]) -> Rule:
    """A rule from its module's docstring: a summary line, then the headings of the rule page."""
    doc = (module_doc or "").strip()
    summary = doc.partition("\n")[0].rstrip(".")
    safety = doc.partition("## Fix safety\n")[2].partition("\n## ")[0].strip()
    page = f"# {name} ({code})\n\n{doc}\n"
    return Rule(code, name, summary, " ".join(safety.split()), page, find)
