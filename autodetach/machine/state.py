"""What one run knows and has recorded so far, its clock and its fuel."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, MutableMapping
from typing import TYPE_CHECKING

from autodetach.machine.activations import Activation, Loops, Pass
from autodetach.machine.cut_short import CutShort
from autodetach.machine.events import (
    AttributeSet,
    Crossing,
    DataRead,
    Drawn,
    Escape,
    OldLoss,
    SecondWalk,
    StaleSaved,
    Step,
    Stored,
    Tail,
    TypeFault,
)
from autodetach.machine.graph import Chain, Differentiation, Lost, Node, Site
from autodetach.machine.marks import QUIET
from autodetach.machine.oracle import Oracle, Policy, Setting, TestIndex, TestKey
from autodetach.machine.passes import Ways
from autodetach.machine.program_values import Class, Frame, Instance, Namespace
from autodetach.machine.project import Project
from autodetach.machine.restraints import Restraint
from autodetach.machine.tasks import Tasks
from autodetach.machine.told_of_values import key_of
from autodetach.machine.unfreed import Paused
from autodetach.machine.untaken import Untaken
from autodetach.machine.values import Mapping, Opaque, Sequence, Span, Sym, Tensor, Value
from autodetach.named_tuples import NamedTuple

if TYPE_CHECKING:
    from autodetach.machine.evidence import Evidence, Place

MAX_EXACT = 4
MAX_LISTED = 1024
"""So many parameters of a network are looked at: one that is left out would be taken for one that nobody trains."""
MAX_DEPTH = 24
MAX_RECURSION = 3
MAX_NESTED = 8
"""How often a function may be active at once, and how often if it goes into what it was given, like a nested state."""
FUEL_FOR_IMPORTS = 12_000
"""What the bodies of all imported files may cost in one run, besides what the program itself may."""
STRIDE = 1 << 20
"""More than any entry point takes of time, or of loops."""


class Settings(NamedTuple):
    """An object of settings, the entries that the program has not surely set since, and where it stands."""

    this: Value
    open: set[str]
    path: Setting


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()


class Raised(Exception):
    """The analysed program raises. `name` is the exception's class name as far as it is known.

    `ended` are the statements that it has ended so far, the innermost first.
    """

    def __init__(self, name: str, value: Value = None) -> None:
        super().__init__(name)
        self.name = name
        self.value = value
        self.ended: list[ast.stmt] = []


class OutOfFuel(Exception):
    """The budget of the run is spent."""


class Given(NamedTuple):
    """The arguments of a call."""

    args: list[Value]
    kwargs: dict[str, Value]

    @property
    def values(self) -> list[Value]:
        return [*self.args, *self.kwargs.values()]


class Kept(NamedTuple):
    """What was put into a container, with history or without."""

    container: Sequence | Mapping
    value: Value
    element: ast.expr | None
    site: Site
    how: str


class State:
    """The state of one run of one program along one path."""

    def __init__(self, policy: Policy, fuel: int) -> None:
        self.is_over = False  # whether nothing is left of it but what Python clears away
        self.oracle = Oracle(policy)
        self.options: dict[str, Value] = {}
        self.numeric_options: set[str] = set()
        self.flags: dict[str, bool] = {}
        self.flags_set_elsewhere = False
        self.settings: dict[int, Settings] = {}  # by identity
        self.asking: set[str] | None = None  # the names of those that the test asks which is evaluated
        self.setting_asked: TestKey | None = None  # the last test that did, since an entry point was entered
        self.suspected_settings: list[TestKey] = []  # what it was when an error ended one
        self.evaluated: set[Node] = set()  # parameters of modules in `eval()` mode
        self.tests = TestIndex()
        self.fuel = fuel
        self.clock = 0
        self.loops: Loops = ()
        self.grad_enabled = True
        self.unclear = 0  # how many contexts are open of which nobody knows whether they turn gradients off
        self.made_unclear: set[Node] = set()  # what was made in such a context
        self.names_parts = False  # whether an attribute was set under a name of which only a part is known
        self.asks_for_all = False  # whether a class has a `__getattribute__`
        self.adds_attributes = False  # whether something with history was put on a tensor
        self.parametrizes = False
        self.parametrized: dict[tuple[Instance, str], Value] | None = None  # what `parametrize.cached()` keeps
        self.cached_since: Loops = ()
        self.while_cached: set[Differentiation] = set()  # the differentiations in such contexts
        self.weights_kept: list[tuple[Instance, str]] = []  # by layers, from one of their calls to the next
        self.perhaps_renewed: set[Node] = set()  # such weights, of layers that code out of view may have called since
        self.depth = 0
        self.activations: list[Activation] = []
        self.suspended: list[Activation] = []  # those of generators, which go on when they are asked for more
        self.expecting: list[bool] = []
        self.taking: list[Callable[[str], bool]] = []  # what is open, and is no `try`, and takes errors of some names
        self.nodes: list[Node] = []
        self.differentiations: list[Differentiation] = []
        self.second_walks: list[SecondWalk] = []
        self.stale: list[StaleSaved] = []
        self.old_losses: list[OldLoss] = []
        self.crossings: list[Crossing] = []
        self.stored: list[Stored] = []
        self.stored_in: dict[Sequence | Mapping, list[Stored]] = {}
        self.places: dict[Value, tuple[Site, Chain]] = {}  # see `unlike`
        self.watched: list[Kept] | None = None  # what is put into containers where gradients are off for a while
        self.filled: list[Stored] = []
        self.untaken = Untaken()
        self.tasks = Tasks()
        self.cut_short = CutShort()
        self.attributes_set: list[AttributeSet] = []
        self.held: list[Sequence | Mapping] = []  # containers in containers, each of which knows its holder
        self.drawn: list[Drawn] = []
        self.tails: list[Tail] = []
        self.asked: list[tuple[ast.AST, Value]] = []  # where `item()` or `detach()` is called on what may be no tensor
        self.taken_early: dict[Tensor | Opaque, dict[ast.AST, bool]] = {}  # see `taken_early`
        self.old_tests: list[tuple[ast.AST, Frame]] = []  # where a tensor is asked whether its type is `Variable`
        self.steps: list[Step] = []
        self.cleared: list[tuple[Node, int]] = []  # the leaves of which the gradient was cleared, and when
        self.scaled: list[int] = []  # when all gradients were clipped, or unscaled
        self.paused: Paused | None = None
        self.in_backward = False  # whether what is called at a differentiation runs
        self.hooks: list[Instance] = []  # handles of what is called at each differentiation
        self.named_constants: dict[Hashable, tuple[Class, str]] = {}  # texts and numbers that an enumeration has
        self.counts: dict[Hashable, Hashable] = {}  # by the key of what counts passes: which of all numbers it is
        self.step_hooks: list[Instance] = []  # and at each step of an optimizer
        self.called_unseen: list[tuple[Value, Site]] = []  # functions that PyTorch calls, and where it was given them
        self.escapes: list[Escape] = []
        self.broken_off: list[TypeFault] = []  # by what the program, or an entry point, ended
        self.type_faults: list[TypeFault] = []
        self.facts: list[object] = []
        # What tells nothing, and keeps others from telling.
        self.restraints: list[Restraint] = []
        self.unproven: list[DataRead] = []  # of what no one knows yet whether it has dimensions
        self.having_elements: set[ast.AST] = set()  # where element 0 is taken of what is no tensor without dimensions
        self.left_whole: frozenset[ast.AST] = frozenset()  # where element 0 of a scalar is taken for the scalar itself
        self.only_numbers: set[object] = set()  # what tells the numbers that are rounded, or added up in place
        self.filled_place: ast.AST | None = None  # of what is added to, as `kept[name]` in `kept[name].append(x)`
        self.project: Project | None = None
        self.namespaces: dict[str, Namespace] = {}
        self.costs: dict[str, int] = {}  # by the path of a file: the fuel of its functions, without what these call
        self.inner_cost = 0  # of the calls in the current one
        self.left_out: set[str] = set()  # the names of files that are at hand, and too much to be looked at
        self.importing = False
        self.import_fuel = FUEL_FOR_IMPORTS
        self.by_gradient: dict[Node, tuple[Differentiation, ...]] = {}  # what was computed with a gradient, and whose
        self.begun: dict[Node, tuple[Lost, ...]] = {}  # leaves made of values that had lost their history
        self.beside: dict[Node, tuple[Lost, ...]] = {}  # what was made of such copies, and of what has a history
        self.entering: set[Node] = set()  # what went, without its history, into operations besides sums
        self.added: dict[Node, tuple[Lost, ...]] = {}  # sums with what has no history, and only values of what has some
        self.cut_off: dict[Node, tuple[Lost, ...]] = {}  # what was made of values that were detached, or made without
        self.of_gradient: list[Site] = []  # operators one side of which is a gradient, or computed from one
        self.called_on: set[ast.AST] = set()  # functions that were called while gradients were on
        self.called_off: set[ast.AST] = set()
        self.random_nodes: list[tuple[Site, Chain]] = []
        self.stateful: list[tuple[Site, Chain]] = []
        self.leaf_tensors: list[Tensor] = []
        self.open_optimizers: set[object] = set()
        """Those of which nobody knows the parameters: by their names, or themselves."""
        self.in_forward = 0
        self.in_module = False
        self.active: dict[ast.AST, list[tuple[Frame, list[Value]]]] = {}
        self.entered: Value = None
        self.classes: list[Class] = []  # of the analysed file
        self.in_program = True  # until it is over, and others call what it has not called
        self.given_to: dict[Class, Given] = {}  # what it gave the constructors of classes, the last time
        self.chain: Chain = None
        self.detached_from: Node | None = None
        self.detached_at: ast.AST | None = None
        self.cut: dict[Value, int] = {}
        """What came of `detach`, and when."""
        self.trail: list[tuple[ast.stmt, Frame]] = []
        self.evidence: Evidence | None = None
        self.hidden: list[Tensor] = []
        self.leaf_of_call: dict[tuple[Place, str, str], Tensor] = {}
        self.carried: dict[Hashable, Tensor] = {}
        self.state_names: dict[Tensor, str] = {}
        self.explained: set[tuple[Place, str]] = set()
        self.kept_by: dict[Hashable, Sequence] = {}
        self.contradictions: list[tuple[Site, str]] = []
        self.scopes: list[Frame] = []
        self.ways: Ways = []
        self.chosen: set[ast.expr] = set()  # of what a test may leave out of an expression, what was evaluated
        self._pins: list[object] = []
        self._syms: MutableMapping[Hashable, Sym] = {}
        self._serial = 0
        self._loops_begun = 0
        self.on_pass: Callable[[Pass], None] | None = None  # a probe looks at the bindings where a pass begins
        self.leaves_asked = False  # whether it was asked for all leaves that have gradient; see `apart`

    # ---- clock, fuel, names of things

    def defines(self, frame: Frame) -> None:
        """Note that a function or class was made in a frame, which it holds, and which holds it."""
        if not self.scopes or self.scopes[-1] is not frame:
            self.scopes.append(frame)

    def tick(self) -> int:
        self.clock += 1
        return self.clock

    def begin_entry(self) -> None:
        """From here on, times and numbers of loops do not depend on how much has been done before."""
        self.clock += STRIDE - self.clock % STRIDE
        self._loops_begun += STRIDE - self._loops_begun % STRIDE

    def spend(self, amount: int = 1) -> None:
        self.fuel -= amount
        if self.fuel < 0:
            raise OutOfFuel

    def charge(self, frame: Frame, fuel: int, inner_cost: int) -> None:
        """Note what a call has cost which began with so much fuel, inside of one whose calls had cost so much."""
        cost = fuel - self.fuel
        module = frame.top.module
        if module is not None:
            self.costs[module.path] = self.costs.get(module.path, 0) + cost - self.inner_cost
        self.inner_cost = inner_cost + cost

    def serial(self) -> int:
        self._serial += 1
        return self._serial

    def sym(
        self,
        key: Hashable,
        kind: str = "",
        lo: int | None = None,
        tags: frozenset[object] = frozenset(),
        span: Span | None = None,
    ) -> Sym:
        known = self._syms.get(key)
        if known is None or known.tags != tags:
            known = self._syms[key] = Sym(key, kind, lo, tags, span)
        return known

    def fresh(
        self,
        kind: str = "",
        lo: int | None = None,
        tags: frozenset[object] = frozenset(),
        span: Span | None = None,
    ) -> Sym:
        return Sym(("fresh", self.serial()), kind, lo, tags, span)

    def opaque(self, name: str = "") -> Opaque:
        value = Opaque(self.serial(), name)
        value.born = self.clock
        return value

    def quiet(self, name: str) -> Opaque:
        """An object of a library that keeps no graph, nor do the results of its methods."""
        value = self.opaque(name)
        value.attrs[QUIET] = True
        return value

    def key(self, value: Value) -> Hashable:
        key = key_of(value)
        if isinstance(key, tuple) and key[0] == "i":
            self._pins.append(value)
        return key
