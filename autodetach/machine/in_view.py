"""Whether a file shows all that becomes of its tensors: what it imports is known, and nothing is decided elsewhere."""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.children import walk
from autodetach.machine.spelling import arguments_of, last_word

IN_VIEW = frozenset(
    """
    __future__ argparse collections copy csv dataclasses datetime enum functools gzip itertools json logging math
    matplotlib numpy operator os pathlib pickle random string struct sys time torch torchvision tqdm typing warnings
    """.split()
)
"""Modules that compute no gradient of what they are given, but for what the machine knows of PyTorch."""
OTHERWISE = frozenset(
    """
    set_grad_enabled nullcontext inference_mode ParameterList ParameterDict Muon detach_ retain_grad __setattr__ setattr
    defaults partial submit validation_step test_step predict_step
    """.split()
)
"""By what a tensor may become a leaf, or lose its history, of which a file does not tell whether it does."""
OWN_KINDS = frozenset({"Parameter", "Tensor", "no_grad", "enable_grad", "Optimizer"})


@kept
def tells_all_of_leaves(tree: ast.AST) -> bool:
    """Whether what is a leaf in a file, and what has history, is so whoever runs it."""
    return not any(_is_open(node) for node in walk(tree))


def is_import_in_view(node: ast.AST) -> bool:
    """Whether a node imports nothing but known modules, or is no import."""
    if isinstance(node, ast.Import):
        return all(alias.name.split(".")[0] in IN_VIEW for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.level == 0 and (node.module or "").partition(".")[0] in IN_VIEW
    return True


def _is_open(node: ast.AST) -> bool:
    match node:
        case ast.Name() | ast.Attribute():
            return last_word(node) in OTHERWISE
        case ast.ClassDef():
            return any(last_word(base) in OWN_KINDS for base in node.bases)
        case ast.Call(func=ast.Attribute(attr="requires_grad_")):
            return not all(isinstance(value, ast.Constant) for value in arguments_of(node))
        case ast.Assign():
            flags = (t for t in node.targets if isinstance(t, ast.Attribute) and t.attr == "requires_grad")
            return any(flags) and not isinstance(node.value, ast.Constant)
        case ast.alias():
            return node.name.rpartition(".")[2] in OTHERWISE
    return not is_import_in_view(node)
