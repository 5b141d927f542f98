"""Living with findings, from the command line: comments, baselines, what a change brings, settings shown."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from autodetach.commands.checking import COMMANDS
from autodetach.commands.request import CLEAN, FINDINGS, TROUBLE, Request, exit_code_of
from autodetach.commands.showing import config
from autodetach.comments import idle
from autodetach.disk.files import read_bytes
from autodetach.report import OutputFormat
from autodetach.settings.config import Overrides

LEAK = """\
import torch


def train(loader):
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    total = 0.0
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
    return total / len(loader)
"""
CLEAN_PROGRAM = LEAK.replace("total += loss", "total += loss.detach()")
COMMENT = "  # autodetach: ignore[AD101]"


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def places(self) -> list[str]:
        """Place and code of what is found."""
        parts = (line.partition(": AD") for line in self.out.splitlines())
        return [f"{place}: AD{rest[:3]}" for place, found, rest in parts if found]


class Runner:
    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def __call__(self, name: str, *paths: str, overrides: Overrides | None = None, **arguments: object) -> Ran:
        request = Request(paths, overrides or Overrides(), **arguments)  # type: ignore[arg-type]
        code = exit_code_of(lambda: COMMANDS[name](request))
        return Ran(code, *self._capture.readouterr())


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Runner:
    monkeypatch.chdir(tmp_path)
    return Runner(capfd)


def with_baseline(file: str) -> Overrides:
    return Overrides(baseline=file)


# Comments.


def test_unused_comments_are_found_and_removed(run: Runner) -> None:
    Path("a.py").write_text(CLEAN_PROGRAM.replace(".detach()", ".detach()" + COMMENT))
    Path("b.py").write_text("# autodetach: ignore-file\n" + LEAK)
    Path("c.py").write_text(LEAK.replace("+= loss", "+= loss  # noqa: E501, AD101, AD2"))
    ran = run("check")
    assert ran.code == FINDINGS
    assert ran.places == ["a.py:13:33: AD901", "c.py:13:45: AD901"]
    assert ran.err == "Found 2 findings in 3 files; `autodetach fix` repairs 2.\n"
    patch = run("diff")
    assert patch.out.count("\n-") == 2 + 1
    assert "AD901 unused-ignore: `AD2` in `# noqa: E501, AD101, AD2` silences nothing" in patch.err
    assert run("fix").err == "Found 2, fixed 2, 0 left.\n"
    assert Path("a.py").read_text() == CLEAN_PROGRAM
    assert "+= loss  # noqa: E501, AD101\n" in Path("c.py").read_text()
    assert run("check").code == CLEAN


def test_a_comment_goes_together_with_other_repairs(run: Runner) -> None:
    text = "# autodetach: off[AD2]\n# autodetach: on\n" + LEAK + "x = 1" + COMMENT + "\n"
    Path("a.py").write_text(text)
    assert len(run("check").places) == 3
    ran = run("diff")
    assert "a.py:15:9: AD101" in ran.err
    assert "a.py:17:8: AD901" in ran.err
    subprocess.run(["git", "apply", "-"], input=ran.out.encode(), check=True)
    assert Path("a.py").read_text() == CLEAN_PROGRAM + "x = 1\n"
    Path("a.py").write_text(text)
    assert run("fix").code == CLEAN
    assert Path("a.py").read_text() == CLEAN_PROGRAM + "x = 1\n"


def test_places_of_what_is_left_are_those_of_the_fixed_file(run: Runner) -> None:
    Path("a.py").write_text("# autodetach: off[AD2]\n" + LEAK)
    ran = run("fix", overrides=Overrides(ignore=("AD101",)))
    assert (ran.code, Path("a.py").read_text()) == (CLEAN, LEAK)
    state = (
        "import torch\nrnn = torch.nn.RNN(8, 8)\nh = torch.zeros(1, 8)\nopt = torch.optim.SGD(rnn.parameters(), 0.1)\n"
        "for x in torch.randn(3, 4, 8):\n    y, h = rnn(x, h)\n    opt.zero_grad()\n    y.sum().backward()\n"
        "    opt.step()\n"
    )
    Path("a.py").write_text(state)
    [place] = run("check").places
    Path("a.py").write_text("# autodetach: off[AD2]\n" + state)
    assert run("fix").places == [place]
    assert Path("a.py").read_text() == state


@pytest.mark.parametrize("mark", [".hg/requires", "package/__init__.py"])
def test_the_project_is_what_imports_take_it_to_be(run: Runner, mark: str) -> None:
    """A repository of Mercurial, or what is above all packages."""
    Path(mark).parent.mkdir()
    Path(mark).write_text("")
    Path("package").mkdir(exist_ok=True)
    Path("package/helper.py").write_text("import torch\nx = 1" + COMMENT + "\n")
    assert run("check", "package").places == ["package/helper.py:2:8: AD901"]
    Path("train.py").write_text("import torch\nfrom package import helper\n")
    assert run("check", "package").places == [], "train.py may need it"


def test_each_file_is_read_once_for_all_comments(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the rest of the project imports is the same, whichever comment asks."""
    for name, program in {"a": CLEAN_PROGRAM, "b": CLEAN_PROGRAM, "seen": CLEAN_PROGRAM}.items():
        Path("asked").mkdir(exist_ok=True)
        Path(f"asked/{name}.py").write_text(program.replace("detach()", "detach()" + COMMENT))
    Path("setup.py").write_text("")
    for number in range(5):
        Path(f"other_{number}.py").write_text("from asked import (\n    seen,\n)\nprint('import a')\n")
    reads: list[str] = []

    def noting(path: str) -> bytes:
        reads.append(os.path.basename(path))
        return read_bytes(path)

    monkeypatch.setattr(idle, "read_bytes", noting)
    assert run("check", "asked").places == ["asked/a.py:13:33: AD901", "asked/b.py:13:33: AD901"]
    assert sorted(reads) == sorted([*(f"other_{number}.py" for number in range(5)), "setup.py"])


