"""Completion, in the shells themselves: what they offer for a line that is begun."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from autodetach.settings.selection import RULES

ROOT = Path(__file__).parent.parent
CODES = sorted(rule.code for rule in RULES)

# Each prints what is offered for the words of $LINE, a line each; the last word is the one that is begun.
BASH = r"""
source "$SCRIPT"
read -ra COMP_WORDS <<<"$LINE"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_autodetach_completion autodetach
printf '%s\n' "${COMPREPLY[@]}"
"""
FISH = 'source "$SCRIPT"; complete -C "$LINE"'
# zsh completes in its line editor only; there, _arguments gets "VALUE":"DESCRIPTION".
ZSH = r"""
compdef() { }
_arguments() { print -r -- "$@" }
source "$SCRIPT"
words=(${=LINE})
CURRENT=${#words}
_autodetach_completion
"""
SHELLS = {"bash": BASH, "fish": FISH, "zsh": ZSH}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One in which `autodetach` is this one, and the home folder is empty."""
    program = tmp_path / "bin" / "autodetach"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m autodetach "$@"\n')
    program.chmod(0o755)
    (tmp_path / "home").mkdir()
    path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
    packages = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PATH": path, "PYTHONPATH": packages, "HOME": str(tmp_path / "home"), "TERM": "dumb"}


def installed(shell: str) -> str:
    """The program; a machine that decides has all of them."""
    found = shutil.which(shell)
    if found is None:
        assert not os.environ.get("CI"), f"there is no {shell} here: install it, as .ci/run does"
        pytest.skip(f"there is no {shell} here")
    return found


@pytest.fixture(params=SHELLS)
def offered(request: pytest.FixtureRequest, environment: dict[str, str], tmp_path: Path) -> Callable[[str], str]:
    shell = request.param
    program = installed(shell)
    # Without this, the shell that runs the tests would be taken.
    explicit = {**environment, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    call = ["autodetach", "--show-completion", shell]
    script = tmp_path / "script"
    script.write_bytes(subprocess.run(call, env=explicit, check=True, capture_output=True).stdout)

    def offer(line: str) -> str:
        env = {**environment, "SCRIPT": str(script), "LINE": line}
        done = subprocess.run([program, "-c", SHELLS[shell]], env=env, check=True, capture_output=True, text=True)
        assert done.stderr == ""
        return done.stdout

    return offer


def words(text: str) -> list[str]:
    return [word for word in text.replace('"', " ").replace(":", " ").split() if word.startswith("AD")]


def test_rules_and_commands(offered: Callable[[str], str]) -> None:
    assert sorted(words(offered("autodetach rule AD"))) == CODES
    assert words(offered("autodetach fix --ignore AD201,AD90")) == ["AD201,AD901"]
    assert "config" in offered("autodetach con")
    assert "--diff-base" in offered("autodetach check --di")
    assert "json-lines" in offered("autodetach check --output-format json-")


def test_installation_in_bash(environment: dict[str, str]) -> None:
    subprocess.run(
        [installed("bash"), "-c", "autodetach --install-completion; exit $?"],
        env=environment,
        check=True,
        capture_output=True,
    )
    ask = 'source "$HOME/.bashrc"; complete -p autodetach'
    done = subprocess.run(["bash", "-c", ask], env=environment, check=True, capture_output=True, text=True)
    assert "-F _autodetach_completion autodetach" in done.stdout
