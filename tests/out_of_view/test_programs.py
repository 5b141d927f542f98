"""Programs of which a part is out of view, taken from libraries: what is not in view may make the code right."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

PROGRAMS = {path.stem: path.read_text() for path in sorted((Path(__file__).parent / "programs").glob("*.py"))}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_said_of_what_others_may_need(name: str) -> None:
    result = check(Source.from_text(PROGRAMS[name], "program.py"), CheckOptions())
    assert [(f.code, f.message) for f in result.findings] == []
    assert result.problems == ()


def test_a_loss_that_another_file_trains_with_is_left_alone(tmp_path: Path) -> None:
    loss = PROGRAMS["loss_of_a_batch_that_is_evaluated"]
    made, evaluated = loss.split("\n\ndef evaluate")
    (tmp_path / "losses.py").write_text(made + "\n")
    text = f"from torch import nn\n\nfrom losses import words_loss\n\n\ndef evaluate{evaluated}"
    (tmp_path / "evaluation.py").write_text(text)
    command = [sys.executable, "-m", "autodetach", "check", "--no-cache", "."]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "")


@pytest.mark.parametrize(
    "given", ["x", "x.float()", "torch.tensor(x)", "self.options[0]", "Batch(x)", "self.memory.sample()", "list(x)"]
)
def test_who_is_given_data_need_not_retain_the_graph(given: str) -> None:
    text = PROGRAMS["state_that_a_caller_has_encoded"].replace("self.encoder(x)", given)
    (finding,) = check(Source.from_text(text, "program.py"), CheckOptions()).findings
    assert finding.code == "AD103"


TURNED_ON = PROGRAMS["gradients_that_a_caller_has_turned_off"]


@pytest.mark.parametrize("first", ["", "torch.set_grad_enabled(True)", "torch.set_grad_enabled(False)"])
def test_who_turns_gradients_on_at_once_may_be_entered_with_them(first: str) -> None:
    head, tail = TURNED_ON.replace("        torch.set_grad_enabled(False)\n", "").split("        values =")
    late = "" if first.endswith("False)") else "        torch.set_grad_enabled(True)\n"
    text = f"{head}        {first or 'pass'}\n        values ={tail.replace(late, '')}"
    found = check(Source.from_text(text, "program.py"), CheckOptions()).findings
    assert [f.code for f in found] == ([] if first.endswith("False)") else ["AD301"])
