"""The language server as an editor meets it: a process, and messages."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsp_client import EVERYTHING, PATIENCE, Client, Json, ServerError

LEAK = """\
import torch


def train(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss
    print(total / len(loader))
"""
CLEAN = LEAK.replace("+= loss\n", "+= loss.item()\n")
STATE = """\
import torch


def train(rnn, loader, optimizer):
    h = torch.zeros(1, 4, 8)
    for x, y in loader:
        optimizer.zero_grad()
        out, h = rnn(x, h)
        loss = torch.nn.functional.mse_loss(out, y)
        loss.backward()
        optimizer.step()
"""
HELPER = "def keep(losses, loss):\n    losses.append(loss)\n"
PROGRAM = """\
import torch

from helper import keep


def train(model, loader, optimizer):
    losses = []
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        keep(losses, loss)
    print(sum(losses) / len(losses))
"""
FITS = "fit(torch.nn.Linear(4, 1), [torch.randn(8, 4) for _ in range(3)])\n"
ENGINE = f"""\
import torch

history = []


def evaluate(net, data):
    total = 0.0
    for x in data:
        total = total + net(x).pow(2).mean()
    return total


def fit(net, data):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in data:
        loss = net(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss)


if __name__ == "__main__":
    {FITS}    print([f"{{loss:.4f}}" for loss in history])
    net = torch.nn.Linear(4, 1)
    print(f"{{evaluate(net, [torch.randn(8, 4) for _ in range(3)]):.4f}}")
"""
HUGE = "import torch\n" + "".join(
    f"\n\ndef train_{n}(model, loader, optimizer, a, b, c, d):\n"
    "    for x, y in loader:\n"
    "        for p in model.parameters():\n"
    "            y = y if a else p.sum() * y if b else y\n"
    "        loss = torch.nn.functional.mse_loss(model(x), y) if c else model(x).sum()\n"
    "        if d:\n            loss = loss * 2\n"
    "        loss.backward()\n        optimizer.step()\n"
    for n in range(60)
)
"""Takes long enough to be interrupted."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "sample"\n')
    return folder


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path / "cache") as client:
        yield client


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path.as_uri()


def whole(text: str) -> Json:
    return {"start": {"line": 0, "character": 0}, "end": {"line": text.count("\n") + 1, "character": 0}}