@pytest.mark.parametrize(
    "overrides", [Overrides(select=("AD2",)), Overrides(ignore=("AD101",)), Overrides(ignore=("AD901",))]
)
def test_comments_for_rules_that_are_off_are_not_judged(run: Runner, overrides: Overrides) -> None:
    Path("a.py").write_text(CLEAN_PROGRAM.replace(".detach()", ".detach()" + COMMENT))
    assert run("check", overrides=overrides).code == CLEAN


def test_a_comment_in_a_helper_is_judged_only_with_its_importers_in_view(run: Runner) -> None:
    Path("pyproject.toml").write_text("")
    Path("helper.py").write_text("import torch\n\n\ndef add(total, loss):\n    return total + loss\n")
    Path("train.py").write_text(
        LEAK.replace("import torch", "import torch\nfrom helper import (\n    add,\n)").replace(
            "total += loss", "total = add(total, loss)"
        )
    )
    [place] = run("check").places
    file, line = place.split(":")[:2]
    lines = Path(file).read_text().splitlines()
    lines[int(line) - 1] += COMMENT
    Path(file).write_text("\n".join(lines) + "\n")
    assert run("check").places == []
    Path("helper.py").write_text(Path("helper.py").read_text() + "x = 1" + COMMENT + "\n")
    assert run("check").places == ["helper.py:6:8: AD901"]
    assert run("check", "helper.py").places == [], "train.py may need it"
    assert run("check", "helper.py", "train.py").places == ["helper.py:6:8: AD901"]
    Path("train.py").unlink()
    assert len(run("check", "helper.py").places) >= 1


def test_a_file_that_could_not_be_done_makes_nothing_sure(run: Runner) -> None:
    Path("helper.py").write_text("import torch\nx = 1" + COMMENT + "\n")
    Path("train.py").write_text("import torch, helper\nmodel = torch.nn.Linear(2, 1)\nloss.backward()\ndef f(:\n")
    assert run("check").places == []


