"""What keeps no graph of what it is given, known by name: calls that only report, and libraries without autograd."""

from __future__ import annotations

import ast

from autodetach.machine.spelling import last_word

REPORTS = frozenset(
    """
    print pprint info debug warning warn error critical exception log write writelines flush set_postfix set_description
    set_postfix_str add_scalar add_scalars add_histogram add_image add_text log_metric log_metrics log_scalar plot
    scatter show savefig figure legend title xlabel ylabel subplot grid close echo
    """.split()
)
"""Names of calls that only report: they keep nothing of what they are given."""

QUIET_MODULES = frozenset(
    """
    numpy np math random time os sys re json pickle argparse pathlib shutil glob csv datetime string copyreg hashlib
    matplotlib sklearn pandas scipy PIL cv2 tqdm yaml typing collections itertools functools operator contextlib
    dataclasses subprocess logging warnings inspect platform gc psutil tensorboardX wandb abc enum types uuid tempfile
    """.split()
)
"""Libraries that neither build autograd graph nor keep tensors that have some."""

COMPUTING = frozenset({"numpy", "np", "math", "cmath", "scipy"})
"""Those of them whose `log` is a logarithm."""


def is_report(statement: ast.stmt) -> bool:
    """`print(...)`, `log.info(...)`, `writer.add_scalar(...)`: calls for their output only."""
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return last_word(statement.value.func) in REPORTS


def matters(node: ast.If) -> bool:
    """Whether a branch does anything but print: only then is the other way worth a path of its own."""
    for body in (node.body, node.orelse):
        for statement in body:
            if isinstance(statement, ast.If):
                if matters(statement):
                    return True
            elif not (isinstance(statement, ast.Pass) or is_report(statement)):
                return True
    return False
