"""Any bytes as a source file: check, repair, comments, a baseline and every format of a report."""

from __future__ import annotations

from pathlib import Path

from autodetach.adoption.baseline import Scopes
from autodetach.commands.checking import check, fix
from autodetach.commands.request import Request
from autodetach.comments.add_ignore import NotSilenced, ignoring
from autodetach.report import OutputFormat
from autodetach.settings.config import Overrides

from ..command import fair, folder, inside, run
from ..promises import kept

ROOT = Path(__file__).parent.parent.parent.parent
A_RULE = 4


def _seeds() -> tuple[bytes, ...]:
    """The shortest programs of each rule."""
    folders = (sorted(f.glob("*.before.py"), key=lambda p: p.stat().st_size) for f in sorted(ROOT.glob("fixtures/*")))
    return tuple(path.read_bytes() for files in folders for path in files[:A_RULE])


SEEDS = _seeds()
WORDS = tuple(
    b"""
    loss.backward() retain_graph=True .detach() .item() torch.no_grad(): with for while if else: try: except:
    finally: async await lambda: yield return break continue pass global nonlocal del raise assert import from as
    match case class def f(x): self . = := += -= * ** @ , ; : ( ) [ ] { } \\ # autodetach: ignore[AD101] # noqa:
    AD302 # type: ignore requires_grad=True torch.zeros(3) nn.Linear(2,2) optimizer.step() optimizer.zero_grad()
    total losses.append(loss) state f"{loss}" f"{loss!r:>{width}}" rb"" '''x''' 0 1j ... None True not in is h =
    h.detach() loss.data[0] .grad
    """.split()
)


def one(raw: bytes) -> None:
    """Raises where a promise is broken."""
    place = folder() / "source"
    place.mkdir(exist_ok=True)
    verdict = kept(str(place / "fuzz.py"), raw, formats=tuple(OutputFormat))
    assert not verdict.wrong, "\n".join(verdict.wrong)
    source = verdict.outcome.source
    if source is not None and verdict.outcome.findings:
        scopes = Scopes(source)
        for finding in verdict.outcome.findings:
            scopes.entry("fuzz.py", finding.code, finding.span)
        try:
            edits = ignoring(source, [f for f in verdict.outcome.findings if f.code != "AD901"], "a reason")
        except NotSilenced:
            edits = ()
        silenced = kept(str(place / "fuzz.py"), source.stored_with(edits)) if edits else verdict
        assert not silenced.wrong, "\n".join(silenced.wrong)
    if len(raw) % 8 == 0:
        as_a_program(raw, place)


def as_a_program(raw: bytes, place: Path) -> None:
    """The same by way of the command line: what comes in is given back, or repaired."""
    with inside(place):
        request = Request(paths=("-",), stdin_filename="fuzz.py", overrides=Overrides(unsafe_fixes=True))
        looked, given = fair(run(lambda: check(request), raw)), fair(run(lambda: fix(request), raw))
        assert (looked.code == 2) == (given.code == 2), (looked, given)
