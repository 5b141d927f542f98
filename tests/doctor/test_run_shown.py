"""What `autodetach run` shows besides the story: a line while it runs, a table, a plot."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autodetach.doctor.diagnosis import Diagnosis, Kind
from autodetach.doctor.frames import Site
from autodetach.doctor.growth import Growth, Total
from autodetach.doctor.holders import Binding
from autodetach.doctor.plot import Curve, PlotError, check, curves, draw
from autodetach.doctor.series import Look, Series
from autodetach.doctor.table import table

ROOT = Path(__file__).parent.parent.parent

LEAK = """import sys, time
import torch

pause = float(sys.argv[1])
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
losses = []
for i in range(40):
    optimizer.zero_grad()
    loss = model(torch.ones(8, 4)).exp().mean()
    loss.backward(retain_graph=True)
    optimizer.step()
    losses.append(loss)
    if i % 15 == 14:
        print("step", i)
    time.sleep(pause)
"""
REPAIRED = LEAK.replace("append(loss)", "append(loss.item())").replace("retain_graph=True", "")


def environment() -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "COLUMNS")}
    return {**ours, "PYTHONPATH": str(ROOT), "TERM": "xterm"}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(LEAK)
    return path


def run(script: Path, *options: str, pause: float = 0.0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autodetach", "run", *options, script.name, str(pause)]
    return subprocess.run(command, cwd=script.parent, capture_output=True, text=True, check=False, env=environment())


def at_terminal(script: Path, *options: str) -> str:
    """What a terminal of 60 columns gets."""
    pty = pytest.importorskip("pty", reason="needs a terminal")
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    command = [sys.executable, "-m", "autodetach", "run", *options, script.name, "0.1"]
    with subprocess.Popen(
        command, cwd=script.parent, stdout=theirs, stderr=theirs, stdin=theirs, env=environment()
    ) as process:
        os.close(theirs)
        got = b""
        while True:
            try:
                more = os.read(ours, 65536)
            except OSError:  # Linux, when the other end is closed
                break
            if not more:
                break
            got += more
    os.close(ours)
    assert process.returncode == 0, got.decode()
    return got.decode()


ERASE = "\r\x1b[2K"


def test_the_line_while_it_runs(script: Path) -> None:
    begun = time.monotonic()
    got = at_terminal(script)
    passed = time.monotonic() - begun
    lines = re.findall(r"autodetach: [\d,]+ (?:steps|differentiations), [^\r\x1b]*", got)
    assert 1 <= len(lines) <= passed + 1
    assert any(re.match(r"autodetach: \d+ steps, \d+ nodes of graph held, `losses`", line) for line in lines), lines
    assert all(len(line) < 60 for line in lines)
    # What is left when each line is erased: the program's own output, and the report.
    assert got.count(ERASE) > len(lines)
    left = re.sub(r"\r\x1b\[2K(autodetach: [\d,]+ (?:steps|differentiations), [^\r\x1b]*(?=\r\x1b\[2K))?", "", got)
    assert left.startswith("step 14\r\nstep 29\r\ntrain.py:13: growing graph: `losses`"), left
    assert "\x1b[2K" not in left


def test_a_terminal_obeys_nothing_in_a_patch(script: Path) -> None:
    script.write_text(LEAK.replace("append(loss)", "append(loss)  # \x1b]0;title"))
    got = at_terminal(script, "--diff", "--quiet")
    assert "-    losses.append(loss)  # \\x1b]0;title" in got
    assert "\x1b]0;title" not in got


def test_counts_are_told_as_people_say_them(script: Path) -> None:
    body = LEAK.replace("40", "1").replace(".backward(retain_graph=True)", ".backward()").partition("    if i")[0]
    script.write_text(body.replace("    losses.append(loss)\n", ""))
    assert run(script).stderr == "autodetach: 1 differentiation and 1 step observed: no fault seen\n"
    script.write_text("print(1)\n")
    nothing = "autodetach: the program has not imported PyTorch: there was nothing to observe\n"
    assert run(script).stderr == nothing
    script.write_text(LEAK)
    assert run(script, "--fix").stderr.endswith("autodetach: repaired 2 findings (2 safe) in 1 file\n")
    script.write_text(LEAK.replace("(retain_graph=True)", "()"))
    assert run(script, "--fix").stderr.endswith("autodetach: repaired 1 finding (1 safe) in 1 file\n")


def test_a_file_that_cannot_be_written_is_told_as_fix_does(script: Path) -> None:
    os.link(script, script.parent / "other.py")
    ran = run(script, "--fix")
    assert "\nautodetach: train.py: error: it has 2 names (hard links), " in ran.stderr
    assert "repaired" not in ran.stderr


def test_no_line_where_nobody_looks_or_wants_it(script: Path) -> None:
    ran = run(script, pause=0.1)
    assert "\r" not in ran.stderr and " steps, " not in ran.stderr
    assert ran.stdout == "step 14\nstep 29\n"
    assert ERASE not in at_terminal(script, "--quiet")


def test_the_table_of_a_run(script: Path) -> None:
    ran = run(script)
    (row,) = [line for line in ran.stderr.splitlines() if line.startswith("losses ")]
    holder, first, last, rate, amount, unit, place = row.split()
    assert (holder, place) == ("losses", "train.py:13")
    assert int(last) > int(first) > 0
    assert rate == "+4"
    # Each graph keeps the result of exp (8 floats of 4 bytes) and the input (8 times 4 floats) of its pass.
    passes = round((int(last) - 2) / 4)
    assert abs(float(amount) * {"bytes": 1, "KiB": 1024}[unit] - passes * (32 + 128)) < 200
    script.write_text(REPAIRED)
    assert "holder" not in run(script).stderr


def growth_of(path: str = "losses", rate: float = 4.0, *, file: str = "/x/train.py") -> Diagnosis:
    binding = Binding(path, path, file)
    return Diagnosis(Kind.GROWTH, "", Site(file, 12), binding, (), (), 1234, 5 * 1024 * 1024, 6, rate)


def test_a_table() -> None:
    rows = [growth_of(), growth_of("self.history['loss']", 2.5), Diagnosis(Kind.FREED, "", None)]
    assert table(rows, None) == [
        "holder                nodes at first  at last  per pass  saved tensors  filled at",
        "losses                             6     1234        +4        5.0 MiB  /x/train.py:12",
        "self.history['loss']               6     1234      +2.5        5.0 MiB  /x/train.py:12",
    ]
    assert table(rows[2:], 80) == []
    assert table([growth_of(rate=0.0)], None)[1] == (
        "losses               ?     1234         ?              ?  /x/train.py:12"
    )


@pytest.mark.parametrize("width", [75, 80, 100])
def test_a_table_fits(width: int) -> None:
    long = growth_of("trainer.callbacks[0].history['validation_loss']", file="/a/long/way/to/some/package/train.py")
    lines = table([long, growth_of()], width)
    assert max(map(len, lines)) <= width
    assert "n_loss']" in lines[1] and "ain.py:12" in lines[1] and "…" in lines[1]


# The plot.


def test_a_plot_of_a_leak_and_of_the_repaired_program(script: Path) -> None:
    plot = script.with_name("leak.svg")
    ran = run(script, "--plot", "leak.svg")
    assert ran.returncode == 0, ran.stderr
    drawn = plot.read_text()
    for text in ("losses", "a pass", "all names together", "optimizer steps", "nodes of graph", "train.py"):
        assert f"<!-- {text}" in drawn or f"{text} -->" in drawn, text
    assert "no saved tensors are held" not in drawn
    script.write_text(REPAIRED)
    ran = run(script, "--plot", "fine.png")
    assert script.with_name("fine.png").read_bytes().startswith(b"\x89PNG")
    assert "no fault seen" in ran.stderr
    assert "matplotlib" not in ran.stderr


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x.pdf", "has to end in .png or .svg"),
        ("x", "has to end in .png or .svg"),
        ("no/x.png", "there is no folder no"),
    ],
)
def test_a_plot_that_cannot_be(script: Path, name: str, words: str) -> None:
    ran = run(script, "--plot", name)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == f"error: --plot {name}: {ran.stderr.partition(': ')[2].partition(': ')[2]}"
    assert words in ran.stderr and ran.stderr.count("\n") == 1


def test_without_matplotlib(script: Path) -> None:
    code = "import sys; sys.modules['matplotlib'] = None; from autodetach.cli import main; main()"
    command = [sys.executable, "-c", code, "run", "--plot", "x.png", script.name, "0"]
    ran = subprocess.run(command, cwd=script.parent, capture_output=True, text=True, check=False, env=environment())
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        'error: --plot needs matplotlib, which is not installed here: pip install "autodetach[plot]"\n'
    )


def observed() -> Growth:
    growth = Growth()
    growth.totals = [Total(step, step, step, 10 * step) for step in range(1, 8)]
    binding = Binding("_kept$1", "_kept$1", "/x.py", "train")
    looks = [Look(number, 10 * number, 0, passes=number, bytes=number) for number in (3, 4)]
    series = Series(binding, [*looks, Look(5, 0), Look(7, 30, 0, bytes=None)])
    growth.series.append(series)
    return growth


def test_between_two_holdings_there_is_nothing() -> None:
    assert curves(observed()) == [
        Curve(r"`_kept\$1 in train`", False, (2, 3, 4, 5, 6, 7), (0, 30, 40, 0, 0, 30), (0, 3, 4, None, 0, None))
    ]


def test_names_and_nothing_at_all(tmp_path: Path) -> None:
    draw(str(tmp_path / "a.svg"), observed(), "a_$b$.py")
    assert "_kept$1 in train" in (tmp_path / "a.svg").read_text().replace("\\", "")
    draw(str(tmp_path / "b.svg"), Growth(), "b.py")
    assert "nothing was observed" in (tmp_path / "b.svg").read_text()
    (tmp_path / "c.svg").mkdir()
    with pytest.raises(PlotError, match="cannot be written"):
        draw(str(tmp_path / "c.svg"), observed(), "c.py")
    check(str(tmp_path / "d.svg"))
