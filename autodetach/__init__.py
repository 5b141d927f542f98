"""autodetach: find, explain and repair autograd graphs that live longer or shorter than their author thinks.

For programs: `watch()` observes PyTorch in a block of code; `Watch.diagnoses` are `Diagnosis` objects, frozen data
whose parts are `Kind`, `Step`, `Site` and `Binding`. Importing this package loads nothing else of it.
"""

TYPE_CHECKING = False  # as type checkers know it; importing `typing` takes longer than all of this module
if TYPE_CHECKING:
    from typing import Any

    from autodetach.doctor.diagnosis import Diagnosis, Kind, Step
    from autodetach.doctor.frames import Site
    from autodetach.doctor.holders import Binding
    from autodetach.doctor.watching import Watch

__version__ = "0.1.0"

__all__ = ["Binding", "Diagnosis", "Kind", "Site", "Step", "Watch", "load_ipython_extension", "watch"]

_HOMES = {
    "Binding": "holders",
    "Diagnosis": "diagnosis",
    "Kind": "diagnosis",
    "Site": "frames",
    "Step": "diagnosis",
    "Watch": "watching",
}


def watch(*, quiet: bool = False, trace: bool = False) -> "Watch":
    """Watch what PyTorch's autograd does in a `with` block or, as a decorator, in the calls of a function.

    ```python
    with autodetach.watch() as watched:
        train(model, loader)
    print(watched.diagnoses)
    ```

    Of an error of autograd: which name carries the old graph, the line that built it and the call that freed it.
    Without an error: which names hold more and more graph, and which `retain_graph=True` kept a graph for nothing. The
    report goes to standard error at the end of the block, unless it is `quiet`. `trace` looks at every pass and every
    operation, however much slower that is. PyTorch itself is not imported here.
    """
    from autodetach.doctor.watching import Watch

    return Watch(quiet=quiet, trace=trace)


def load_ipython_extension(shell: "Any") -> None:
    """What `%load_ext autodetach` calls: `%%autodetach` watches a cell, `%autodetach on` all that follow."""
    from autodetach.doctor.magic import load

    load(shell)


def __getattr__(name: str) -> "Any":
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.doctor.{home}"), name)
