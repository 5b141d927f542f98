"""The README says what is so: its generated parts, its commands, its settings, and that `.ci/run` runs its commands.

`python tests/test_readme.py` writes the generated parts anew.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from autodetach.rules import RULES, Rule

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
CI = ROOT / ".ci" / "run"
STORY = "fixtures/graph-outside-loop/weight_decay_by_hand.before.py"
RAISING = "fixtures/attached-fake/gan_script.before.py"
NOTEBOOK = "fixtures/notebooks/prior/before.ipynb"
PROJECT = "fixtures/projects/two_packages/before"

needs_a_shell = pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")


def readme() -> str:
    return README.read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", readme(), re.MULTILINE | re.DOTALL)


def environment() -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "GIT_DIR")}
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**ours, "PYTHONPATH": path, "PYTHON": sys.executable}


def output_of(command: str, stdin: str | None = None) -> str:
    """The standard output of an `autodetach ...` command in the root of the repository; it must find something."""
    _, *arguments = shlex.split(command)
    call = [sys.executable, "-m", "autodetach", *arguments]
    done = subprocess.run(
        call, cwd=ROOT, env=environment(), input=stdin, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 1, done.stderr
    return done.stdout


def first_command() -> str:
    """What a newcomer runs once the tool is installed."""
    return blocks("sh")[0].strip().split(" && ")[-1].removeprefix(".venv/bin/")


def patch() -> str:
    return f"```diff\n{output_of(first_command())}```"


def told(path: str) -> str:
    command = f"autodetach check {path}"
    return f"```console\n$ {command}\n{output_of(command)}```"


def explained() -> str:
    """What a program raises on PyTorch, and what is made of it."""
    call = [sys.executable, "-W", "ignore", RAISING]
    raised = subprocess.run(call, cwd=ROOT, capture_output=True, encoding="utf-8", check=False).stderr
    told = output_of("autodetach explain", raised)
    return f"```console\n$ python3 {RAISING} 2>&1 | autodetach explain\n{told}```"


def rule_table() -> str:
    head = ["| code | name | what it finds | fix |", "| --- | --- | --- | --- |"]
    return "\n".join(head + [row_of(rule) for rule in sorted(RULES, key=lambda rule: rule.code)])


def row_of(rule: Rule) -> str:
    safety = rule.fix_safety.partition(". ")[0].removesuffix(".")
    cells = (rule.code, rule.name, rule.summary, safety)
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


GENERATED: dict[str, Callable[[], str]] = {
    "diff": patch,
    "check": lambda: told(STORY),
    "explain": explained,
    "project": lambda: told(PROJECT),
    "notebook": lambda: told(NOTEBOOK),
    "rules": rule_table,
}


ERROR = """\
Traceback (most recent call last):
  File "src/train.py", line 35, in <module>
    total_loss = total_loss + loss
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.
"""


def part(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=^<!-- begin: {name} -->\n).*?(?=^<!-- end: {name} -->$)", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", GENERATED)
def test_generated_part_is_up_to_date(name: str) -> None:
    assert part(name).findall(readme()) == [GENERATED[name]() + "\n"], "run `python tests/test_readme.py`"


def test_the_patch_is_short_enough_to_be_read_first() -> None:
    assert len(blocks("diff")[0].splitlines()) <= 12


def commands() -> list[str]:
    """Every `autodetach ...` of the README: lines of shell, words in the text, and the entry of the hook."""
    lines = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("autodetach ")]
    in_text = re.findall(r"`(autodetach [^`]+)`", re.sub(r"^```.*?^```$", "", readme(), flags=re.MULTILINE | re.DOTALL))
    hooks = re.findall(r"^ *entry: (.*)$", readme(), re.MULTILINE)
    found = dict.fromkeys([*lines, *in_text, *hooks])
    return [command for command in found if command != "autodetach server"]  # it waits for an editor


def test_there_are_commands_of_every_kind() -> None:
    assert {command.split()[1] for command in commands()} >= {"check", "diff", "fix", "rule"}
    assert any("git apply" in command for command in commands())
    assert any("--stdin-filename" in command for command in commands())


@needs_a_shell
@pytest.mark.parametrize("command", commands())
def test_command_works_as_written(tmp_path: Path, command: str) -> None:
    fixture = ROOT / shlex.split(first_command())[-1]
    (tmp_path / "src").mkdir()
    files = [tmp_path / "train.py", tmp_path / "src" / "train.py"]
    (tmp_path / "error.log").write_text(ERROR)
    for file in files:
        shutil.copyfile(fixture, file)
    before = fixture.read_bytes()
    script = f'autodetach() {{ "$PYTHON" -m autodetach "$@"; }}\n{command}\n'
    with files[0].open("rb") as stdin:
        call = ["bash", "-c", script]
        done = subprocess.run(call, cwd=tmp_path, env=environment(), stdin=stdin, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    assert b"error:" not in done.stderr
    assert done.stdout or command.startswith(("autodetach fix", "autodetach clean")) or "git apply" in command
    writes = "git apply" in command or (command.startswith("autodetach fix") and " - " not in command)
    assert (files[1].read_bytes() != before) is writes


@needs_a_shell
def test_standard_input_comes_back_fixed(tmp_path: Path) -> None:
    [command] = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("autodetach fix - ")]
    fixture = ROOT / shlex.split(first_command())[-1]
    shutil.copyfile(fixture, tmp_path / "train.py")
    script = f'autodetach() {{ "$PYTHON" -m autodetach "$@"; }}\n{command}\n'
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environment(), capture_output=True, check=False)
    assert done.returncode == 0
    assert done.stdout == fixture.with_name(fixture.name.replace(".before.", ".after.")).read_bytes()


def test_settings_are_accepted(tmp_path: Path) -> None:
    [settings] = [block for block in blocks("toml") if "[tool.autodetach]" in block]
    (tmp_path / "pyproject.toml").write_text(settings)
    (tmp_path / "train.py").write_text("import torch\n")
    call = [sys.executable, "-m", "autodetach", "check"]
    done = subprocess.run(call, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "No findings in 1 file.\n")


FAKE_PYTHON = """\
#!/bin/sh
# Makes an environment in which every program notes that it was called.
echo "python3 $*" >>"$LOG"
mkdir -p "$3/bin"
for program in pip python ruff mypy autodetach; do
    cat >"$3/bin/$program" <<'END'
