"""Any bytes, for a moment each; and every input that ever broke a promise."""

from __future__ import annotations

import importlib
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autodetach.adoption.changed import _lines
from autodetach.commands.checking import check
from autodetach.commands.keeping import clean
from autodetach.commands.request import Request
from autodetach.commands.showing import config
from autodetach.source import Source
from autodetach.tracebacks.explain import read_log

from .command import fair, inside, run
from .fuzz import TARGETS
from .mutations import mutated
from .promises import kept
from .targets import messages

ROOT = Path(__file__).parent.parent.parent
INPUTS = {"sources": 12, "notebooks": 40, "settings": 40, "baselines": 40, "caches": 15, "logs": 40, "patches": 400}
INPUTS |= {"texts": 400, "messages": 12}


@pytest.mark.parametrize("name", TARGETS)
def test_changed_inputs(name: str) -> None:
    target = importlib.import_module(f".targets.{name}", __package__)
    seeds, words, random = tuple(target.SEEDS), tuple(target.WORDS), Random(name)
    for raw in seeds[:4]:
        target.one(raw)
    try:
        for _ in range(INPUTS[name]):
            target.one(mutated(random.choice(seeds), random, seeds, words))
    finally:
        messages.close()


@pytest.mark.parametrize("name", [name for name in TARGETS if name not in ("caches", "messages", "sources")])
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(raw=st.binary(max_size=200))
def test_any_bytes(name: str, raw: bytes) -> None:
    importlib.import_module(f".targets.{name}", __package__).one(raw)


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=200), st.sampled_from(["", "import torch\nloss.backward()\n"]))
def test_any_text(text: str, beginning: str) -> None:
    verdict = kept("fuzz.py", (beginning + text).encode())
    assert not verdict.wrong


def test_the_command_hunts() -> None:
    command = [sys.executable, "-m", "tests.trust.fuzz", "patches", "--seconds", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "patches: " in done.stdout
    assert "0 broken promises" in done.stdout


# ---- what was found


def test_a_name_in_a_patch_with_a_code_that_is_no_byte() -> None:
    assert list(_lines(b'+++ "b/\\777.py"\n@@ -1 +1 @@\n', "/top")) == ["/top/777.py"]


def test_a_number_in_a_patch_that_is_too_long() -> None:
    assert _lines(b"+++ b/x.py\n@@ -1 +" + b"1" * 5000 + b" @@\n", "/top") == {}


@pytest.mark.parametrize("key", ["baseline", "cache-dir"])
def test_a_path_with_a_nul(key: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[tool.autodetach]\n{key} = "x\\u0000"\n')
    with inside(tmp_path):
        for command in (check, clean, lambda request: config(None, request)):
            ran = fair(run(lambda command=command: command(Request())))  # type: ignore[misc]
            assert ran.code == 2
            assert "no path has a NUL in it" in ran.err


def test_settings_that_are_nested_too_deeply(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("# autodetach\nx = " + "[" * 5000)
    with inside(tmp_path):
        ran = fair(run(lambda: check(Request())))
    assert ran.code == 2
    assert ran.err == "error: pyproject.toml: not valid TOML: nested too deeply\n"


SECONDS = 20.0
"""What takes forever takes longer than that on a busy machine, too, and all else far less."""


def test_globs_and_a_name_that_are_made_to_take_forever(tmp_path: Path) -> None:
    (tmp_path / ("a" * 200 + ".py")).write_bytes(b"x = 1\n")
    (tmp_path / ".gitignore").write_text("*a" * 12 + "*b\n" + "**/a*/" * 12 + "b\n" + " " * 200_000 + "b\n")
    (tmp_path / "pyproject.toml").write_text(f'[tool.autodetach]\nexclude = ["{"**/" * 12}{"*a" * 12}*b"]\n')
    begun = time.process_time()
    with inside(tmp_path):
        assert fair(run(lambda: check(Request()))).code == 0
    assert time.process_time() - begun < SECONDS


def test_a_log_of_carriage_returns() -> None:
    begun = time.process_time()
    assert read_log(b"\r" * 200_000) is None
    assert time.process_time() - begun < SECONDS


NEEDS_EURO = b"""# coding: latin-1
import torch
rnn = torch.nn.RNN(4, 8)
optimizer = torch.optim.SGD(rnn.parameters())
state = {"\\u20ac": torch.zeros(1, 8)}
for x in loader:
    out, state["\\u20ac"] = rnn(x, state["\\u20ac"])
    out.sum().backward()
    optimizer.step()
"""


def test_a_repair_with_a_character_that_the_encoding_does_not_have() -> None:
    """One of the repairs says `state['€']`; it is left out, and the others are tried."""
    verdict = kept("latin.py", NEEDS_EURO)
    assert not verdict.wrong
    assert not verdict.problems
    assert isinstance(verdict.fixed.source, Source)
    assert b'rnn(x, state["\\u20ac"].detach())' in verdict.fixed.source.raw


LONG = {
    "sum": "total += loss" + " + 0" * 1500,
    "chain": "total += loss" + ".mul(1)" * 900,
    "index": "print(loss.data[0" + " + 0" * 1500 + "])",
    "key": "kept[0" + " + 0" * 1500 + "] = loss",
}


@pytest.mark.parametrize("name", list(LONG))
def test_an_expression_that_is_too_long_to_be_written(name: str) -> None:
    """Python reads it, and `ast.unparse` gives up: another text stands for it, and the file is looked at."""
    program = (
        "import torch\ntotal = 0\nlosses = []\nkept = {}\nleak = 0\nfor x in y:\n"
        f"    loss = torch.nn.Linear(1, 1)(x).sum()\n    {LONG[name]}\n    leak += loss\nprint(total, leak, losses)\n"
    )
    verdict = kept("long.py", program.encode())
    assert not verdict.wrong
    assert "AD101" in [finding.code for finding in verdict.outcome.findings]