def test_standard_input_comes_back_without_unused_comments(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "# autodetach: off[AD2]\n" + LEAK
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    ran = run("fix", "-", stdin_filename="a.py")
    assert (ran.code, ran.out, ran.err) == (CLEAN, CLEAN_PROGRAM, "Found 2, fixed 2, 0 left.\n")


def test_comments_are_written_for_all_findings(run: Runner) -> None:
    Path("a.py").write_text(LEAK)
    Path("b.py").write_bytes(LEAK.replace("+= loss", "+= (loss  # é\n    )").replace("\n", "\r\n").encode())
    ran = run("check", add_ignore=True, reason="until the rewrite")
    assert (ran.code, ran.out) == (CLEAN, "")
    assert ran.err == "Wrote comments for 2 findings in 2 files.\nNo findings in 2 files.\n"
    assert Path("a.py").read_text() == LEAK.replace("+= loss", f"+= loss{COMMENT} until the rewrite")
    assert b"    )  # autodetach: ignore[AD101] until the rewrite\r\n" in Path("b.py").read_bytes()
    assert run("check").code == CLEAN
    assert run("check", add_ignore=True).err == "No findings in 2 files.\n"


def test_a_comment_that_cannot_be_written_is_a_problem(run: Runner) -> None:
    Path("a.py").write_bytes(b"# coding: latin-1\n" + LEAK.encode())
    ran = run("check", add_ignore=True, reason="→")
    assert ran.code == TROUBLE
    assert ran.err.startswith("a.py: error: no comment written: ")
    assert ran.places == ["a.py:14:9: AD101"]


# Baselines.


def test_a_baseline_survives_what_does_not_concern_it(run: Runner) -> None:
    Path("sub").mkdir()
    Path("sub/a.py").write_text(LEAK)
    assert run("check", write_baseline="known.json") == (CLEAN, "", "Wrote 1 finding to known.json.\n")
    assert json.loads(Path("known.json").read_text()) == {
        "version": 1,
        "findings": [{"path": "sub/a.py", "code": "AD101", "scope": "train", "text": "total+=loss", "count": 1}],
    }
    ran = run("check", overrides=with_baseline("known.json"))
    assert ran == (CLEAN, "", "Not shown: 1 known finding in known.json.\nNo findings in 1 file.\n")
    Path("sub/a.py").write_text("'''new'''\n" * 20 + LEAK.replace("+= loss", "+=  loss"))
    assert run("check", overrides=with_baseline("known.json")).code == CLEAN
    again = LEAK.replace("def train", "def again").replace("import torch\n", "")
    Path("sub/a.py").write_text(LEAK + again)
    assert run("check", overrides=with_baseline("known.json")).places == ["sub/a.py:26:9: AD101"]
    Path("sub/a.py").write_text(again.replace("def", "import torch\ndef") + LEAK)
    assert len(run("check", overrides=with_baseline("known.json")).places) == 1, "the other one is known"


def test_equal_findings_are_counted(run: Runner) -> None:
    twice = LEAK.replace("total += loss", "total += loss\n        other += loss\n        more += loss").replace(
        "total = 0.0", "total = other = more = 0.0"
    )
    one_name = twice.replace("other +=", "total +=").replace("more +=", "total +=")
    Path("a.py").write_text(one_name)
    run("check", write_baseline="b.json")
    found = sum(item["count"] for item in json.loads(Path("b.json").read_text())["findings"])
    assert found == len(run("check").places) >= 1
    assert run("check", overrides=with_baseline("b.json")).code == CLEAN


def test_two_faults_at_one_place_are_one_finding(run: Runner) -> None:
    two = LEAK.replace("total += loss", "total, other = total + loss, other + 2 * loss")
    Path("a.py").write_text(
        two.replace("total = 0.0", "total = other = 0.0").replace("return total", "return other, total")
    )
    assert run("check", write_baseline="b.json").err == "Wrote 1 finding to b.json.\n"
    assert run("check", overrides=with_baseline("b.json")).code == CLEAN


def test_fix_and_diff_leave_what_is_known_alone(run: Runner) -> None:
    Path("a.py").write_text(LEAK)
    run("check", write_baseline="b.json")
    both = LEAK + LEAK.replace("def train", "def later")
    Path("a.py").write_text(both)
    ran = run("fix", overrides=with_baseline("b.json"))
    assert (ran.code, ran.err) == (CLEAN, "Found 1, fixed 1, 0 left.\n")
    assert Path("a.py").read_text() == LEAK + CLEAN_PROGRAM.replace("def train", "def later")
    assert run("diff", overrides=with_baseline("b.json")).out == ""


def test_the_setting_names_a_file_beside_its_pyproject(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("p/sub").mkdir(parents=True)
    Path("p/pyproject.toml").write_text('[tool.autodetach]\nbaseline = "known.json"\n')
    Path("p/sub/a.py").write_text(LEAK)
    Path("b.py").write_text(LEAK)
    ran = run("check")
    assert ran.code == TROUBLE
    assert ran.err.startswith("error: p/known.json: there is no such baseline; `autodetach check --write-baseline")
    run("check", "p", write_baseline="p/known.json")
    assert run("check").places == ["b.py:13:9: AD101"]
    monkeypatch.chdir("p/sub")
    assert run("check").code == CLEAN


def test_stale_entries_are_said_where_that_is_sure(run: Runner) -> None:
    for name in ("a.py", "b.py", "c.py"):
        Path(name).write_text(LEAK)
    run("check", write_baseline="k.json")
    Path("a.py").write_text(CLEAN_PROGRAM)
    Path("c.py").unlink()
    ran = run("check", overrides=with_baseline("k.json"))
    assert ran.code == CLEAN
    assert ran.err.splitlines()[:2] == [
        "Not shown: 1 known finding in k.json.",
        "warning: k.json: 2 recorded findings not found any more (a.py: AD101 in train, c.py: AD101 in train); "
        "`--write-baseline k.json` forgets what is gone",
    ]
    assert "(c.py: AD101 in train)" in run("check", "b.py", overrides=with_baseline("k.json")).err
    off = run("check", overrides=Overrides(baseline="k.json", ignore=("AD101",)))
    assert "a.py: AD101" not in off.err
    assert "warning" not in run("check", overrides=with_baseline("k.json"), quiet=True).err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "k.json: not a baseline: line 1 is not valid JSON"),
        ('{\n"version": 1,\n<<<<<<<', "k.json: not a baseline: line 3 is not valid JSON"),
        ("[]", 'k.json: not a baseline: it has no "version" and "findings"'),
        ('{"version": 1}', 'k.json: not a baseline: it has no "version" and "findings"'),
        ('{"version": 2, "findings": []}', "k.json: a baseline of version 2; this autodetach reads version 1"),
        (
            '{"version": 1, "findings": [3]}',
            "k.json: not a baseline: finding 1 needs path, code, scope, text as strings",
        ),
        (
            '{"version": 1, "findings": [{"path": "a", "code": "b", "scope": "", "text": "", "count": 0}]}',
            "k.json: not a baseline: finding 1 needs",
        ),
        ("\x00\udcff", "k.json: not a baseline"),
    ],
)
def test_a_broken_baseline_is_wrong_use(run: Runner, text: str, message: str) -> None:
    Path("a.py").write_text("x = 1\n")
    Path("k.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    ran = run("check", overrides=with_baseline("k.json"))
    assert ran.code == TROUBLE
    assert ran.err.startswith(f"error: {message}")
    assert ran.err.count("\n") == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
def test_a_pipe_is_no_baseline_and_is_not_waited_for(run: Runner) -> None:
    Path("a.py").write_text("x = 1\n")
    os.mkfifo("k.json")
    ran = run("check", overrides=with_baseline("k.json"))
    assert (ran.code, ran.err) == (TROUBLE, "error: k.json: not a baseline: it is no regular file\n")


def test_a_baseline_is_written_quietly(run: Runner) -> None:
    Path("a.py").write_text(LEAK)
    assert run("check", write_baseline="k.json", quiet=True) == (CLEAN, "", "")
    assert Path("k.json").exists()


def test_a_baseline_that_cannot_be_written_is_wrong_use(run: Runner) -> None:
    Path("a.py").write_text(LEAK)
    ran = run("check", write_baseline="gone/k.json")
    assert (ran.code, ran.err) == (TROUBLE, "error: --write-baseline gone/k.json: there is no folder gone\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"reason": "x"}, "--reason goes into the comments of --add-ignore"),
        ({"write_baseline": "b", "stdin_filename": "x.py"}, "--write-baseline is about files, not"),
        ({"add_ignore": True, "stdin_filename": "x.py"}, "--add-ignore is about files, not"),
        ({"diff_base": "HEAD", "stdin_filename": "x.py"}, "--diff-base is about files, not"),
        ({"write_baseline": "b", "add_ignore": True}, "--write-baseline records all findings"),
        ({"write_baseline": "b", "diff_base": "HEAD"}, "--write-baseline records all findings"),
        ({"write_baseline": "b", "output_file": "y"}, "--write-baseline records findings and prints"),
        ({"write_baseline": "b", "output_format": OutputFormat.JSON}, "--write-baseline records findings and prints"),
        ({"write_baseline": "b", "statistics": True}, "--write-baseline records findings and prints none"),
    ],
)
def test_what_does_not_go_together(run: Runner, arguments: dict[str, object], message: str) -> None:
    ran = run("check", **arguments)  # type: ignore[arg-type]
    assert ran.code == TROUBLE
    assert ran.err.startswith(f"error: {message}")


