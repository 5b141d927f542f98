"""Any bytes as a notebook."""

from __future__ import annotations

import json
from pathlib import Path

from autodetach.report import OutputFormat

from ..command import folder
from ..promises import kept

ROOT = Path(__file__).parent.parent.parent.parent


def _notebook(*cells: str) -> bytes:
    made: list[dict[str, object]] = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": cell.splitlines(True)}
        for cell in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1).encode()


SEEDS = (
    *(p.read_bytes() for p in sorted(ROOT.glob("fixtures/notebooks/*/*.ipynb")) if p.stat().st_size < 20_000),
    _notebook(
        "import torch\ntotal = 0", "for x in y:\n    loss = torch.nn.Linear(1, 1)(x)\n    total += loss", "print(total)"
    ),
    b'{"cells": [], "nbformat": 4, "nbformat_minor": 0, "metadata": {}}',
)
WORDS = tuple(
    rb"""
    { } [ ] , : "cells" "source" "cell_type" "code" "markdown" "raw" "metadata" "tags" "raises-exception"
    "outputs" "nbformat" 4 3 5 "nbformat_minor" "worksheets" "kernelspec" "language" "python" "language_info"
    "name" "julia" null true 1e999 -0 "" "\n" "\u2028" "\ud800" "\ud83d\ude00" "\r\n" "%time\n" "%%bash\n" "!ls\n"
    "?x\n" "total\u0020+=\u0020loss\n" "\t" "\\" "\"" "%%capture\n" "get_ipython()\n" "# noqa: AD101\n" [[[[[[[[
    0.1 "\/" NaN Infinity
    """.split()
)


def one(raw: bytes) -> None:
    """Raises where a promise is broken."""
    verdict = kept(str(folder() / "fuzz.ipynb"), raw, formats=tuple(OutputFormat))
    assert not verdict.wrong, "\n".join(verdict.wrong)
