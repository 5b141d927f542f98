"""What the commands print, and where, and how they end."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import fake_checker
import pytest

from autodetach.commands import checking, showing
from autodetach.commands.checking import COMMANDS
from autodetach.commands.request import CLEAN, FINDINGS, INTERRUPTED, TROUBLE, Request, exit_code_of
from autodetach.report import OutputFormat
from autodetach.settings import selection
from autodetach.settings.config import Overrides

UNSAFE = Overrides(unsafe_fixes=True)
JSON = OutputFormat.JSON
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def _in_a_folder_with_a_fake_checker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_checker.install(monkeypatch.setattr)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Runner:
    return Runner(capfdbinary)


class Runner:
    def __init__(self, capture: pytest.CaptureFixture[bytes]) -> None:
        self._capture = capture

    def __call__(self, name: str, request: Request | None = None) -> Ran:
        code = exit_code_of(lambda: COMMANDS[name](request or Request()))
        out, err = self._capture.readouterr()
        return Ran(code, out.decode("latin-1"), err.decode())


def stdin(monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))


def test_nothing_found(run: Runner) -> None:
    Path("a.py").write_text("x = 1\n")
    assert run("check") == (CLEAN, "", "No findings in 1 file.\n")
    assert run("diff") == (CLEAN, "", "Found 0, would fix 0, 0 left.\n")
    assert run("fix") == (CLEAN, "", "Found 0, fixed 0, 0 left.\n")
    assert run("check", Request(output_format=JSON)).out == "[]\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_no_file_is_a_warning(run: Runner, name: str) -> None:
    assert run(name) == (CLEAN, "", "warning: there is no Python file here\n")


def test_check(run: Runner) -> None:
    Path("b.py").write_text("RISK\nSTUCK\n")
    Path("a.py").write_text("x = LEAK\n")
    ran = run("check")
    assert ran.code == FINDINGS
    assert [line for line in ran.out.splitlines() if ": AD" in line] == [
        "a.py:1:5: AD101 accumulated-loss: `LEAK` keeps its graph",
        "b.py:1:1: AD201 walked-twice: `RISK` keeps its graph",
        "b.py:2:1: AD102 stored-graph: `STUCK` keeps its graph",
    ]
    assert "1. line 1: the graph is kept" in ran.out
    assert ran.err == "Found 3 findings in 2 files; `autodetach fix` repairs 1, 1 more with --unsafe-fixes.\n"
    assert Path("a.py").read_text() == "x = LEAK\n"


def test_check_for_a_program(run: Runner) -> None:
    Path("a.py").write_text("LEAK\n")
    ran = run("check", Request(output_format=JSON))
    (finding,) = json.loads(ran.out)
    assert (ran.code, finding["code"], finding["filename"]) == (FINDINGS, "AD101", os.path.abspath("a.py"))


def test_diff_gives_a_patch_and_its_reasons(run: Runner) -> None:
    Path("sub").mkdir()
    Path("sub/a.py").write_text("x = LEAK\nRISK\n")
    ran = run("diff")
    assert ran.code == FINDINGS
    assert ran.out == "--- a/sub/a.py\n+++ b/sub/a.py\n@@ -1,2 +1,2 @@\n-x = LEAK\n+x = DONE\n RISK\n"
    assert ran.err == (
        "sub/a.py:1:5: AD101 accumulated-loss: `LEAK` keeps its graph\n"
        "   safe fix: take the number\n"
        "Found 2, would fix 1, 1 left (1 more with --unsafe-fixes).\n"
    )
    assert Path("sub/a.py").read_text() == "x = LEAK\nRISK\n"


def test_diff_says_why_a_fix_is_unsafe(run: Runner) -> None:
    Path("a.py").write_text("RISK\n")
    ran = run("diff", Request(overrides=UNSAFE))
    assert ran.err.splitlines()[1:] == [
        "   unsafe fix: sum first (why unsafe: gradients change)",
        "Found 1, would fix 1, 0 left.",
    ]
    assert ran.code == FINDINGS


def test_a_finding_without_a_fix_makes_an_empty_patch(run: Runner) -> None:
    Path("a.py").write_text("STUCK\n")
    assert run("diff") == (FINDINGS, "", "Found 1, would fix 0, 1 left.\n")


FILES = {
    "plain.py": b"x = LEAK\n",
    "crlf.py": b"a = 1\r\nx = LEAK\r\n",
    "latin.py": b"# coding: latin-1\n# \xe9\nx = LEAK  # \xe9\n",
    "no newline.py": b"x = LEAK",
    "sub/\xc3\xa9.py".encode("latin-1").decode(): b"\xef\xbb\xbfx = LEAK\n",
}


@pytest.mark.parametrize("tool", [["git", "apply", "-p1"], ["patch", "-p1", "--binary"]])
def test_the_patch_does_what_fix_does(run: Runner, capfdbinary: pytest.CaptureFixture[bytes], tool: list[str]) -> None:
    for name, raw in FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(raw)
    exit_code_of(lambda: checking.diff(Request(quiet=True)))
    patch = capfdbinary.readouterr().out
    subprocess.run(tool, input=patch, check=True, capture_output=True)
    patched = {name: Path(name).read_bytes() for name in FILES}
    for name, raw in FILES.items():
        Path(name).write_bytes(raw)
    assert run("fix").code == CLEAN
    assert patched == {name: Path(name).read_bytes() for name in FILES}
    assert patched == {name: raw.replace(b"LEAK", b"DONE") for name, raw in FILES.items()}


def test_a_patch_for_a_file_elsewhere_leads_there(run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "a.py").write_text("LEAK\n")
    monkeypatch.chdir(tmp_path / "here")
    assert run("diff", Request(paths=(str(tmp_path / "a.py"),))).out.startswith("--- a/../a.py\n")


def test_fix(run: Runner) -> None:
    Path("a.py").write_bytes(b"LEAK\r\nRISK\r\nSTUCK\r\n")
    Path("clean.py").write_bytes(b"x\n")
    before = Path("clean.py").stat()
    ran = run("fix")
    assert Path("a.py").read_bytes() == b"DONE\r\nRISK\r\nSTUCK\r\n"
    assert ran.code == FINDINGS
    assert ran.err == "Found 3, fixed 1, 2 left (1 more with --unsafe-fixes).\n"
    assert [line.partition(" ")[0] for line in ran.out.splitlines() if ": AD" in line] == ["a.py:2:1:", "a.py:3:1:"]
    after = Path("clean.py").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns), "what needs no fix is not written"


def test_fix_everything(run: Runner) -> None:
    Path("a.py").write_text("LEAK\nRISK\n")
    assert run("fix", Request(overrides=UNSAFE)) == (CLEAN, "", "Found 2, fixed 2, 0 left.\n")
    assert Path("a.py").read_text() == "DONE\nDONE\n"


def test_fix_for_a_program_prints_what_is_left(run: Runner) -> None:
    Path("a.py").write_text("LEAK\nRISK\n")
    assert [finding["code"] for finding in json.loads(run("fix", Request(output_format=JSON)).out)] == ["AD201"]


def test_a_file_that_cannot_be_written_does_not_stop_the_others(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.py", "b.py"):
        Path(name).write_text("LEAK\nRISK\n")
    real_access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("a.py") and real_access(path, mode))
    ran = run("fix")
    assert ran.code == TROUBLE
    assert ran.err == "a.py: error: no permission to write\nFound 2, fixed 1, 1 left (1 more with --unsafe-fixes).\n"
    assert (Path("a.py").read_text(), Path("b.py").read_text()) == ("LEAK\nRISK\n", "DONE\nRISK\n")


def test_settings_decide_about_unsafe_fixes_file_by_file(run: Runner) -> None:
    for folder, unsafe in (("a", "true"), ("b", "false")):
        Path(folder).mkdir()
        Path(folder, "pyproject.toml").write_text(f"[tool.autodetach]\nunsafe-fixes = {unsafe}\n")
        Path(folder, "x.py").write_text("RISK\n")
    assert run("fix").err == "Found 2, fixed 1, 1 left (1 more with --unsafe-fixes).\n"
    assert (Path("a/x.py").read_text(), Path("b/x.py").read_text()) == ("DONE\n", "RISK\n")
    Path("a/x.py").write_text("RISK\n")
    run("fix", Request(overrides=Overrides(unsafe_fixes=False)))
    assert Path("a/x.py").read_text() == "RISK\n"


def test_settings_decide_about_rules_file_by_file(run: Runner) -> None:
    Path("pyproject.toml").write_text('[tool.autodetach]\nignore = ["AD2"]\nper-file-ignores = { "b.py" = ["AD1"] }\n')
    for name in ("a.py", "b.py"):
        Path(name).write_text("LEAK\nRISK\n")
    assert [line[:4] for line in run("check").out.splitlines() if ": AD" in line] == ["a.py"]
    assert run("check", Request(overrides=Overrides(select=("AD2",)))).out.count(": AD201") == 2


def test_every_fault_is_told_in_one_line_and_the_other_files_are_done(run: Runner) -> None:
    Path("a_size.py").write_bytes(b"#" * (20 * 1024 * 1024))
    Path("b_utf8.py").write_bytes(b"x = 1\ny = '\xff'\n")
    Path("c_syntax.py").write_text("x = 1\n\ndef f(:\n")
    Path("d_python2.py").write_text("import torch\nprint 'epoch', 1\n")
    Path("e_crash.py").write_text("CRASH\n")
    Path("f_\x1b[31m.py").symlink_to("nowhere")
    Path("g_good.py").write_text("LEAK\n")
    Path("h.ipynb").write_text("{}")
    Path("loop").symlink_to(".")
    ran = run("check", Request(paths=(".", "gone.py", "h.ipynb")))
    assert ran.code == TROUBLE
    assert "g_good.py:1:1: AD101" in ran.out
    errors = {line.partition(": error: ")[0]: line.partition(": error: ")[2] for line in ran.err.splitlines()[:-1]}
    assert {place: message[:30] for place, message in errors.items()} == {
        "f_\\x1b[31m.py": "a link to a file that is not t",
        "gone.py": "no such file or folder",
        "a_size.py": "too large: 20 MB; limit 10 MB",
        "b_utf8.py:2": errors["b_utf8.py:2"][:30],
        "c_syntax.py:3": "syntax error: invalid syntax",
        "d_python2.py:2": "this is Python 2 (a print stat",
        "e_crash.py": "internal error in check, line ",
        "h.ipynb": "not a notebook: it has no cell",
    }
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("name", "found", "nothing"),
    [
        (
            "check",
            "Found 1 finding in 1 file; `autodetach fix` repairs none, 1 more with --unsafe-fixes.",
            "No findings in 1 file.",
        ),
        ("diff", "Found 1, would fix 0, 1 left (1 more with --unsafe-fixes).", "Found 0, would fix 0, 0 left."),
        ("fix", "Found 1, fixed 0, 1 left (1 more with --unsafe-fixes).", "Found 0, fixed 0, 0 left."),
    ],
)
def test_files_that_could_not_be_checked_are_not_without_findings(
    run: Runner, name: str, found: str, nothing: str
) -> None:
    def said() -> str:
        return run(name).err.splitlines()[-1]

    Path("syntax.py").write_text("def f(:\n")
    assert said() == "1 file could not be checked."
    Path("book.ipynb").write_text("{}")
    assert said() == "2 files could not be checked."
    Path("a.py").write_text("x = 1\n")
    assert said() == f"{nothing} 2 files could not be checked."
    Path("a.py").write_text("RISK\n")
    assert said() == f"{found} 2 files could not be checked."


def test_standard_input_is_checked(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, b"LEAK\n")
    ran = run("check", Request(paths=("-",)))
    assert (ran.code, ran.out.partition(" ")[0]) == (FINDINGS, "-:1:1:")


def test_standard_input_has_a_name_and_the_settings_of_its_place(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("sub").mkdir()
    Path("sub/pyproject.toml").write_text('[tool.autodetach]\nignore = ["AD1"]\n')
    for paths in ((), ("-",)):
        stdin(monkeypatch, b"LEAK\nRISK\n")
        ran = run("check", Request(paths=paths, stdin_filename="sub/a.py"))
        assert [line.partition(" ")[0] for line in ran.out.splitlines() if ": AD" in line] == ["sub/a.py:2:1:"]


def test_standard_input_is_fixed_to_standard_output(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, b"# coding: latin-1\r\n# \xe9\r\nLEAK\r\nRISK")
    ran = run("fix", Request(paths=("-",)))
    assert ran.out == "# coding: latin-1\r\n# \xe9\r\nDONE\r\nRISK"
    assert ran.err.startswith("-:4:1: AD201")
    assert ran.err.endswith("Found 2, fixed 1, 1 left (1 more with --unsafe-fixes).\n")
    assert ran.code == FINDINGS
    assert os.listdir(".") == []


@pytest.mark.parametrize("raw", [b"x = 1\r\n", b"", b"def f(:\n", b"'\xff'"])
def test_whoever_pipes_a_source_through_gets_it_back(run: Runner, monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    stdin(monkeypatch, raw)
    assert run("fix", Request(paths=("-",), quiet=True)).out.encode("latin-1") == raw


def test_standard_input_is_diffed(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, b"LEAK\n")
    assert run("diff", Request(stdin_filename="sub/a.py")).out.startswith("--- a/sub/a.py\n+++ b/sub/a.py\n")


def notebook(*texts: str, **more: object) -> bytes:
    cells = [{"cell_type": "code", "source": text, "outputs": [], **more} for text in texts]
    return json.dumps({"cells": cells, "nbformat": 4}, indent=1).encode()


def test_a_notebook_on_standard_input(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    request = Request(paths=("-",), stdin_filename="sub/a.ipynb")
    raw = notebook("x = 1", "%time\nLEAK")
    stdin(monkeypatch, raw)
    ran = run("check", request)
    assert (ran.code, ran.out.partition(" AD")[0]) == (FINDINGS, "sub/a.ipynb:cell 2:2:1:")
    assert "1. cell 2, line 2: the graph is kept" in ran.out
    stdin(monkeypatch, raw)
    ran = run("diff", request)
    assert ran.out.splitlines()[:3] == ["--- sub/a.ipynb:cell 2\t", "+++ sub/a.ipynb:cell 2\t", "@@ -1,2 +1,2 @@"]
    assert ran.err.startswith("sub/a.ipynb:cell 2:2:1: AD101 ")
    assert "note: patches of cells are for reading" in ran.err
    stdin(monkeypatch, raw)
    assert run("fix", request).out.encode() == raw.replace(b"LEAK", b"DONE")
    for raw in (b'{"cells": []}', notebook("x ="), b"", notebook("x = 1")):
        stdin(monkeypatch, raw)
        assert run("fix", request).out.encode() == raw


def test_a_notebook_that_cannot_be_read_is_one_line(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("r.ipynb").write_text('{"cells": [], "metadata": {"language_info": {"name": "R"}}, "nbformat": 4}')
    ran = run("check")
    assert (ran.code, ran.err.splitlines()[0]) == (CLEAN, "r.ipynb: warning: skipped: its language is R, not Python")
    Path("a.ipynb").write_bytes(notebook("x = 1", "import torch\nprint 'x'"))
    Path("b.ipynb").write_bytes(notebook("x = 1", "x ="))
    Path("c.ipynb").write_text('{"worksheets": [], "nbformat": 3}')
    Path("d.ipynb").write_text('{"cells": [\n')
    ran = run("check")
    assert ran.code == TROUBLE
    assert ran.err.splitlines()[:4] == [
        "a.ipynb:cell 2:2: error: this is Python 2 (a print statement); only Python 3 is read",
        f"b.ipynb:cell 2:1: error: syntax error: invalid syntax (Python {PYTHON})",
        "c.ipynb: error: a notebook of format 3, and only format 4 is read; "
        "`jupyter nbconvert --to notebook --nbformat 4` makes one",
        "d.ipynb:2: error: not a notebook: it is not valid JSON (expecting value)",
    ]


def test_a_notebook_is_fixed_in_place(run: Runner) -> None:
    raw = notebook("LEAK", "x = 1\nRISK", metadata={"key": "LEAK"})
    Path("a.ipynb").write_bytes(raw)
    ran = run("fix")
    assert (ran.code, ran.err) == (FINDINGS, "Found 2, fixed 1, 1 left (1 more with --unsafe-fixes).\n")
    assert Path("a.ipynb").read_bytes() == raw.replace(b'"source": "LEAK"', b'"source": "DONE"')


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (Request(paths=("-", "a.py")), "error: `-` reads standard input and cannot be mixed with other paths\n"),
        (
            Request(config="a.toml", isolated=True),
            "error: --isolated uses no configuration file, and --config names one; give one of them\n",
        ),
        (
            Request(paths=("a.py",), stdin_filename="b.py"),
            "error: --stdin-filename names what comes from standard input; give no other path than `-`\n",
        ),
        (
            Request(overrides=Overrides(select=("AD1O1",))),
            'error: --select: there is no rule "AD1O1"; did you mean AD101 (accumulated-loss)?\n',
        ),
        (Request(config="gone.toml"), "error: gone.toml: cannot read: no such file or folder\n"),
    ],
)
def test_wrong_use(run: Runner, name: str, request_: Request, message: str) -> None:
    Path("a.py").write_text("LEAK\n")
    assert run(name, request_) == (TROUBLE, "", message)
    assert Path("a.py").read_text() == "LEAK\n"


@pytest.mark.parametrize(
    ("request_", "option"),
    [
        (Request(interactive=True, output_file="y"), "--output-file"),
        (Request(interactive=True, output_format=JSON), "--output-format"),
        (Request(interactive=True, statistics=True), "--statistics"),
    ],
)
def test_a_dialogue_prints_no_list(run: Runner, request_: Request, option: str) -> None:
    message = f"error: --interactive shows findings one by one and prints no list; give it without {option}\n"
    assert run("fix", request_) == (TROUBLE, "", message)


def test_a_dialogue_ends_quietly(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autodetach.commands.run.Run.walk", lambda _: None)
    assert run("fix", Request(interactive=True, quiet=True)) == (CLEAN, "", "")


def test_wrong_settings_stop_everything_before_a_file_is_changed(run: Runner) -> None:
    Path("a.py").write_text("LEAK\n")
    Path("b").mkdir()
    Path("b/c.py").write_text("LEAK\n")
    Path("b/pyproject.toml").write_text("[tool.autodetach]\nselct = []\n")
    message = (
        f"error: {os.path.join('b', 'pyproject.toml')}: [tool.autodetach] selct: unknown key; did you mean `select`?\n"
    )
    assert run("fix") == (TROUBLE, "", message)
    assert Path("a.py").read_text() == "LEAK\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_quiet_leaves_results_and_errors(run: Runner, name: str) -> None:
    Path("a.py").write_text("STUCK LEAK\n".replace(" ", " = "))
    ran = run(name, Request(paths=("a.py", "gone.py"), quiet=True))
    assert ran.err == "gone.py: error: no such file or folder\n"
    assert ran.out != ""


def test_colours_follow_the_stream_that_is_written_to(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.py").write_text("LEAK\n")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in run("check").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in run("check").out


def test_a_rule_is_explained_by_code_or_name(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for text in ("AD101", "ad101", "accumulated-loss"):
        assert showing.rule(text) == CLEAN
        assert capfdbinary.readouterr() == (b"# AD101: accumulated-loss\n\nText.\n", b"")


def test_all_rules_are_listed(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert showing.rule(None) == CLEAN
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert lines[0].split() == ["code", "name", "what", "it", "finds", "fix"]
    assert [line.split()[:2] for line in lines[1:]] == [[code, name] for code, name in fake_checker.NAMES.items()]
    assert all(line.endswith("  Always safe") for line in lines[1:])
    assert len({line.index("Finds") for line in lines[1:]}) == 1, "the columns stand below each other"


def test_rules_are_listed_by_their_codes(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autodetach.settings.selection.RULES", tuple(reversed(selection.RULES)))
    showing.rule(None)
    lines = capfdbinary.readouterr().out.decode().splitlines()[1:]
    assert [line.split()[0] for line in lines] == sorted(fake_checker.NAMES)
    showing.config(None, Request(output_format=JSON))
    assert json.loads(capfdbinary.readouterr().out)["rules"] == sorted(fake_checker.NAMES)


def test_an_unknown_rule(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert showing.rule("AD1O1") == TROUBLE
    message = b'error: there is no rule "AD1O1"; did you mean AD101 (accumulated-loss)?\n'
    assert capfdbinary.readouterr() == (b"", message)


def test_an_interrupt(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    Path("a.py").write_text("x\n")
    monkeypatch.setattr("autodetach.perform.check", interrupt)
    assert run("check") == (INTERRUPTED, "", "")


def test_a_fault_of_our_own_is_one_line(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object, **__: object) -> None:
        raise ValueError("two\nlines")

    Path("a.py").write_text("LEAK\n")
    monkeypatch.setattr(checking, "render", crash)
    ran = run("check")
    assert ran.code == TROUBLE
    assert ran.err.startswith("error: internal error in crash, line ")
    assert ran.err.endswith(": ValueError: two lines; please report it\n")


def test_a_folder_that_is_gone(run: Runner, tmp_path: Path) -> None:
    Path("gone").mkdir()
    os.chdir("gone")
    os.rmdir(tmp_path / "gone")
    try:
        assert run("check") == (TROUBLE, "", "error: the current folder is gone\n")
    finally:
        os.chdir(tmp_path)


def test_an_error_of_the_system_names_its_file(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        Path("a/gone.txt").read_bytes()

    Path("a.py").write_text("LEAK\n")
    monkeypatch.setattr(checking, "render", missing)
    assert run("check") == (TROUBLE, "", "error: a/gone.txt: no such file or folder\n")


def test_results_go_to_a_file(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    Path("a.py").write_text("x = LEAK\n")
    text = run("check", Request(output_file="out"))
    assert text == (FINDINGS, "", "Found 1 finding in 1 file; `autodetach fix` repairs 1.\n")
    assert Path("out").read_text().startswith("a.py:1:5: AD101 accumulated-loss: `LEAK` keeps its graph\n")
    run("check", Request(output_file="out", output_format=JSON))
    assert json.loads(Path("out").read_text())[0]["code"] == "AD101"
    assert run("diff", Request(output_file="out")).out == ""
    assert Path("out").read_text() == "--- a/a.py\n+++ b/a.py\n@@ -1,1 +1,1 @@\n-x = LEAK\n+x = DONE\n"
    assert run("fix", Request(output_file="out"))[:2] == (CLEAN, "")
    assert (Path("out").read_text(), Path("a.py").read_text()) == ("", "x = DONE\n")
    assert run("diff", Request(output_file="new"))[:2] == (CLEAN, "")
    assert Path("new").read_bytes() == b""


def test_standard_input_and_a_file_for_what_is_left(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, b"LEAK\nSTUCK\n")
    ran = run("fix", Request(paths=("-",), output_file="left"))
    assert ran == (FINDINGS, "DONE\nSTUCK\n", "Found 2, fixed 1, 1 left.\n")
    assert Path("left").read_text().startswith("-:2:1: AD102")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_that_cannot_be_written_is_told_before_any_work(run: Runner, name: str) -> None:
    Path("a.py").write_text("LEAK\n")
    file = os.path.join("gone", "out")
    assert run(name, Request(output_file=file)) == (
        TROUBLE,
        "",
        f"error: --output-file {file}: there is no folder gone\n",
    )
    assert run(name, Request(output_file="")).err == "error: --output-file : a name is missing\n"
    assert Path("a.py").read_text() == "LEAK\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_results_never_take_the_place_of_a_source(run: Runner, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("script").write_text("LEAK\n")
    Path("link").symlink_to("script")
    for paths, file in ((("script",), "script"), (("script",), "link"), (("-",), "fixed.py"), (("-",), "new.ipynb")):
        stdin(monkeypatch, b"LEAK\n")
        message = f"error: --output-file {file}: findings or patches go there, and this is a source\n"
        assert run(name, Request(paths=paths, output_file=file)) == (TROUBLE, "", message)
    assert Path("script").read_text() == "LEAK\n"
    assert sorted(os.listdir()) == ["link", "script"]


def test_a_file_that_cannot_be_written_at_the_end(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.py").write_text("LEAK\n")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    ran = run("check", Request(output_file="out"))
    assert ran == (TROUBLE, "", "error: --output-file out: cannot write: no space left on device\n")
    assert sorted(os.listdir()) == ["a.py"]


def test_statistics(run: Runner) -> None:
    Path("a.py").write_text("LEAK\nLEAK\nSTUCK\nRISK\n")
    ran = run("check", Request(statistics=True))
    assert ran.code == FINDINGS
    assert ran.out.splitlines() == [
        "2  AD101  [*] accumulated-loss",
        "1  AD102  [ ] stored-graph",
        "1  AD201  [ ] walked-twice",
        "[*] `autodetach fix` repairs all",
    ]
    counted = json.loads(run("check", Request(statistics=True, output_format=JSON)).out)
    assert counted[0] == {
        "code": "AD101",
        "name": "accumulated-loss",
        "count": 2,
        "fixable": True,
        "fixable_count": 2,
        "unsafe_fixable_count": 0,
    }
    assert [(one["count"], one["fixable_count"], one["unsafe_fixable_count"]) for one in counted[1:]] == [
        (1, 0, 0),
        (1, 0, 1),
    ]
    lines = run("check", Request(statistics=True, output_format=OutputFormat.JSON_LINES)).out.splitlines()
    assert [json.loads(line) for line in lines] == counted
    assert run("fix", Request(statistics=True)).out.splitlines() == [
        "1  AD102  [ ] stored-graph",
        "1  AD201  [ ] walked-twice",
    ]


def test_statistics_of_nothing(run: Runner) -> None:
    Path("a.py").write_text("x = 1\n")
    assert run("check", Request(statistics=True))[:2] == (CLEAN, "")
    assert run("check", Request(statistics=True, output_format=JSON)).out == "[]\n"


def test_statistics_are_refused_where_a_schema_has_no_place_for_them(run: Runner) -> None:
    message = "error: --statistics can be printed as text, concise, grouped, json, json-lines, not as sarif\n"
    assert run("check", Request(statistics=True, output_format=OutputFormat.SARIF)) == (TROUBLE, "", message)


def test_exit_zero(run: Runner) -> None:
    Path("a.py").write_text("STUCK\n")
    for name in COMMANDS:
        assert run(name, Request(exit_zero=True)).code == CLEAN
        assert run(name, Request(exit_zero=True, paths=("gone.py", "a.py"))).code == TROUBLE


@pytest.mark.parametrize(("text", "code"), [("LEAK\n", FINDINGS), ("STUCK\n", FINDINGS), ("x = 1\n", CLEAN)])
def test_exit_non_zero_on_fix(run: Runner, text: str, code: int) -> None:
    Path("a.py").write_text(text)
    assert run("fix", Request(exit_non_zero_on_fix=True)).code == code
    Path("a.py").write_text(text)
    assert run("fix", Request(exit_non_zero_on_fix=True, exit_zero=True)).code == CLEAN


@pytest.mark.parametrize("output_format", OutputFormat)
def test_every_format_has_a_file_that_cannot_be_read_beside_findings(run: Runner, output_format: OutputFormat) -> None:
    Path("a.py").write_text("LEAK\n")
    Path("b.py").write_text("(\n")
    ran = run("check", Request(output_format=output_format))
    assert (ran.code, "b.py:1: error: syntax error" in ran.err, "AD101" in ran.out) == (TROUBLE, True, True)


def test_services_get_paths_from_the_top_of_the_checkout(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("sub").mkdir()
    Path("sub/a.py").write_text("LEAK\n")
    monkeypatch.chdir("sub")
    monkeypatch.delenv("CI_PROJECT_DIR", raising=False)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert ",file=sub/a.py," in run("check", Request(output_format=OutputFormat.GITHUB)).out
    assert '"uri": "sub/a.py"' in run("check", Request(output_format=OutputFormat.SARIF)).out
    assert '"path": "a.py"' in run("check", Request(output_format=OutputFormat.GITLAB)).out
    monkeypatch.setenv("CI_PROJECT_DIR", str(tmp_path))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "other"))
    assert '"path": "sub/a.py"' in run("check", Request(output_format=OutputFormat.GITLAB)).out
    assert ",file=a.py," in run("check", Request(output_format=OutputFormat.GITHUB)).out