#!/bin/sh
echo "$0 $*" >>"$LOG"
case "$0" in
*/"$FAILING") exit 3 ;;
*/autodetach) echo "--- a/x.py" && exit 1 ;;
*/python) echo "1 passed in 1.00s" ;;
esac
END
    chmod +x "$3/bin/$program"
done
"""


def ci(folder: Path, failing: str = "none") -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run `.ci/run` on a copy of the README, with a Python that notes what it is asked for."""
    (folder / ".ci").mkdir()
    shutil.copy(README, folder)
    shutil.copy(CI, folder / ".ci")
    programs = folder / "programs"
    programs.mkdir()
    # With what the tests need from the system at hand, nothing is installed.
    needed = dict.fromkeys(("patch", "fish", "zsh", "nvim", "tmux"), "#!/bin/sh\n")
    for name, text in {"python3": FAKE_PYTHON, **needed}.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    env = {**environment(), "PATH": path, "LOG": str(folder / "log"), "FAILING": failing}
    done = subprocess.run([folder / ".ci" / "run"], env=env, capture_output=True, text=True, check=False)
    return done, (folder / "log").read_text().splitlines()


def calls_of(line: str, environment: str) -> list[str]:
    """The calls in a line of the README, as they are noted when its environment is another one."""
    return [" ".join(shlex.split(call)).replace(".venv", environment) for call in line.split(" && ")]


@needs_a_shell
def test_ci_runs_the_commands_of_the_readme(tmp_path: Path) -> None:
    assert os.access(CI, os.X_OK)
    newcomer, tests = (block.strip() for block in blocks("sh")[:2])
    done, log = ci(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "1 passed in 1.00s"
    first, last = calls_of(newcomer, ".ci/venv/newcomer"), calls_of(tests, ".ci/venv/tests")
    assert "-m pytest" in last[-1]
    assert log[: len(first)] == first
    assert log[-len(last) :] == last
    between = [line.split()[0].rpartition("/")[2] for line in log[len(first) : -len(last)]]
    assert between == ["python3", "pip", "ruff", "mypy"]


@needs_a_shell
@pytest.mark.parametrize(("failing", "code"), [("python", 3), ("ruff", 1), ("mypy", 1), ("pip", 1), ("autodetach", 1)])
def test_ci_fails_when_a_part_of_it_fails(tmp_path: Path, failing: str, code: int) -> None:
    done, log = ci(tmp_path, failing)
    assert done.returncode == code
    assert any("-m pytest" in line for line in log) is (failing in {"python", "ruff", "mypy"})


if __name__ == "__main__":
    text = readme()
    for each, generate in GENERATED.items():
        old = part(each).search(text)
        assert old, f"README.md has no part {each!r}"
        text = f"{text[: old.start()]}{generate()}\n{text[old.end() :]}"
    README.write_text(text, encoding="utf-8", newline="\n")
