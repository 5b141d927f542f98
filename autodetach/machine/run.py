"""What was seen of a program: on one path through it, and on all that were explored."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from autodetach.machine.apart import Apart
from autodetach.machine.attribute_names import empty
from autodetach.machine.graph import Differentiation, Node, Site
from autodetach.machine.interpreter import Machine
from autodetach.machine.oracle import Policy, TestKey
from autodetach.machine.parts import Part
from autodetach.machine.program_values import Class, Frame
from autodetach.machine.project import Project
from autodetach.machine.state import FUEL_FOR_IMPORTS
from autodetach.machine.told_of_values import may_be_no_tensor
from autodetach.named_tuples import NamedTuple

if TYPE_CHECKING:
    from autodetach.machine.evidence import Evidence

NOWHERE = Site(ast.Pass(), "")
NO_FRAME = Frame(None, "")


class Stop(NamedTuple):
    """Where an error ended the program `tree`: the statements that it `ended`, and what had been `executed`.

    `decided`: so many tests had been met.
    """

    tree: ast.Module
    ended: tuple[ast.stmt, ...]
    executed: frozenset[ast.stmt]
    decided: int


class Run:
    """One path through the program, and what the machine saw on it; `fuel` is what it was given.

    `called` are the functions that the program, or an entry point, has called by itself, by their qualified names, and
    `started` those that the program has.
    `stopped_by` is the name of the error that ended it, if there is a `stop`. `parts` tell what has called what.
    """

    __slots__ = (
        "apart", "called", "entries", "finished", "found", "fuel", "machine", "parts", "policy", "started", "stop",
        "stopped_by",
    )  # fmt: skip

    def __init__(self, policy: Policy, machine: Machine, fuel: int) -> None:
        self.policy = policy
        self.machine = machine
        self.fuel = fuel
        self.called: frozenset[str] = frozenset()
        self.started: frozenset[str] = frozenset()
        self.finished = True
        self.stopped_by = ""
        self.stop: Stop | None = None
        self.entries: list[str] = []
        self.parts: list[Part] = []
        self.apart: Apart | None = None
        self.found: dict[Hashable, Any] = {}  # see `once`

    def seen_as(self, policy: Policy, machine: Machine, fuel: int) -> Run:
        """What this one was to its end, as the path of another policy that leads to the same."""
        other = Run(policy, machine, fuel)
        other.called, other.started = self.called, self.started
        other.finished, other.stopped_by, other.stop = self.finished, self.stopped_by, self.stop
        other.entries = self.entries
        return other

    @property
    def cost(self) -> int:
        """The fuel that it took, imported files included."""
        return self.fuel - max(self.machine.fuel, 0) + FUEL_FOR_IMPORTS - self.machine.import_fuel

    @property
    def shows_history(self) -> bool:
        """Whether anything began a history, was differentiated, or may be worth a word."""
        machine = self.machine
        return bool(machine.differentiations or machine.facts) or any(n.leaf or not n.weak for n in machine.nodes)

    @property
    def is_quiet(self) -> bool:
        """Whether it came to its end, and began no history: an error hides what comes behind it."""
        return self.finished and not self.stopped_by and not self.shows_history

    @property
    def shows_faults(self) -> bool:
        """Whether there is any event that a rule answers to."""
        machine = self.machine
        return bool(
            machine.second_walks
            or machine.stale
            or machine.old_losses
            or machine.facts
            or machine.stored
            or machine.crossings
        ) or any(
            d.retain or any(len(n.walked_by) > 1 and not n.leaf for n in d.walked) for d in machine.differentiations
        )

    @property
    def trained(self) -> set[Node]:
        """The leaves whose gradient an optimizer's step or an update of the program has taken."""
        return {leaf for step in self.machine.steps if step.what != "grad" for leaf, _ in step.consumed}

    def asked_by(self, d: Differentiation) -> set[Node]:
        """The leaves whose gradient a call of `torch.autograd.grad` gives."""
        return {leaf for step in self.machine.steps if step.what == "grad" for leaf, ds in step.consumed if d in ds}

    @property
    def is_usual(self) -> bool:
        """Whether it is the default path, or differs from that only in what some later passes do, or in unset flags."""
        return all(way != "other" or self._is_unset(test) for test, way in self.policy.flips)

    def _is_unset(self, test: TestKey) -> bool:
        """Whether a test that goes the other way asks for a flag, and goes as it does where that is not given."""
        decision = self.machine.oracle.decisions.get(test)
        return decision is not None and decision.is_unset_otherwise

    @property
    def unsure(self) -> set[ast.AST]:
        """Where `item()` or `detach()` is called on what may be no tensor, whatever else is done with it."""
        return {place for place, value in self.machine.asked if may_be_no_tensor(value)}

    @property
    def whole(self) -> bool:
        """Whether nothing cut it short: neither the budget, nor what looks like a mistake of the program.

        Where Python refuses something, the mistake may be the machine's own: what comes later is not known.
        """
        return self.finished and not any(fault.kind == "type" for fault in self.machine.type_faults)


