"""Any bytes as a baseline."""

from __future__ import annotations

from autodetach.commands.checking import check, fix
from autodetach.commands.request import Request
from autodetach.settings.config import Overrides

from ..command import fair, folder, inside, run

PROGRAM = b"""import torch
def f(model, loader):
    total = 0
    for x in loader:
        loss = model(x).sum()
        loss.backward()
        total += loss
    print(total)
"""
ENTRY = b'{"path": "a.py", "code": "AD101", "scope": "f", "text": "total += loss", "count": 1}'
SEEDS = (
    b'{"version": 1, "findings": [%s]}\n' % ENTRY,
    b'{\n  "version": 1,\n  "findings": [\n    %s,\n %s\n  ]\n}\n' % (ENTRY, ENTRY.replace(b"a.py", b"../b.py")),
    b'{"version": 2, "findings": []}',
)
WORDS = tuple(
    rb"""
    { } [ ] , : "version" "findings" "path" "code" "scope" "text" "count" 1 2 -1 1.5 1e999 NaN null true "a.py"
    "/" "" ".." "\u0000" "\ud800" "\n" "../../../etc/passwd" "AD101" "AD302" "f" "total += loss" [[[[[[[[ "\u2028"
    "\u001b[31m"
    """.split()
)


def one(raw: bytes) -> None:
    """Raises where a promise is broken."""
    place = folder() / "baselines"
    place.mkdir(exist_ok=True)
    (place / "known.json").write_bytes(raw)
    (place / "a.py").write_bytes(PROGRAM)
    with inside(place):
        over = Overrides(baseline="known.json", unsafe_fixes=True)
        fair(run(lambda: check(Request(paths=("a.py",), overrides=over, no_cache=True))))
        repaired = fair(run(lambda: fix(Request(paths=("-",), overrides=over)), PROGRAM))
        assert repaired.out.startswith("import torch") or repaired.code == 2, repaired