# What a change brings.


def git(*arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)


def commit() -> None:
    git("add", "-A")
    git("commit", "-qm", "x")


@pytest.fixture
def repository(run: Runner) -> Runner:
    git("init", "-q", "-b", "main")
    Path("a.py").write_text(LEAK)
    commit()
    return run


def since(run: Runner, revision: str = "main", *paths: str) -> list[str]:
    ran = run("check", *paths, diff_base=revision)
    assert ran.code in (CLEAN, FINDINGS), ran.err
    return ran.places


def test_only_what_a_change_brings(repository: Runner) -> None:
    assert since(repository) == []
    git("checkout", "-qb", "topic")
    Path("a.py").write_text("'''new'''\n\n" + LEAK)
    assert since(repository) == [], "an old finding on another line"
    Path("a.py").write_text(LEAK + LEAK.replace("def train", "def later"))
    expected = ["a.py:27:9: AD101"]
    assert since(repository) == expected, "in the working tree"
    git("add", "a.py")
    assert since(repository) == expected, "in the index"
    commit()
    assert since(repository) == expected, "in a commit"
    assert since(repository, "HEAD") == []
    Path("new one.py").write_text(LEAK)
    assert since(repository) == [*expected, "new one.py:13:9: AD101"], "untracked files count whole"
    git("checkout", "-q", "main")
    Path("a.py").write_text("x = 1\n" + LEAK)
    commit()
    git("checkout", "-q", "topic")
    assert since(repository, "main", "a.py") == expected, "against the place where the branch began"


