"""Children of an observed program tell what is their own, once, and their parent tells the rest."""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

import pytest

from .program_runs import diagnoses, run
from .warm import Warm

TOOL = ("-m", "autodetach", "run", "--trace")
TRAIN = """
import multiprocessing
import torch

model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

def train(kept, passes=12):
    for i in range(passes):
        loss = model(torch.rand(4, 3)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        kept.append(loss)
    return kept
"""


def paragraphs(report: str) -> dict[str, set[str]]:
    """The names of headlines by the process that says them, "" for the first."""
    found: dict[str, set[str]] = {}
    for part in re.split(r"^(?=\[process \d+\]$)", report, flags=re.M):
        head = re.match(r"\[process (\d+)\]\n", part)
        for number, said in enumerate(diagnoses(part)):
            # Behind what a child says, its parent may go on.
            found.setdefault(head[1] if head and not number else "", set()).update(said.names[:1])
    return found


def test_a_forked_child_tells_its_own_growth(python: Warm, tmp_path: Path) -> None:
    (tmp_path / "it.py").write_text(
        TRAIN
        + textwrap.dedent(
            """
            def work():
                inner = []
                train(inner)

            if __name__ == "__main__":
                outer = train([])
                context = multiprocessing.get_context("fork")
                child = context.Process(target=work)
                child.start()
                child.join()
                print(child.exitcode)
            """
        )
    )
    ran = python(*TOOL, "it.py", cwd=tmp_path)
    assert ran.out == "0\n", ran.err
    said = paragraphs(ran.err)
    assert list(said.values()) == [{"kept"}, {"kept"}] and "" in said, ran.err


def test_a_forked_child_is_silent_of_what_its_parent_has_done(python: Warm, tmp_path: Path) -> None:
    (tmp_path / "it.py").write_text(
        TRAIN
        + textwrap.dedent(
            """
            def work():
                with torch.no_grad():
                    model(torch.rand(4, 3))

            if __name__ == "__main__":
                outer = train([])
                for i in range(3):
                    loss = model(torch.rand(4, 3)).pow(2).mean()
                    loss.backward(retain_graph=True)
                context = multiprocessing.get_context("fork")
                children = [context.Process(target=work) for i in range(2)]
                for child in children:
                    child.start()
                for child in children:
                    child.join()
                train(outer)
            """
        )
    )
    ran = python(*TOOL, "it.py", cwd=tmp_path)
    assert "[process" not in ran.err
    assert sorted(said.kind for said in diagnoses(ran.err)) == ["growing graph", "unused retained graph"], ran.err


def test_workers_of_a_loader_repeat_nothing(python: Warm, tmp_path: Path) -> None:
    (tmp_path / "it.py").write_text(
        TRAIN
        + textwrap.dedent(
            """
            class Squares(torch.utils.data.Dataset):
                def __len__(self):
                    return 16
                def __getitem__(self, i):
                    return torch.full((3,), float(i))

            if __name__ == "__main__":
                losses = []
                for epoch in range(3):
                    loader = torch.utils.data.DataLoader(
                        Squares(), batch_size=4, num_workers=2, multiprocessing_context="fork"
                    )
                    for x in loader:
                        loss = model(x / 16).pow(2).mean()
                        optimizer.zero_grad()
                        loss.backward()
                        optimizer.step()
                        losses.append(loss)
                print(len(losses))
            """
        )
    )
    ran = python(*TOOL, "it.py", cwd=tmp_path)
    assert ran.out == "12\n", ran.err
    assert paragraphs(ran.err) == {"": {"losses"}}, ran.err
    assert "autodetach:" not in ran.err.replace("autodetach: `autodetach run --diff`", ""), ran.err


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_spawned_child_tells_its_own_growth(tmp_path: Path) -> None:
    (tmp_path / "it.py").write_text(
        TRAIN
        + textwrap.dedent(
            """
            def work():
                inner = []
                train(inner)

            if __name__ == "__main__":
                context = multiprocessing.get_context("spawn")
                child = context.Process(target=work)
                child.start()
                child.join()
                print(child.exitcode)
            """
        )
    )
    ran = run([sys.executable, *TOOL, "it.py"], tmp_path)
    assert ran.out == "0\n", ran.err
    said = paragraphs(ran.err)
    assert list(said.values()) == [{"kept"}] and "" not in said, ran.err


def test_a_thread_that_trains_alone(python: Warm, tmp_path: Path) -> None:
    (tmp_path / "it.py").write_text(
        TRAIN
        + textwrap.dedent(
            """
            import threading

            def work():
                h = torch.zeros(1, 3)
                cell = torch.nn.RNNCell(3, 3)
                for i in range(3):
                    h = cell(torch.rand(1, 3), h) # carried
                    h.sum().backward()

            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            """
        )
    )
    ran = python(*TOOL, "it.py", cwd=tmp_path)
    (said,) = diagnoses(ran.err)
    assert said.names == ("h",)
    source = (tmp_path / "it.py").read_text().splitlines()
    assert {n for n, line in enumerate(source, 1) if line.endswith("# carried")} <= said.lines, said.text


def test_threads_that_share_a_graph(python: Warm, tmp_path: Path) -> None:
    (tmp_path / "it.py").write_text(
        TRAIN
        + textwrap.dedent(
            """
            from concurrent.futures import ThreadPoolExecutor

            trunk = model(torch.rand(4, 3)).tanh() # shared
            heads = [torch.nn.Linear(1, 1) for i in range(2)]

            def work(i):
                out = heads[i](trunk)
                loss = out.pow(2).mean()
                loss.backward()

            with ThreadPoolExecutor(1) as pool:
                list(pool.map(work, [0]))
            with ThreadPoolExecutor(1) as pool:
                list(pool.map(work, [1]))
            """
        )
    )
    ran = python(*TOOL, "it.py", cwd=tmp_path)
    (said,) = diagnoses(ran.err)
    assert said.names == ("trunk",)
    assert "an earlier call of line" in said.text
    source = (tmp_path / "it.py").read_text().splitlines()
    assert {n for n, line in enumerate(source, 1) if line.endswith("# shared")} <= said.lines, said.text
