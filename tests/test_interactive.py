"""`fix -i`: what is asked, what an answer does, and that nothing is written before it; once in a real terminal."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autodetach import interactive
from autodetach.beside import with_beside
from autodetach.checks import CheckOptions
from autodetach.disk.files import FoundFile
from autodetach.interactive import HELP, Walk
from autodetach.report import Located
from autodetach.settle import Settled
from autodetach.task import Task

PROGRAM = """\
import torch

model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0
losses = []
for x in torch.randn(100, 4, 3):
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss
    losses.append(loss)
print(f"{total / 100:.3f}", sum(l.item() for l in losses))
"""
SUMMED = PROGRAM.replace("total += loss", "total += loss.item()")


class Person:
    """Answers in order, and remembers what was asked and shown; at the end there is no more input."""

    def __init__(self, *answers: str) -> None:
        self._answers: Iterator[str] = iter(answers)
        self.asked: list[str] = []
        self.shown: list[str] = []

    def walk(self, *paths: Path) -> Settled:
        tasks = [Task(FoundFile(str(path), path.name), CheckOptions(), unsafe=False) for path in paths]
        return Walk(tasks, self._ask, self.shown.append, lambda one: told(one)).go()

    def _ask(self, question: str) -> str | None:
        self.asked.append(question)
        return next(self._answers, None)


def told(one: Located) -> str:
    return f"{one.finding.code}: {one.finding.fix.message if one.finding.fix else 'nothing'}\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return path


def result(settled: Settled) -> str:
    return settled.changes[0].source.text if settled.changes else PROGRAM


def test_yes_and_no(file: Path) -> None:
    person = Person("y", "n")
    settled = person.walk(file)
    assert result(settled) == SUMMED
    assert [f.code for f in settled.outcomes[0].applied] == ["AD101"]
    assert [f.code for f in settled.outcomes[0].findings] == ["AD102"]
    assert person.asked[0] == "Apply this fix? [y]es, [n]o, [a]lternative (1 of 2), [i]gnore, [q]uit, [?]: "
    assert len(person.asked) == 2
    assert file.read_text() == PROGRAM


def test_another_repair(file: Path) -> None:
    person = Person("a", "y", "q")
    assert result(person.walk(file)) == PROGRAM.replace("total += loss", "total += loss.detach()")
    assert "(2 of 2)" in person.asked[1]


def test_alternatives_go_round(file: Path) -> None:
    assert result(Person("a", "a", "y", "q").walk(file)) == SUMMED


def test_silenced(file: Path) -> None:
    settled = Person("i", "n").walk(file)
    assert "    total += loss  # autodetach: ignore[AD101]\n" in result(settled)
    assert [f.code for f in settled.outcomes[0].findings] == ["AD102"]


TWINS = """\
import torch


def first(model, data, optimizer):
    losses = []
    for x in data:
        loss = model(x).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    print(len(losses))
"""
TWINS += TWINS.partition("torch\n")[2].replace("first", "second")


@pytest.mark.parametrize("answers", ["nn", "yn", "ny", "yy", "in", "ni"])
def test_twins_are_asked_about_one_by_one(file: Path, answers: str) -> None:
    """The same line in two functions."""
    file.write_text(TWINS)
    person = Person(*answers)
    settled = person.walk(file)
    assert len(person.asked) == 2
    made = [line.strip() for line in (settled.changes[0].source.text if settled.changes else TWINS).splitlines()]
    lines = {"n": "append(loss)", "y": "append(loss.item())", "i": "append(loss)  # autodetach: ignore[AD102]"}
    assert [line for line in made if "append" in line] == [f"losses.{lines[answer]}" for answer in answers]
    assert len(settled.outcomes[0].findings) == answers.count("n")


def test_a_program_is_looked_at_again_only_if_it_has_changed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Task] = []

    def noting(task: Task) -> Settled:
        looks.append(task)
        return with_beside(task)

    monkeypatch.setattr(interactive, "with_beside", noting)
    file.write_text(TWINS)
    Person("n", "n").walk(file)
    assert len(looks) == 1
    Person("y", "n").walk(file)
    assert len(looks) == 3


def test_repairs_are_right_for_programs_that_import_the_file(file: Path) -> None:
    (file.parent / "pyproject.toml").write_text("")
    file.write_text(PROGRAM)
    plots = f"import torch\nfrom {file.stem} import losses\n\nprint(torch.stack(losses))\n"
    file.with_name("plots.py").write_text(plots)
    assert result(Person("n", "y").walk(file)) == PROGRAM.replace("append(loss)", "append(loss.detach())")


def test_quitting_keeps_what_was_accepted(file: Path) -> None:
    person = Person("y", "q")
    other = file.with_name("zother.py")
    other.write_text(PROGRAM)
    assert result(person.walk(file, other)) == SUMMED
    assert len(person.asked) == 2


def test_the_end_of_the_input_quits(file: Path) -> None:
    assert Person().walk(file).changes == ()


def test_help_asks_again(file: Path) -> None:
    person = Person("?", "x", "", "n", "n")
    assert person.walk(file).changes == ()
    assert person.shown.count(HELP) == 3


def test_a_file_that_was_not_given_is_not_edited(tmp_path: Path) -> None:
    before = Path(__file__).parent.parent / "fixtures" / "projects" / "src_layout" / "before"
    shutil.copytree(before, tmp_path / "it")
    person = Person("y", "i", "n")
    assert person.walk(tmp_path / "it" / "train.py").changes == ()
    assert person.asked[0].startswith("No repair is offered.")
    assert any("was not given" in text for text in person.shown)


def test_without_a_terminal_it_says_so(file: Path) -> None:
    command = [sys.executable, "-m", "autodetach", "fix", "-i", str(file)]
    ran = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("error: --interactive asks questions, and this is no terminal")


@pytest.mark.skipif(not shutil.which("tmux") and not os.environ.get("CI"), reason="needs tmux")
def test_in_a_real_terminal(file: Path, tmp_path: Path) -> None:
    server = ["tmux", "-L", f"autodetach-{os.getpid()}", "-f", os.devnull]
    command = f"'{sys.executable}' -m autodetach fix -i train.py; echo exit code $?; sleep 60"
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TMUX")}
    start = [*server, "new-session", "-d", "-x", "150", "-y", "60", "-s", "it", command]
    subprocess.run(start, cwd=tmp_path, check=True, env=environment)

    def screen() -> str:
        capture = [*server, "capture-pane", "-p", "-t", "it"]
        return subprocess.run(capture, capture_output=True, text=True, check=True).stdout

    def wait_for(text: str) -> str:
        deadline = time.monotonic() + 120
        while text not in screen():
            assert time.monotonic() < deadline, screen()
            time.sleep(0.1)
        return screen()

    def answer(letter: str) -> None:
        subprocess.run([*server, "send-keys", "-t", "it", letter, "Enter"], check=True)

    try:
        assert "12 -     total += loss" in wait_for("[a]lternative (1 of 2)")
        assert file.read_text() == PROGRAM
        answer("y")
        assert "store the" in wait_for("13 -     losses.append(loss)")
        assert file.read_text() == PROGRAM
        answer("q")
        assert "Found 2, fixed 1, 1 left." in wait_for("exit code 1")
        assert file.read_text() == SUMMED
    finally:
        subprocess.run([*server, "kill-server"], check=False)
