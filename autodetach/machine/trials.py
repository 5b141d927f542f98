"""Functions that pytest or unittest calls: they try out what others train with, and their graph dies with them.

By the conventions of both, see https://docs.pytest.org/en/stable/explanation/goodpractices.html#test-discovery.
"""

from __future__ import annotations

import ast

from autodetach.machine.arguments import parameter_names
from autodetach.machine.graph import Site, trail_of
from autodetach.machine.growth import Growth, trains
from autodetach.machine.module_tree import is_module
from autodetach.machine.program_values import Frame, Function
from autodetach.machine.run import Analysis

LIBRARIES = frozenset({"pytest", "unittest"})


def is_tried_only(analysis: Analysis, growth: Growth) -> bool:
    """Whether a test has the loop, which trains nothing: of what it calls, its file or others, it wants the values.

    So it is where a program that differentiates nothing takes a network of another file through a few steps, and where
    the loop stands in an imported file: others may train with what a test only asks for its values.
    """
    frame = growth.activation.frame
    if growth.dead or not isinstance(frame, Frame):
        return False
    if frame.function is None:
        is_in_network = any(isinstance(f, Frame) and is_module(f.this) for _, f in trail_of(growth.node))
        is_short = growth.activation.bounded and not growth.run.machine.differentiations
        return is_short and is_in_network and imported_home(analysis, growth.node.site) is not None
    frames = [frame]
    if frame.top is not growth.run.machine.globals:
        frames += (f for _, f in trail_of(growth.node) if isinstance(f, Frame))
    is_test = any(f.function is not None and _is_test(f.function, f) for f in frames)
    return is_test and not trains(growth.run, growth.activation)


def imported_home(analysis: Analysis, site: Site) -> ast.Module | None:
    """The file of a place, if it is one that the analysed file imports."""
    modules = analysis.project.modules if analysis.project is not None else []
    home = next((m for m in modules if m.first < site.line <= m.last), None)
    return None if home is None or home.tree is analysis.tree else home.tree


def _is_test(function: Function, frame: Frame) -> bool:
    """Whether it is called as tests are; `test_model(model, loader)` of a file that is no test evaluates a network."""
    node, module = function.node, frame.top.module
    if isinstance(node, ast.Lambda) or not node.name.startswith("test_") or module is None:
        return False
    if any(_is_of_tests(statement) for statement in module.tree.body):
        return True
    file = module.path.replace("\\", "/").rpartition("/")[2].removesuffix(".py")
    if parameter_names(node.args) - {"self"}:
        return False
    return file.startswith("test_") or file.endswith("_test") or any(isinstance(n, ast.Assert) for n in ast.walk(node))


def _is_of_tests(statement: ast.stmt) -> bool:
    """Whether it imports pytest, or unittest."""
    if isinstance(statement, ast.Import):
        return any(alias.name.partition(".")[0] in LIBRARIES for alias in statement.names)
    return isinstance(statement, ast.ImportFrom) and (statement.module or "").partition(".")[0] in LIBRARIES