def applied(text: str, edits: list[Json]) -> str:
    """What an editor makes of text edits; columns as in ASCII."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def offset(at: Json) -> int:
        return sum((starts[at["line"]], at["character"]))

    for edit in sorted(edits, key=lambda e: offset(e["range"]["start"]), reverse=True):
        text = text[: offset(edit["range"]["start"])] + edit["newText"] + text[offset(edit["range"]["end"]) :]
    return text


def edits_of(action: Json) -> dict[str, list[Json]]:
    return {one["textDocument"]["uri"]: one["edits"] for one in action["edit"]["documentChanges"]}


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "autodetach", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, timeout=PATIENCE, check=False)


def test_a_finding_is_published_with_its_story_and_its_rule(project: Path, client: Client) -> None:
    uri = write(project, "train.py", LEAK)
    client.initialize(project)
    client.open(uri, LEAK)
    (found,) = client.diagnostics(uri, 1)
    assert (found["code"], found["source"], found["severity"]) == ("AD101", "autodetach", 2)
    assert found["range"] == {"start": {"line": 10, "character": 8}, "end": {"line": 10, "character": 21}}
    rule = Path(found["codeDescription"]["href"].removeprefix("file://"))
    assert rule.read_text().startswith("# accumulated-loss (AD101)")
    related = found["relatedInformation"]
    assert [one["location"]["range"]["start"]["line"] for one in related] == [7, 8, 10, 5]
    assert "a new graph for `loss`" in related[0]["message"]
    assert {one["location"]["uri"] for one in related} == {uri}
    assert client.stop() == 0


def test_findings_are_those_of_the_command_line(project: Path, client: Client) -> None:
    text = LEAK + STATE.replace("def train", "def other")
    uri = write(project, "train.py", text)
    said = json.loads(run("check", "--output-format", "json", ".", cwd=project).stdout)
    client.initialize(project)
    client.open(uri, text)
    shown = client.diagnostics(uri, 1)
    assert len(shown) == 2
    for one, finding in zip(shown, said, strict=True):
        assert (one["code"], one["message"]) == (finding["code"], finding["message"])
        start = one["range"]["start"]
        assert (start["line"] + 1, start["character"] + 1) == (
            finding["location"]["row"],
            finding["location"]["column"],
        )
        assert [r["message"] for r in one["relatedInformation"]] == [step["text"] for step in finding["story"]]
        actions = client.actions(uri, one["range"])
        fixes = [fix for fix in (finding["fix"], *finding["alternatives"]) if fix]
        assert len(fixes) > 1
        for action, fix in zip(actions, fixes, strict=False):
            assert fix["message"] in action["title"]
            assert ("unsafe" in action["title"]) is (fix["applicability"] == "unsafe")
            assert [e["newText"] for e in edits_of(action)[uri]] == [e["content"] for e in fix["edits"]]


def test_repairs_come_in_order_and_only_a_safe_one_is_preferred(project: Path, client: Client) -> None:
    uri = write(project, "train.py", LEAK)
    client.initialize(project)
    client.open(uri, LEAK, version=7)
    (found,) = client.diagnostics(uri, 7)
    actions = client.actions(uri, found["range"])
    assert [action["title"] for action in actions] == [
        "AD101: accumulate the number: `.item()` on `loss`",
        "AD101: accumulate the value without its graph: `.detach()` on `loss`",
        "AD101: ignore on this line",
        "AD101: show the page of accumulated-loss",
        "autodetach: fix all that is safe",
    ]
    assert [action.get("isPreferred") for action in actions] == [True, None, None, None, None]
    assert [action["kind"] for action in actions] == [*["quickfix"] * 4, "source.fixAll.autodetach"]
    assert actions[0]["edit"]["documentChanges"][0]["textDocument"] == {"uri": uri, "version": 7}
    assert applied(LEAK, edits_of(actions[0])[uri]) == CLEAN
    assert client.actions(uri, {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 0}})[:-1] == []

    write(project, "state.py", STATE)
    other = (project / "state.py").as_uri()
    client.open(other, STATE)
    (found,) = client.diagnostics(other)
    first = client.actions(other, found["range"])[0]
    assert "(unsafe: " in first["title"] and first.get("isPreferred") is None


def test_the_comment_that_ignores_does_so(project: Path, client: Client) -> None:
    client.initialize(project)
    long = LEAK.replace("total += loss\n", "total += (\n            loss  # the loss\n        )\n")
    for name, text in {"train.py": LEAK, "long.py": long, "ending.py": LEAK.replace("\n", "\r\n")}.items():
        uri = write(project, name, text)
        client.open(uri, text)
        (found,) = client.diagnostics(uri, 1)
        (action,) = (a for a in client.actions(uri, found["range"], ["quickfix"]) if "ignore" in a["title"])
        ignored = applied(text, edits_of(action)[uri])
        assert "  # autodetach: ignore[AD101]" in ignored
        (project / name).write_bytes(ignored.encode())
        assert run("check", name, cwd=project).returncode == 0
        client.change(uri, 2, {"text": ignored})
        assert client.diagnostics(uri, 2) == []


def test_another_code_joins_a_list_that_is_there(project: Path, client: Client) -> None:
    text = LEAK.replace("+= loss\n", "+= loss  # autodetach: ignore[AD201] why\n")
    uri = write(project, "train.py", text)
    client.initialize(project)
    client.open(uri, text)
    idle, found = client.diagnostics(uri, 1)
    if idle["code"] != "AD901":
        idle, found = found, idle
    assert (idle["code"], found["code"]) == ("AD901", "AD101")
    (action,) = (a for a in client.actions(uri, found["range"], ["quickfix"]) if "AD101: ignore" in a["title"])
    assert "# autodetach: ignore[AD201, AD101] why\n" in applied(text, edits_of(action)[uri])


def test_fix_all_is_what_fix_does(project: Path, client: Client) -> None:
    text = LEAK + STATE.replace("def train", "def other") + LEAK.replace("def train", "def third")
    uri = write(project, "train.py", text)
    client.initialize(project)
    client.open(uri, text)
    client.diagnostics(uri, 1)
    (action,) = client.actions(uri, whole(text), ["source.fixAll"])
    assert action["kind"] == "source.fixAll.autodetach"
    run("fix", "train.py", cwd=project)
    assert applied(text, edits_of(action)[uri]) == (project / "train.py").read_text() != text
    assert client.actions(uri, whole(text), ["source.organizeImports"]) == []
    # Without being asked for by name, it is worked out when somebody chooses it.
    lazy = client.actions(uri, whole(text))[-1]
    assert "edit" not in lazy
    client.request("workspace/executeCommand", {**lazy["command"], "title": None})
    (asked,) = (params for method, params in client.asked if method == "workspace/applyEdit")
    assert edits_of(asked) == edits_of(action)


def test_repairs_are_right_for_programs_that_import_the_file(project: Path, client: Client) -> None:
    uri = write(project, "engine.py", ENGINE)
    client.initialize(project)
    client.open(uri, ENGINE)
    client.diagnostics(uri, 1)
    numbers, tensors = (ENGINE.replace("append(loss)", f"append(loss.{how}())") for how in ("item", "detach"))
    with_total = [text.replace(".mean()\n    return", ".mean().item()\n    return") for text in (numbers, tensors)]

    def repaired() -> str:
        (action,) = client.actions(uri, whole(ENGINE), ["source.fixAll"])
        return applied(ENGINE, edits_of(action)[uri])

    def preferred() -> list[str]:
        found = [a for a in client.actions(uri, whole(ENGINE)) if a.get("isPreferred")]
        return [applied(ENGINE, edits_of(action)[uri]) for action in found]

    assert repaired() == with_total[0]
    assert numbers in preferred()
    plots = f"{FITS}print(torch.stack(history).mean())\n"
    write(project, "plot.py", f"import torch\nfrom engine import fit, history\n\n{plots}")
    client.change(uri, 2, {"text": ENGINE + "\n"})
    client.diagnostics(uri, 2)
    assert repaired() == with_total[1]
    assert tensors in preferred() and numbers not in preferred()


def test_what_a_program_that_imports_the_file_differentiates_is_not_repaired(project: Path, client: Client) -> None:
    uri = write(project, "engine.py", ENGINE)
    train = write(project, "train.py", "import torch\n")
    client.initialize(project)
    client.open(uri, ENGINE)
    client.diagnostics(uri, 1)
    client.open(train, "import torch\n")
    trains = "evaluate(torch.nn.Linear(4, 1), [torch.randn(8, 4) for _ in range(3)]).backward()\n"
    client.change(train, 2, {"text": f"import torch\nfrom engine import evaluate\n\n{trains}"})
    # Neither text is the one on disk.
    text = "# The engine.\n\n" + ENGINE
    client.change(uri, 2, {"text": text})
    client.diagnostics(uri, 2)
    (action,) = client.actions(uri, whole(text), ["source.fixAll"])
    assert applied(text, edits_of(action)[uri]) == text.replace("append(loss)", "append(loss.item())")
    repairs = [a for a in client.actions(uri, whole(text), ["quickfix"]) if a.get("isPreferred")]
    assert [applied(text, edits_of(a)[uri]) for a in repairs] == [text.replace("append(loss)", "append(loss.item())")]


def test_a_repair_of_the_file_itself_is_offered_before_one_elsewhere(project: Path, client: Client) -> None:
    loop = "    for x in batches:\n        h = step(net, x, h)\n        optimizer.zero_grad()\n"
    loop += "        h.sum().backward()\n        optimizer.step()\n"
    engine = "import torch\n\n\ndef step(net, x, h):\n    return torch.tanh(net(x) + h)\n\n\ndef fit(net, batches):\n"
    engine += f"    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n    h = torch.zeros(2, 4)\n{loop}\n\n"
    engine += "if __name__ == '__main__':\n    fit(torch.nn.Linear(4, 4), torch.randn(5, 2, 4))\n"
    use = engine.replace("def step(net, x, h):\n    return torch.tanh(net(x) + h)", "from engine import step")
    uri = write(project, "engine.py", engine)
    write(project, "use.py", use)
    client.initialize(project)
    client.open(uri, engine)
    client.diagnostics(uri, 1)
    offered = [edits_of(a) for a in client.actions(uri, whole(engine), ["quickfix"]) if "edit" in a]
    assert offered and all(list(by_file) == [uri] for by_file in offered)


def test_fix_all_is_resolved_by_editors_that_resolve(project: Path, client: Client) -> None:
    uri = write(project, "train.py", LEAK)
    document = {**EVERYTHING["textDocument"]}
    document["codeAction"] = {**document["codeAction"], "resolveSupport": {"properties": ["edit"]}}
    client.initialize(project, capabilities={**EVERYTHING, "textDocument": document})
    client.open(uri, LEAK)
    client.diagnostics(uri, 1)
    lazy = client.actions(uri, whole(LEAK))[-1]
    assert "edit" not in lazy and "command" not in lazy
    assert applied(LEAK, edits_of(client.request("codeAction/resolve", lazy))[uri]) == CLEAN


def test_hover_tells_the_story_and_the_page(project: Path, client: Client) -> None:
    uri = write(project, "train.py", LEAK)
    client.initialize(project)
    client.open(uri, LEAK)
    where = {"textDocument": {"uri": uri}, "position": {"line": 10, "character": 10}}
    text = client.request("textDocument/hover", where)["contents"]["value"]
    assert text.startswith("**[AD101 accumulated-loss](file://")
    assert f"1. [line 8]({uri}#L8): every pass builds a new graph for `loss`" in text
    assert "## Why is this bad" in text
    where["position"] = {"line": 2, "character": 0}
    assert client.request("textDocument/hover", where) is None


def test_the_page_of_a_rule_is_shown(project: Path, client: Client) -> None:
    client.initialize(project, capabilities={**EVERYTHING, "window": {"showDocument": {"support": True}}})
    client.request("workspace/executeCommand", {"command": "autodetach.showRule", "arguments": ["AD101"]})
    client.request("workspace/executeCommand", {"command": "autodetach.showRule", "arguments": ["AD999"]})
    assert "there is no rule AD999" in client.wait("window/showMessage")["message"]
    (shown,) = (params for method, params in client.asked if method == "window/showDocument")
    assert shown["uri"].endswith("/AD101.md")


def test_imports_are_followed_in_unsaved_texts(project: Path, client: Client) -> None:
    helper = write(project, "helper.py", HELPER.replace("loss)\n", "loss.item())\n").replace("item())", "item()) ", 0))
    program = write(project, "train.py", PROGRAM)
    client.initialize(project)
    client.open(program, PROGRAM)
    assert client.diagnostics(program, 1) == []
    # What is on disk keeps numbers; what is in the editor keeps history.
    client.open(helper, HELPER)
    found: list[Json] = []
    while not found:
        found = client.diagnostics(helper) or found
    (one,) = found
    assert one["code"] == "AD102" and one["range"]["start"]["line"] == 1
    assert {r["location"]["uri"] for r in one["relatedInformation"]} == {helper, program}
    action = client.actions(helper, one["range"])[0]
    assert edits_of(action).keys() <= {helper, program}
    changed = {uri: applied(HELPER if uri == helper else PROGRAM, edits) for uri, edits in edits_of(action).items()}
    for uri, text in changed.items():
        client.change(uri, 2, {"text": text})
    while client.diagnostics(helper) != []:
        pass


def test_settings_hold_and_are_read_again(project: Path, client: Client) -> None:
    uri = write(project, "train.py", LEAK)
    client.initialize(project)
    client.open(uri, LEAK)
    assert len(client.diagnostics(uri, 1)) == 1
    (registered,) = (params for method, params in client.asked if method == "client/registerCapability")
    globs = [w["globPattern"] for w in registered["registrations"][0]["registerOptions"]["watchers"]]
    assert "**/pyproject.toml" in globs and "**/*.py" in globs
    settings = project / "pyproject.toml"

    def set_to(text: str) -> None:
        settings.write_text(text)
        client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": settings.as_uri(), "type": 2}]})

    for ignoring in (
        '[tool.autodetach]\nignore = ["AD1"]\n',
        '[tool.autodetach.per-file-ignores]\n"train.py" = ["accumulated-loss"]\n',
        '[tool.autodetach]\nextend-exclude = ["train.py"]\n',
    ):
        set_to(ignoring)
        assert client.diagnostics(uri) == []
        set_to("")
        assert len(client.diagnostics(uri)) == 1
    set_to("[tool.autodetach]\nselct = []\n")
    assert "unknown key; did you mean `select`?" in client.wait("window/showMessage")["message"]
    assert client.diagnostics(uri) == []


def test_a_baseline_holds(project: Path, client: Client) -> None:
    write(project, "train.py", LEAK)
    assert run("check", "--write-baseline", "known.json", cwd=project).returncode == 0
    (project / "pyproject.toml").write_text('[tool.autodetach]\nbaseline = "known.json"\n')
    client.initialize(project)
    uri = (project / "train.py").as_uri()
    for version, (text, codes) in enumerate({"\n" + LEAK: [], LEAK + STATE: ["AD302"]}.items(), start=1):
        if version == 1:
            client.open(uri, text)
        else:
            client.change(uri, version, {"text": text})
        assert [one["code"] for one in client.diagnostics(uri, version)] == codes


def test_a_new_baseline_is_heard_of(project: Path, client: Client) -> None:
    uri = write(project, "train.py", LEAK)
    known = project / "known.json"
    assert run("check", "--write-baseline", known.name, cwd=project).returncode == 0
    recorded = known.read_text()
    known.write_text(recorded.replace("train.py", "other.py"))
    (project / "pyproject.toml").write_text('[tool.autodetach]\nbaseline = "known.json"\n')
    client.initialize(project)
    client.open(uri, LEAK)
    assert len(client.diagnostics(uri, 1)) == 1
    (registered,) = (params for method, params in client.asked if method == "client/registerCapability")
    globs = [w["globPattern"] for w in registered["registrations"][0]["registerOptions"]["watchers"]]
    assert "**/known.json" in globs
    known.write_text(recorded)
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": known.as_uri(), "type": 2}]})
    assert client.diagnostics(uri) == []


def test_what_a_walk_leaves_out_is_left_out(project: Path, client: Client) -> None:
    (project / ".git").mkdir()
    (project / ".gitignore").write_text("scratch/\n")
    client.initialize(project)
    for name, wanted in {".venv/lib/a.py": 0, "scratch/a.py": 0, "src/a.py": 1}.items():
        uri = write(project, name, LEAK)
        client.open(uri, LEAK)
        assert len(client.diagnostics(uri, 1)) == wanted, name


def test_a_file_that_changes_on_disk_counts(project: Path, client: Client) -> None:
    helper = write(project, "helper.py", HELPER)
    program = write(project, "train.py", PROGRAM)
    client.initialize(project)
    client.open(program, PROGRAM)
    assert len(client.diagnostics(helper)) == 1
    write(project, "helper.py", HELPER.replace("(loss)", "(loss.item())"))
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": helper, "type": 2}]})
    assert client.diagnostics(helper) == []
    write(project, "helper.py", HELPER)
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": helper, "type": 2}]})
    assert len(client.diagnostics(helper)) == 1
    client.notify("textDocument/didClose", {"textDocument": {"uri": program}})
    assert client.diagnostics(helper) == []


def test_text_that_is_no_python_is_said_to_be_none(project: Path, client: Client) -> None:
    uri = write(project, "train.py", LEAK)
    client.initialize(project)
    client.open(uri, LEAK)
    client.diagnostics(uri, 1)
    client.change(uri, 2, {"text": LEAK.replace("loss.backward()", "loss.backward(")})
    (found,) = client.diagnostics(uri, 2)
    assert found["message"].startswith("syntax error: ") and found["severity"] == 1
    assert found["range"]["start"]["line"] == 8
    client.change(uri, 3, {"text": "# coding: latin-1\n" + "# \u20ac\n" + LEAK})
    (found,) = client.diagnostics(uri, 3)
    assert "has no '\\u20ac'" in found["message"] and found["range"]["start"]["line"] == 1
    client.change(uri, 4, {"text": LEAK})
    assert [one["code"] for one in client.diagnostics(uri, 4)] == ["AD101"]


@pytest.mark.parametrize(("encoding", "width"), [("utf-8", 4), ("utf-16", 2), ("utf-32", 1)])
def test_columns_count_as_the_editor_counts(project: Path, client: Client, encoding: str, width: int) -> None:
    text = LEAK.replace("    total += loss", "    '\U0001d11e'; total += loss")
    uri = write(project, "train.py", text)
    offered = {**EVERYTHING, "general": {"positionEncodings": [encoding, "utf-16"]}}
    assert client.initialize(project, capabilities=offered)["positionEncoding"] == encoding
    client.open(uri, text)
    (found,) = client.diagnostics(uri, 1)
    column = 8 + 2 + width + 2
    assert found["range"]["start"] == {"line": 10, "character": column}
    (edit,) = edits_of(client.actions(uri, found["range"])[0])[uri]
    at = {"line": 10, "character": column + len("total += loss")}
    assert edit == {"range": {"start": at, "end": at}, "newText": ".item()"}
    client.change(uri, 2, {"range": {"start": at, "end": at}, "text": ".item()"})
    assert client.diagnostics(uri, 2) == []


def test_without_a_word_about_encodings_it_is_utf_16(project: Path, client: Client) -> None:
    assert client.initialize(project, capabilities={})["positionEncoding"] == "utf-16"


def test_edits_without_versions_for_editors_that_know_none(project: Path, client: Client) -> None:
    uri = write(project, "train.py", LEAK)
    client.initialize(project, capabilities={})
    client.open(uri, LEAK)
    (found,) = client.diagnostics(uri)
    edit = client.actions(uri, found["range"])[0]["edit"]
    assert "documentChanges" not in edit
    assert applied(LEAK, edit["changes"][uri]) == CLEAN


PULLING = {
    **EVERYTHING,
    "textDocument": {**EVERYTHING["textDocument"], "diagnostic": {"dynamicRegistration": False}},
    "workspace": {**EVERYTHING["workspace"], "diagnostics": {"refreshSupport": True}},
}


def test_diagnostics_are_pulled(project: Path, client: Client) -> None:
    uri = write(project, "train.py", LEAK)
    client.initialize(project, capabilities=PULLING)
    client.open(uri, LEAK)
    about = {"textDocument": {"uri": uri}}
    full = client.request("textDocument/diagnostic", about)
    assert full["kind"] == "full" and [one["code"] for one in full["items"]] == ["AD101"]
    again = client.request("textDocument/diagnostic", {**about, "previousResultId": full["resultId"]})
    assert again == {"kind": "unchanged", "resultId": full["resultId"]}
    client.change(uri, 2, {"text": CLEAN})
    after = client.request("textDocument/diagnostic", {**about, "previousResultId": full["resultId"]})
    assert after["kind"] == "full" and after["items"] == []
    assert all(method != "textDocument/publishDiagnostics" for method, _ in client.notified)


def test_a_workspace_is_scanned_with_progress(project: Path, client: Client) -> None:
    first, second = write(project, "a.py", LEAK), write(project, "pkg/b.py", CLEAN)
    elsewhere = project.parent / "other"
    third = write(elsewhere, "c.pyw", STATE)
    (elsewhere / "pyproject.toml").write_text('[tool.autodetach]\ninclude = ["*.pyw", "*.ipynb"]\n')
    write(elsewhere, "closed.ipynb", "no notebook")
    client.initialize(project, elsewhere, capabilities=PULLING)
    params: dict[str, Any] = {"previousResultIds": [], "workDoneToken": "scan"}
    items = {one["uri"]: one for one in client.request("workspace/diagnostic", params)["items"]}
    assert {uri: [d["code"] for d in one["items"]] for uri, one in items.items()} == {
        first: ["AD101"],
        second: [],
        third: ["AD302"],
    }
    steps = [params["value"] for method, params in client.notified if method == "$/progress"]
    assert [step["kind"] for step in steps] == ["begin", *["report"] * 3, "end"]
    assert steps[0]["cancellable"] and steps[3]["percentage"] == 100
    params["previousResultIds"] = [{"uri": uri, "value": one["resultId"]} for uri, one in items.items()]
    write(project, "a.py", CLEAN)
    later = {one["uri"]: one for one in client.request("workspace/diagnostic", params)["items"]}
    assert {uri: one["kind"] for uri, one in later.items()} == {first: "full", second: "unchanged", third: "unchanged"}
    assert later[first]["items"] == []


def test_a_command_scans_for_editors_that_do_not_pull(project: Path, client: Client) -> None:
    uri = write(project, "a.py", LEAK)
    client.initialize(project, capabilities={**EVERYTHING, "window": {"workDoneProgress": True}})
    client.request("workspace/executeCommand", {"command": "autodetach.checkWorkspace"})
    kinds = [params["value"]["kind"] for method, params in client.notified if method == "$/progress"]
    assert kinds == ["begin", "report", "end"]
    assert [one["code"] for one in client.diagnostics(uri)] == ["AD101"]


def test_a_scan_can_be_ended_by_its_progress(project: Path, client: Client) -> None:
    for number in range(40):
        write(project, f"{number}.py", HUGE)
    client.initialize(project, capabilities={**PULLING, "window": {"workDoneProgress": True}})
    number = client.send("workspace/diagnostic", {"previousResultIds": [], "workDoneToken": 5})
    assert client.wait("$/progress")["value"]["kind"] == "begin"
    client.notify("window/workDoneProgress/cancel", {"token": 5})
    assert client.answer_or_code(number) == -32800
    number = client.send("workspace/executeCommand", {"command": "autodetach.checkWorkspace"})
    token = client.wait("$/progress", lambda p: p["value"]["kind"] == "begin")["token"]
    client.notify("window/workDoneProgress/cancel", {"token": token})
    assert client.answer_or_code(number) is None
    assert client.stop() == 0


def test_folders_come_and_go(project: Path, client: Client) -> None:
    other = project.parent / "other"
    uri = write(other, ".venv/a.py", LEAK)
    client.initialize(project)
    client.open(uri, LEAK)
    assert len(client.diagnostics(uri, 1)) == 1  # named by hand, as on the command line
    change = {"added": [{"uri": other.as_uri(), "name": "other"}], "removed": []}
    client.notify("workspace/didChangeWorkspaceFolders", {"event": change})
    assert client.diagnostics(uri) == []


def test_a_cancelled_request_is_answered_as_the_protocol_wants(project: Path, client: Client) -> None:
    client.initialize(project, capabilities=PULLING)
    uri = write(project, "huge.py", HUGE)
    client.open(uri, HUGE)
    for method in ("textDocument/diagnostic", "textDocument/hover", "textDocument/codeAction", "workspace/diagnostic"):
        params: dict[str, Json] = {"textDocument": {"uri": uri}, "previousResultIds": []}
        params |= {"position": {"line": 0, "character": 0}, "range": whole(HUGE), "context": {"diagnostics": []}}
        number = client.send(method, params)
        client.cancel(number)
        with pytest.raises(ServerError) as error:
            client.answer(number)
        assert error.value.code == -32800, method
        client.cancel(number)  # a second time, and it is too late: nothing happens
    client.change(uri, 2, {"text": LEAK})
    found = client.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    assert [one["code"] for one in found["items"]] == ["AD101"]
    assert client.stop() == 0


def test_a_new_edit_ends_the_analysis_of_the_old_text(project: Path, client: Client) -> None:
    client.initialize(project)
    uri = write(project, "train.py", LEAK)
    client.open(uri, LEAK)
    client.diagnostics(uri, 1)
    branches = "".join(f"        if a.f{n}:\n            y = model(y) * {n}\n" for n in range(80))
    several = (f"def f{n}(model, xs, a):\n    for y in xs:\n{branches}        y.backward()\n" for n in range(150))
    client.change(uri, 2, {"text": "import torch\n" + "".join(several)})
    time.sleep(0.3)
    client.change(uri, 3, {"text": LEAK})
    published = client.wait("textDocument/publishDiagnostics", lambda p: p["uri"] == uri)
    assert published["version"] == 3 and len(published["diagnostics"]) == 1


def test_unknown_requests_are_refused_and_unknown_texts_ignored(project: Path, client: Client) -> None:
    client.initialize(project)
    with pytest.raises(ServerError) as error:
        client.request("textDocument/unheardOf", {})
    assert error.value.code == -32601
    client.change((project / "never_opened.py").as_uri(), 2, {"text": "x"})
    client.notify("textDocument/didClose", {"textDocument": {"uri": (project / "never_opened.py").as_uri()}})
    assert client.actions((project / "never_opened.py").as_uri(), whole("x")) == []
    client.open("untitled:Untitled-1", LEAK)
    assert len(client.diagnostics("untitled:Untitled-1", 1)) == 1
    assert client.stop() == 0


def cell(number: int, text: str) -> Json:
    return {"uri": f"vscode-notebook-cell:/n.ipynb#{number}", "languageId": "python", "version": 1, "text": text}


def test_the_cells_of_a_notebook_are_one_program(project: Path, client: Client) -> None:
    client.initialize(project)
    head = "%matplotlib inline\nimport torch\nmodel = torch.nn.Linear(4, 1)\n"
    head += "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\ntotal = 0.0"
    loop = LEAK[LEAK.index("    for x") :].replace("\n    ", "\n").removeprefix("    ").replace("loader", "range(9)")
    loop = loop.replace("x, y in", "n in").replace("model(x), y", "model(torch.ones(3, 4)), torch.ones(3, 1)")
    loop = loop.replace("print(total / len(range(9)))\n", "print(total)")
    cells = [cell(1, head), cell(2, loop)]
    uri = (project / "n.ipynb").as_uri()
    notebook = {
        "uri": uri,
        "notebookType": "jupyter-notebook",
        "version": 1,
        "cells": [{"kind": 2, "document": one["uri"]} for one in cells],
    }
    client.notify("notebookDocument/didOpen", {"notebookDocument": notebook, "cellTextDocuments": cells})
    (found,) = client.diagnostics(cells[1]["uri"], 1)
    line = loop.split("\n").index("    total += loss")
    assert found["code"] == "AD101" and found["range"]["start"] == {"line": line, "character": 4}
    action = client.actions(cells[1]["uri"], found["range"])[0]
    ((at, edits),) = edits_of(action).items()
    assert at == cells[1]["uri"]
    assert applied(loop, edits) == loop.replace("+= loss\n", "+= loss.item()\n")

    def change(version: int, **what: Json) -> None:
        params = {"notebookDocument": {"uri": uri, "version": version}, "change": {"cells": what}}
        client.notify("notebookDocument/didChange", params)

    for edit in edits:
        document = {"uri": at, "version": 2}
        change(2, textContent=[{"document": document, "changes": [edit | {"text": edit["newText"]}]}])
    assert client.diagnostics(at, 2) == []
    array = {"start": 0, "deleteCount": 0, "cells": [{"kind": 2, "document": cell(3, "")["uri"]}]}
    change(3, structure={"array": array, "didOpen": [cell(3, "total = (")]})
    (broken,) = client.diagnostics(cell(3, "")["uri"])
    assert broken["message"].startswith("syntax error")
    # The other cells are looked at all the same.
    change(4, textContent=[{"document": {"uri": at, "version": 3}, "changes": [{"text": loop}]}])
    (found,) = client.diagnostics(at, 3)
    assert found["code"] == "AD101"
    assert (broken["range"]["start"]["line"], broken["severity"]) == (0, 1)
    client.notify("notebookDocument/didClose", {"notebookDocument": {"uri": uri}, "cellTextDocuments": []})
    assert client.stop() == 0


def test_a_port_of_this_machine(project: Path, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    command = [sys.executable, "-m", "autodetach", "server", "--tcp", f"127.0.0.1:{port}"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}).encode()
        for _ in range(200):
            try:
                connection = socket.create_connection(("127.0.0.1", port), PATIENCE)
                break
            except ConnectionRefusedError:
                time.sleep(0.1)
        with connection:
            connection.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            assert b'"positionEncoding"' in connection.recv(65536)
        process.kill()


def test_wrong_use_is_one_line(project: Path) -> None:
    for arguments, said in {
        ("--tcp", "0.0.0.0:99"): "listens on this machine only",
        ("--tcp", "here"): "--tcp takes HOST:PORT, not here",
        ("--tcp", "127.0.0.1:99", "--port", "98"): "not both",
    }.items():
        ran = run("server", *arguments, cwd=project)
        assert ran.returncode == 2 and ran.stdout == b""
        assert said in ran.stderr.decode() and ran.stderr.count(b"\n") == 1


def test_without_pygls_it_says_what_to_install(project: Path, tmp_path: Path) -> None:
    hiding = tmp_path / "hiding"
    hiding.mkdir()
    (hiding / "sitecustomize.py").write_text("import sys\nsys.modules['pygls'] = None\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(hiding), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "autodetach", "server"]
    ran = subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE, check=False)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.decode() == 'error: the language server needs pygls 2: pip install "autodetach[lsp]"\n'