class Analysis:
    """All explored paths of a program, the default one first; `complete` is false when a budget cut that one short.

    `narrowed`: other paths were left out, since they lead to no place where history begins; see `beginnings`. `ended`:
    no further path will be run. `replays` are runs of the same paths once more, by those who wanted to watch them.
    """

    __slots__ = ("complete", "ended", "evidence", "narrowed", "project", "replays", "runs", "tree")

    def __init__(
        self,
        tree: ast.Module,
        runs: list[Run],
        project: Project | None = None,
        evidence: Evidence | None = None,
        replays: list[Run] | None = None,
    ) -> None:
        self.tree = tree
        self.runs = runs
        self.project = project
        self.evidence = evidence
        self.replays = [] if replays is None else replays
        self.complete = True
        self.narrowed = False
        self.ended = False

    def alone(self, run: Run) -> Analysis:
        """One path of it alone, beside which others may be run."""
        analysis = self._with([run], self.project)
        analysis.ended = False
        return analysis

    def within(self, project: Project) -> Analysis:
        """The same of a program whose other files were read again."""
        return self._with(self.runs, project)

    def _with(self, runs: list[Run], project: Project | None) -> Analysis:
        other = Analysis(self.tree, runs, project, self.evidence, self.replays)
        other.complete, other.narrowed, other.ended = self.complete, self.narrowed, self.ended
        return other

    @property
    def distinct(self) -> list[Run]:
        """The paths without those that are an earlier one by another name."""
        found: dict[int, Run] = {}
        for run in self.runs:
            found.setdefault(id(run.machine), run)
        return list(found.values())

    @property
    def called(self) -> frozenset[str]:
        """The functions that the program, or an entry point, calls by itself on its default path."""
        return self.runs[0].called

    @property
    def trees(self) -> list[ast.Module]:
        """Of all files that the program is made of, the analysed one first."""
        return [self.tree] if self.project is None else [module.tree for module in self.project.modules]


def dissolve(analysis: Analysis) -> None:
    """Cut an analysis that nobody needs any more to pieces; else it would stay until cycles are looked for."""
    for run in analysis.runs:
        run.found.clear()
    for run in (*analysis.distinct, *analysis.replays):
        machine, run.apart = run.machine, None
        for node in machine.nodes:
            node.parents = node.links = node.operands = node.saved = node.loops = ()
            node.walked_by, node.grads = [], []
            node.chain = node.at = node.callee = None
            node.site = NOWHERE
        for d in machine.differentiations:
            d.walked, d.roots, d.operands, d.site, d.trail = [], (), (), NOWHERE, ()
        for frame in (*machine.scopes, *(space.frame for space in machine.namespaces.values())):
            for value in frame.names.values():
                if isinstance(value, Class):
                    value.order = None
            frame.names.clear()
            frame.top, frame.this, frame.returns = NO_FRAME, None, []
        for activation in machine.activations:
            activation.frame = None
        for tensor in machine.leaf_tensors:
            tensor.storage.changed, tensor.storage.earlier, tensor.storage.trail = None, (), ()
        for container in machine.held:
            container.holder = None
        machine.is_over, machine.on_pass = True, None
        empty(machine, besides="is_over")
