"""Any bytes as the log that `explain` reads."""

from __future__ import annotations

from autodetach.commands.explaining import explain
from autodetach.commands.request import Request
from autodetach.report import OutputFormat
from autodetach.settings.config import Overrides

from ..command import fair, folder, inside, run

PROGRAM = b"""import torch
h = torch.zeros(1)
for x in loader:
    out, h = rnn(x, h)
    loss = out.sum()
    loss.backward()
    optimizer.step()
"""
ERROR = b"RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors after they"
SEEDS = (
    b'Traceback (most recent call last):\n  File "a.py", line 6, in <module>\n    loss.backward()\n'
    b'  File "/usr/lib/python3.11/site-packages/torch/_tensor.py", line 5, in backward\n    torch.autograd.backward(\n'
    + ERROR,
    b"\x1b[31m---------------------------------------------------------------------------\x1b[39m\nRuntimeError"
    b"         Traceback (most recent call last)\nCell In[3], line 6\n      5 loss = out\n----> 6 loss.backward()\n"
    + ERROR,
    b"    def test():\n>       loss.backward()\n\na.py:6:\n_ _ _ _\nE       " + ERROR + b"\n\na.py:6: RuntimeError\n",
    "╭─ Traceback (most recent call last) ─╮\n│ /x/a.py:6 in <module>  │\n│ ❱ 6 loss.backward()  │\n╰────╯\n".encode()
    + ERROR,
    b'2024-01-01 00:00:00 ERROR [rank0]: Traceback (most recent call last):\n[rank0]:   File "a.py", line 6\n[rank0]: '
    + ERROR,
    b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB\n",
    b'  File "a.py", line 6, in f\n    x.numpy()\nRuntimeError: Can\'t call numpy() on Tensor that requires grad.\n',
)
WORDS = tuple(
    rb"""
    File "a.py" "../a.py" "<stdin>" "<ipython-input-3-abc>" line 6 99999999999999999999 0 -1 , in <module>
    Traceback (most recent call last): RuntimeError: AttributeError: IndexError: invalid index of a 0-dim tensor
    element 0 of tensors does not require grad and a leaf Variable that requires grad is being used in an in-place
    operation. 'NoneType' object has no attribute .grad ----> ~~~~^^^^ In [3] Cell In[3], E > [rank0]: | ^[[0m
    CUDA out of memory \xff\xfe During handling of the above exception, another exception occurred: modified by an
    inplace operation: detect_anomaly() Previous calculation was induced by "\x00" /dev/stdin a.ipynb
    """.split()
)


def one(raw: bytes) -> None:
    """Raises where a promise is broken."""
    place = folder() / "logs"
    place.mkdir(exist_ok=True)
    (place / "a.py").write_bytes(PROGRAM)
    (place / "b.py").write_bytes(b"x = 1\n")
    with inside(place):
        fair(run(lambda: explain("-", Request()), raw))
        fair(run(lambda: explain("-", Request(output_format=OutputFormat.JSON)), raw))
        over = Overrides(unsafe_fixes=True)
        fair(run(lambda: explain("-", Request(overrides=over), only_diff=True), raw))
