"""What a real run of the program has shown, as facts that the machine takes where it would have to guess.

Pure data: nothing here runs anything, and nothing imports torch. Evidence speaks of places in the program by the file,
the function and the text of an expression, never by lines, so that it also holds for an edited program.

How an observer fills it
------------------------
* `Place.path` is the absolute path of a file, `Place.function` what `place_of` makes of `co_qualname`: `Trainer.step`,
  `outer.inner` (no `<locals>`), empty for module level. What a comprehension binds belongs to the function around it.
* `Evidence.results` says what a call returned, by the text of the call (`ast.unparse` of it). It is the better half:
  `h = torch.zeros(8)` and `h = cell(x, h)` bind the same name to different things, but `cell(x, h)` is one thing. After
  `loss = step(batch)` has run, `loss` is what `step(batch)` returned; so the line events of a trace are enough.
* `Evidence.bindings` says what a name (`loss`), or an attribute path (`self.state`), was bound to. The machine asks it
  only where `results` knows nothing of the value.
* Look at a value every time, and `merge` what was seen: what differed is not said (None). An expression of which
  `merge` gives None is left out. Names that the program binds on paths that were never run need no entry.
* Only calls of code that is out of the machine's view are asked for; others may be given, and cost nothing.
* `Kind.HISTORY` is a tensor with a `grad_fn`; `LEAF` one without that requires grad; `PLAIN` any other tensor; `NUMBER`
  a Python number. `MODULE` is an `nn.Module`, `OPTIMIZER` a `torch.optim.Optimizer`. `TUPLE` and `LIST` come with
  `items` if there are few of them (say eight), and all of them were looked at. All else is `OTHER`.
* `Observed.carries`: walk `grad_fn.next_functions`. True if that graph reaches a node that was there when the backward
  before ran (keep the nodes that each backward saw in a weak set), False if it was looked for and does not.
* `Observed.saves`: whether any node of the graph has a `_saved_*` attribute, so that a second walk over it raises. Of a
  tuple or a list: whether the graphs of two of its items have such a node in common; taken for an assumption if None.
* `Observed.state`: where the run found the tensor of the earlier pass, as the function could write it
  (`engine.state`): a name and attributes, of which the last is a tensor. Empty where there is none.
* `Kept` is a call after which something that is out of view held the tensor it was given, or its graph, for at least
  two more passes, in more and more of them. `Kept.walked`: False if no backward after the pass of the call has walked
  that graph, True if one did (then it is kept for a reason), None where nobody has looked.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from autodetach.machine.spelling import spelled


class Kind(enum.Enum):
    """What a value is to autograd."""

    HISTORY = "a tensor with history"
    LEAF = "a leaf that requires grad"
    PLAIN = "a tensor without history"
    NUMBER = "a number"
    TUPLE = "a tuple"
    LIST = "a list"
    MODULE = "a module"
    OPTIMIZER = "an optimizer"
    OTHER = "something else"


@dataclass(frozen=True, slots=True)
class Observed:
    """What a value was whenever the run looked at it; None stands for what differed, or is not known.

    `scalar`: a tensor of no dimension. `items`: those of a short tuple or list. `carries`: its graph reaches nodes that
    were built before the previous backward. `saves`: a second walk over its graph raises (taken for True if None); of
    `items`, that they share such a graph (assumed if None). `state` is where the run found what it carries, such as
    `engine.state`.
    """

    kind: Kind
    scalar: bool | None = None
    items: tuple[Observed, ...] | None = None
    carries: bool | None = None
    saves: bool | None = None
    state: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A function of a file, or its module level: an absolute path, and a qualified name without `<locals>`, or none."""

    path: str
    function: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """A call of something out of view that keeps (the graph of) an argument.

    `call` is the text of the call, `argument` the number of the argument among those by position (from 0), or the name
    of one by keyword, and `holder` says for people where it is kept: `meter.values[3]`. For `walked` see above.
    """

    place: Place
    call: str
    argument: int | str
    holder: str
    walked: bool | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a run has shown: `bindings` by name or attribute path, `results` by the text of a call, and what is kept."""

    bindings: Mapping[tuple[Place, str], Observed] = field(default_factory=dict)
    kept: tuple[Kept, ...] = ()
    results: Mapping[tuple[Place, str], Observed] = field(default_factory=dict)

    def normalised(self) -> Evidence:
        """The same with texts as the machine looks them up: without formatting, and without what a repair puts in."""
        return Evidence(
            dict(self.bindings),
            tuple(replace(k, call=normal(k.call)) for k in self.kept),
            {(place, normal(text)): seen for (place, text), seen in self.results.items()},
        )

    def without_carry(self, calls: Iterable[tuple[Place, str]]) -> Evidence:
        """The same where some calls are not said to carry anything of their own from pass to pass."""
        found = set(calls)

        def freed(facts: Mapping[tuple[Place, str], Observed]) -> dict[tuple[Place, str], Observed]:
            return {key: replace(seen, carries=None) if key in found else seen for key, seen in facts.items()}

        return replace(self, bindings=freed(self.bindings), results=freed(self.results))


def merge(one: Observed | None, other: Observed | None) -> Observed | None:
    """What two looks at a value have in common; None when they are of different kinds, or one of them said nothing."""
    if one is None or other is None or one.kind is not other.kind:
        return None
    return Observed(
        one.kind,
        one.scalar if one.scalar == other.scalar else None,
        _merged_items(one.items, other.items),
        # The first pass has nothing to carry: one look at it that found an earlier graph is enough.
        True if one.carries or other.carries else one.carries if one.carries == other.carries else None,
        True if one.saves or other.saves else one.saves if one.saves == other.saves else None,
        one.state if one.state == other.state or not other.state else other.state if not one.state else "",
    )


def _merged_items(one: tuple[Observed, ...] | None, other: tuple[Observed, ...] | None) -> tuple[Observed, ...] | None:
    if one is None or other is None or len(one) != len(other):
        return None
    items = [merge(a, b) for a, b in zip(one, other, strict=True)]
    return tuple(Observed(Kind.OTHER) if item is None else item for item in items)


def place_of(path: str, qualname: str) -> Place:
    """The place of a code object of the absolute `path`, by its `co_qualname`."""
    parts = [part for part in qualname.split(".") if part not in ("<locals>", "<module>")]
    while parts and parts[-1] in ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"):
        parts.pop()
    return Place(path, ".".join(parts))


@cache
def normal(text: str) -> str:
    """The text of an expression without formatting, `.detach()` and `.item()`; as it is where it cannot be parsed."""
    try:
        return text_of(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError):
        return text


def text_of(node: ast.expr) -> str:
    """The text by which an expression is looked up: the same before and after a repair that detaches a part of it."""
    return spelled(node).replace(".detach()", "").replace(".item()", "")
