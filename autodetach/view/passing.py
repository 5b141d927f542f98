"""What statements read that is something else in every pass, though nothing in view sets it.

Training changes gradients, what an optimizer has, and the buffers of layers; a clock goes on, and files are written.
"""

from __future__ import annotations

import ast

from autodetach.machine.children import walk
from autodetach.machine.optimizers import is_optimizer
from autodetach.machine.program_values import Frame, Instance
from autodetach.machine.spelling import last_word
from autodetach.node_types import FUNCTIONS
from autodetach.view.called_with import is_called
from autodetach.view.imported import paths_of
from autodetach.view.program import Program
from autodetach.view.read_by import Reading

OF_TRAINING = frozenset("grad n_averaged param_groups".split())
"""Attributes that training changes, whatever has them."""
OF_LAYERS = frozenset("num_batches_tracked running_mean running_var".split())
"""Buffers that a layer changes when it is called; one in view that reads its own may be one that never does."""
GIVING = frozenset("buffers named_buffers state_dict".split())
"""Methods that give buffers, or what an optimizer has."""
CLOCKS = frozenset("datetime psutil secrets time timeit uuid".split())
"""Packages that tell of a moment."""
OF_MOMENTS = frozenset(
    """
    asctime cpu_percent ctime default_timer gmtime localtime monotonic monotonic_ns now perf_counter perf_counter_ns
    process_time process_time_ns strftime thread_time thread_time_ns time time_ns today token_bytes token_hex utcnow
    uuid1 uuid4 virtual_memory
    """.split()
)
OF_FILES = frozenset("glob io json numpy os pandas pickle torch yaml".split())
"""Packages that read files, which may be written between passes, or tell of the device."""
READING = frozenset(
    """
    exists fromfile genfromtxt get_rng_state getmtime getsize glob iglob isdir isfile listdir load loadtxt
    max_memory_allocated max_memory_reserved memory_allocated memory_reserved open read_csv read_pickle safe_load
    scandir urandom
    """.split()
)
ASKING = ("input", "open")
"""Functions of Python that ask what is outside of the program."""


def reads_what_passes(program: Program, reading: Reading, moved: set[ast.AST], frame: Frame | None) -> bool:
    """Whether statements, of which all syntax nodes are given, or the functions that they call, read such a thing."""
    names = {} if frame is None else frame.visible()
    if any(is_optimizer(names.get(name)) for name in reading.names):
        return True
    owners = [value for value in names.values() if isinstance(value, Instance)]
    if any(is_optimizer(this.attrs.get(name)) for this in owners for name in reading.attributes & this.attrs.keys()):
        return True
    inside = {n for function in reading.functions for n in walk(function)}
    return any(_passes(program, node) for node in moved | inside)


def _passes(program: Program, node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        is_read = isinstance(node.ctx, ast.Load) and not is_called(program, node)
        return is_read and _is_changed_by_training(program, node, node.attr)
    if not isinstance(node, ast.Call):
        return False
    name = last_word(node.func)
    if name == "getattr" and len(node.args) > 1 and isinstance(text := node.args[1], ast.Constant):
        return _is_changed_by_training(program, node, str(text.value))
    if isinstance(node.func, ast.Attribute) and name in GIVING:
        return True
    if isinstance(node.func, ast.Name) and name in ASKING:
        return True
    return any(_tells_anew(path) for path in paths_of(program, node.func))


def _is_changed_by_training(program: Program, node: ast.Attribute | ast.Call, name: str) -> bool:
    owner = node.value if isinstance(node, ast.Attribute) else node.args[0]
    if name in OF_LAYERS:
        is_own = isinstance(owner, ast.Name) and owner.id == "self"
        return not (is_own and isinstance(program.scope(node), FUNCTIONS))
    return name in OF_TRAINING


def _tells_anew(path: str) -> bool:
    package, name = path.partition(".")[0], path.rpartition(".")[2]
    return (package in CLOCKS and name in OF_MOMENTS) or (package in OF_FILES and name in READING)
