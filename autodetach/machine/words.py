"""The words at which history begins, or a graph is walked, as they stand in a program.

Apart from all that knows what they mean, so that what only looks for words loads nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autodetach.machine.children import children_of, nodes_in
from autodetach.machine.spelling import last_word

EVIDENCE = frozenset(
    """
    parameters named_parameters train eval state_dict load_state_dict modules named_modules children named_children
    """.split()
)
"""What only modules are asked for: an object that is asked is one."""
DIFFERENTIATIONS = frozenset({"backward", "manual_backward", "training_step"})
BY_STRING = frozenset({"getattr", "setattr", "methodcaller", "attrgetter"})
TESTS = frozenset({"isinstance", "issubclass"})
IN_FRONT = frozenset({"nn", "autograd"})
"""Modules of PyTorch that tell nothing in front of a dot: of `torch.nn.functional` the last word counts."""
CALLED = EVIDENCE | {"grad"}
"""Attributes that tell nothing before they are called: `signature.parameters` is a mapping, `p.grad` a tensor."""
_OF_PYTHON = frozenset({("sys", "modules"), ("inspect", "Parameter")})
_TELLING_NOTHING = IN_FRONT | CALLED
_LOOKS = frozenset({
    ast.Subscript, ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign, ast.FormattedValue, ast.comprehension, ast.For,
    ast.AsyncFor, ast.If, ast.While, ast.Assert,
})  # fmt: skip
"""What looks at the values of expressions that stand in it, and neither calls them nor hands them on."""
_LOOKING = frozenset("len list tuple set dict sorted reversed enumerate zip iter any all bool str repr".split())
"""Built-in functions that look at what they are given and call nothing of it."""


def looked_up(call: ast.Call) -> str | None:
    """The attribute that `getattr` or `setattr` is asked for, if it is written there."""
    if len(call.args) < 2 or not isinstance(call.func, ast.Name) or call.func.id not in ("getattr", "setattr"):
        return None
    asked = call.args[1]
    return asked.value if isinstance(asked, ast.Constant) and isinstance(asked.value, str) else None


def is_copied(value: ast.expr) -> bool:
    """Whether `requires_grad` is to be as that of another tensor is: that begins no history where nothing else does."""
    return isinstance(value, ast.Attribute) and value.attr == "requires_grad"


def is_of_python(node: ast.Attribute) -> bool:
    """Whether an attribute that may begin history by its name belongs to a module of Python: `sys.modules`."""
    return isinstance(node.value, ast.Name) and (node.value.id, node.attr) in _OF_PYTHON


def is_class_of_nn(origin: Sequence[str], name: str) -> bool:
    """Whether a name that is imported from a file, of this dotted name in parts, may be a class of `torch.nn`.

    The functions there, as `softplus` and `_pair`, begin no history, nor does what `torch.nn.functional` has.
    """
    return "nn" in origin and "functional" not in origin and name.lstrip("_")[:1].isupper()


def words_in(node: ast.AST) -> Iterator[str]:
    """The names, attributes and strings of an expression."""
    for inner in nodes_in(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Attribute):
            yield inner.attr
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value


def reached(node: ast.AST, between: list[str] | None = None) -> list[ast.AST]:
    """The children of a node that are expressions, statements or their parts, and are evaluated or run.

    Of an attribute among `CALLED` that is only looked at, that is what stands in front of it; `between` gets the rest.
    """
    kind, found = type(node), children_of(node)
    if kind in _LOOKS or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _LOOKING):
        for place, child in enumerate(found):
            if isinstance(child, ast.Attribute) and child.attr in CALLED:
                if between is not None:
                    between.append(child.attr)
                found[place] = owner_of(child, between)
    return found


def owner_of(node: ast.Attribute, between: list[str] | None = None) -> ast.expr:
    """What stands in front of an attribute, without what tells nothing there, which `between` gets."""
    owner = node.value
    while isinstance(owner, ast.Attribute) and owner.attr in _TELLING_NOTHING:
        if between is not None:
            between.append(owner.attr)
        owner = owner.value
    return owner


def grad_of(node: ast.Attribute) -> str:
    """The last word in front of a `grad`: it differentiates if that is a module, and is a tensor otherwise."""
    return last_word(node.value)


def names_loader(node: ast.AST) -> bool:
    """Whether an expression says that it goes through a loader: `enumerate(self.val_loader)`."""
    return any(word.lower().endswith("loader") for word in words_in(node))


CRITICS = frozenset({"critic", "q", "qf", "qs"})


def twin_critics(names: Sequence[str]) -> list[int]:
    """The places of names that differ by a number alone, and say that they are estimates of critics: `qf1, qf2`.

    Clipped double Q-learning takes the lesser of two networks that learn apart: https://arxiv.org/abs/1802.09477
    """
    stems = ["".join(c for c in name if not c.isdigit()).lower() for name in names]
    alike = [i for i, stem in enumerate(stems) if not CRITICS.isdisjoint(stem.split("_")) and stems.count(stem) > 1]
    return alike if len({names[i] for i in alike}) == len(alike) else []


def names_penalty(name: str) -> bool:
    """Whether a function says that it computes a penalty: `calc_gradient_penalty(critic, real, fake)`."""
    return "penalty" in name.lower()


OLD = frozenset("old prev previous behavior behaviour ref reference frozen target teacher sampling rollout".split())


def names_old(name: str) -> bool:
    """Whether a name says that something is compared with, and not trained: `old_log_probs`, `logp_old`."""
    return not OLD.isdisjoint(name.lower().split("_"))