def test_a_line_of_the_story_counts(repository: Runner) -> None:
    Path("a.py").write_text(LEAK.replace("mse_loss(model(x), y)", "l1_loss(model(x), y)"))
    assert since(repository) == ["a.py:13:9: AD101"]
    Path("a.py").write_text(LEAK.replace("        optimizer.step()\n", ""))
    assert since(repository) == ["a.py:12:9: AD101"], "the line before it was taken away"
    Path("a.py").write_text(LEAK.replace("lr=0.1", "lr=0.2"))
    assert since(repository) == []


def test_names_and_moves(repository: Runner) -> None:
    odd = 'b "é\t\\.py'
    Path("a.py").rename(odd)
    commit()
    assert since(repository, "HEAD~1") == [], "a file that only moved"
    Path(odd).write_text(LEAK.replace("+= loss", "+= 2 * loss"))
    assert len(since(repository)) == 1
    Path("folder").mkdir()
    Path("folder/-x.py").write_text(LEAK)
    assert len(since(repository)) == 2


def test_the_configuration_of_git_does_not_matter(repository: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("sub").mkdir()
    Path("sub/a.py").write_text(LEAK)
    commit()
    Path("sub/a.py").write_text(LEAK.replace("+= loss", "+= 2 * loss"))
    for setting in ("diff.noprefix", "diff.mnemonicPrefix", "diff.relative", "color.ui"):
        git("config", setting, "always" if setting == "color.ui" else "true")
    git("config", "diff.external", "false")
    git("config", "diff.interHunkContext", "9")
    assert since(repository) == ["sub/a.py:13:9: AD101"]
    monkeypatch.chdir("sub")
    assert since(repository) == ["a.py:13:9: AD101"]
    assert since(repository, "HEAD", "..") == ["a.py:13:9: AD101"]


def test_fix_repairs_only_what_a_change_brings(repository: Runner) -> None:
    Path("a.py").write_text(LEAK.replace("def train", "def first") + LEAK + LEAK.replace("def train", "def later"))
    commit()
    lines = Path("a.py").read_text().splitlines(keepends=True)
    lines[26] = lines[26].replace("+= loss", "+= 2 * loss")
    Path("a.py").write_text("".join(lines))
    assert repository("fix", diff_base="main").err == "Found 1, fixed 1, 0 left.\n"
    fixed = Path("a.py").read_text()
    assert (fixed.count("+= loss\n"), fixed.count("+= 2 * loss\n")) == (2, 0)


def test_fix_removes_only_the_comments_that_a_change_brings(repository: Runner) -> None:
    old = "# autodetach: off[AD3]\n# autodetach: on\n" + LEAK + "x = 1" + COMMENT + "\n"
    Path("a.py").write_text(old)
    commit()
    Path("a.py").write_text(old + "y = 1" + COMMENT + "\n")
    assert since(repository) == ["a.py:18:8: AD901"]
    assert repository("fix", diff_base="main").err == "Found 1, fixed 1, 0 left.\n"
    assert Path("a.py").read_text() == old + "y = 1\n"
    Path("a.py").write_text(old.replace("off[AD3]", "off[AD2]").replace("+= ", "+=  ") + "y = 1\n")
    assert repository("fix", diff_base="main").err == "Found 2, fixed 2, 0 left.\n"
    assert Path("a.py").read_text() == CLEAN_PROGRAM.replace("+= ", "+=  ") + "x = 1" + COMMENT + "\ny = 1\n"


def test_a_baseline_and_a_change_together(repository: Runner) -> None:
    Path("b.py").write_text(LEAK)
    repository("check", write_baseline="k.json")
    Path("c.py").write_text(LEAK)
    ran = repository("check", diff_base="main", overrides=with_baseline("k.json"))
    assert ran.places == ["c.py:13:9: AD101"]
    assert "warning" not in ran.err


def test_a_change_that_cannot_be_found_is_wrong_use(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.py").write_text(LEAK)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(Path.cwd().parent))
    ran = run("check", diff_base="main")
    assert ran.code == TROUBLE
    assert ran.err.startswith("error: --diff-base: not a git repository")
    git("init", "-q", "-b", "main")
    assert run("check", diff_base="main").err == (
        'error: --diff-base: there is no revision "main" here; in a shallow clone, fetch it first\n'
    )
    commit()
    for revision in ("nowhere", "", "--help", "main:a.py"):
        assert f'there is no revision "{revision}" here' in run("check", diff_base=revision).err
    git("checkout", "-q", "--orphan", "other")
    git("commit", "-qm", "another beginning")
    assert run("check", diff_base="main").err.startswith('error: --diff-base: "main" and HEAD have no common history')
    monkeypatch.setenv("PATH", "")
    assert run("check", diff_base="main").err == "error: --diff-base: cannot run git: no such file or folder\n"


# Settings.


def shown(capfd: pytest.CaptureFixture[str], path: str | None = None, **arguments: object) -> Ran:
    request = Request(**arguments)  # type: ignore[arg-type]
    code = exit_code_of(lambda: config(path, request))
    return Ran(code, *capfd.readouterr())


def test_config_says_where_settings_come_from(run: Runner, capfd: pytest.CaptureFixture[str]) -> None:
    Path("pyproject.toml").write_text(
        '[tool.autodetach]\nignore = ["AD401"]\nbaseline = "k.json"\n'
        'per-file-ignores = { "tests/*" = ["AD2", "AD3", "AD4", "AD5", "AD9"] }\n'
    )
    Path("tests").mkdir()
    over = Overrides(ignore=("AD1",), exclude=("old",), unsafe_fixes=True)
    ran = shown(capfd, "tests/a.py", overrides=over, output_format=OutputFormat.JSON)
    document = json.loads(ran.out)
    assert (ran.code, document["path"], document["file"]) == (CLEAN, "tests/a.py", "pyproject.toml")
    assert document["rules"] == []
    settings = document["settings"]
    assert settings["ignore"] == {"value": ["AD401", "AD1"], "from": ["pyproject.toml", "command line"]}
    assert settings["select"] == {"value": ["ALL"], "from": []}
    assert settings["unsafe-fixes"] == {"value": True, "from": ["command line"]}
    assert settings["prefer"] == {"value": ["item", "retain"], "from": []}
    assert settings["include"] == {"value": ["*.py", "*.ipynb"], "from": []}
    assert settings["exclude"]["value"][-1] == "old"
    assert settings["baseline"] == {"value": str(Path("k.json").absolute()), "from": ["pyproject.toml"]}
    assert "AD201" in json.loads(shown(capfd, output_format=OutputFormat.JSON).out)["rules"]


def test_config_prints_what_a_pyproject_can_hold(run: Runner, capfd: pytest.CaptureFixture[str]) -> None:
    Path("pyproject.toml").write_text('[tool.autodetach]\nselect = ["AD1", "carried-state"]\nbaseline = "k.json"\n')
    first = shown(capfd).out
    assert 'select = ["AD1", "carried-state"]  # pyproject.toml' in first
    assert "unsafe-fixes = false  # default" in first
    Path("pyproject.toml").write_text(first)
    again = [line.partition("#")[0] for line in shown(capfd).out.splitlines() if line[0] != "#"]
    assert again == [line.partition("#")[0] for line in first.splitlines() if line[0] != "#"]


def test_config_for_what_is_not_there(run: Runner, capfd: pytest.CaptureFixture[str]) -> None:
    assert shown(capfd, "gone/a.py").err == "error: gone/a.py: no such file or folder\n"
    assert "# Settings for gone.py, from no file" in shown(capfd, "gone.py").out
    assert shown(capfd, output_format=OutputFormat.SARIF).code == TROUBLE
    Path("pyproject.toml").write_text("[tool.autodetach]\nbaselin = 1\n")
    assert "did you mean `baseline`?" in shown(capfd).err
    Path("pyproject.toml").write_text("[tool.autodetach]\nbaseline = 1\n")
    assert 'baseline: must be a path, such as "baseline.json", not a number' in shown(capfd).err


def test_what_config_prints_walks_as_no_settings_do(run: Runner, capfd: pytest.CaptureFixture[str]) -> None:
    Path("a.py").write_text(LEAK)
    cell: dict[str, object] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": LEAK,
    }
    Path("b.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    before = run("check").places
    assert len(before) == 2
    Path("pyproject.toml").write_text(shown(capfd).out)
    assert run("check").places == before


def test_include(run: Runner) -> None:
    Path("pyproject.toml").write_text('[tool.autodetach]\ninclude = ["src/*.py", "*.pyw"]\nexclude = ["*_gen.py"]\n')
    Path("src/deep").mkdir(parents=True)
    for name in ("src/a.py", "src/deep/b.py", "c.pyw", "d.py", "src/x_gen.py"):
        Path(name).write_text(LEAK)
    assert [place.partition(":")[0] for place in run("check").places] == ["c.pyw", "src/a.py", "src/deep/b.py"]
    assert run("check", "d.py").places == ["d.py:13:9: AD101"], "a file that is named is taken"


def test_force_exclude(run: Runner) -> None:
    Path("pyproject.toml").write_text('[tool.autodetach]\nextend-exclude = ["old", "*_gen.py"]\n')
    Path("old/sub").mkdir(parents=True)
    names = ("old/sub/a.py", "x_gen.py", "b.py")
    for name in names:
        Path(name).write_text(LEAK)
    assert len(run("check", *names).places) == 3
    assert run("check", *names, force_exclude=True).places == ["b.py:13:9: AD101"]


def test_from_the_command_line(tmp_path: Path) -> None:
    """As a whole program, with typer in between."""
    (tmp_path / "a.py").write_text(LEAK)
    root = str(Path(__file__).parent.parent.parent)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "autodetach", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)

    assert call("check", "--write-baseline", "k.json").returncode == CLEAN
    assert call("check", "--baseline", "k.json").returncode == CLEAN
    assert call("diff", "--baseline=k.json").stdout == ""
    assert 'baseline = "' in call("config", "--baseline", "k.json").stdout
    assert call("fix", "--write-baseline", "k.json").returncode == TROUBLE
    assert call("check", "--diff-base", "main").returncode == TROUBLE
    assert call("check", "--add-ignore", "--reason", "a demonstration", "a.py").returncode == CLEAN
    assert (tmp_path / "a.py").read_text() == LEAK.replace("+= loss", f"+= loss{COMMENT} a demonstration")
