"""How a line of a program is named to a person."""

from __future__ import annotations

import os
from collections.abc import Callable

from autodetach.console import printable
from autodetach.doctor.frames import Site

Label = Callable[[str], str | None]
"""From what stands for a path to the name that people know it by, None where it is not known."""

CELLS = "<cells>"
"""Stands for the file of the variables that all cells of a notebook share."""

_labels: list[Label] = []


def name_cells(label: Label) -> None:
    """Use this label for what is no file, such as the cells of a notebook."""
    if label not in _labels:
        _labels.append(label)


def cell_name(path: str) -> str | None:
    """The name of a cell, None for what is none."""
    return next((name for label in _labels if (name := label(path)) is not None), None)


def place(site: Site) -> str:
    """The file, relative to the current folder where it lies below it, and the line: `train.py:12`; or the cell."""
    name = cell_name(site.path)
    if name is not None:
        return printable(f"{name}, line {site.line}")
    path = site.path
    if os.path.isabs(path):
        relative = os.path.relpath(path)
        path = path if relative.startswith("..") else relative
    return printable(f"{path}:{site.line}")
