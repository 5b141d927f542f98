"""Every fixture is a program: what its name promises is measured on the installed PyTorch.

A folder `fixtures/RULE/` holds

* `NAME.before.py` and `NAME.after.py`: a program with the fault, and what a careful person made of it. `before` raises,
  leaks, or leaves weights untrained (SYMPTOMS has the rules whose fault looks different); `after` neither raises, nor
  leaks, nor retains a graph in vain.
* `NAME.quiet.py`: a healthy program that looks like the fault. The same is asked of it as of an `after`.
* `NAME.reference.py`, where an author wants one: the same training written another way, say with a forward pass of its
  own for every loss, or with `autograd.grad`. It has the weights of `after` to the bit, and it differentiates the same
  values, in whatever order, or, where it splits or joins the backward calls, prints the same to the character.
* `NAME.report.py`, where a rule can only tell: it has the fault of a `before`, and no repair that a machine may choose.

What `before` computes until it ends or raises, `after` computes too, to the bit: the value of every root of a backward,
and the weights of the first three steps of every optimizer. A repair which changes what is differentiated, as those of
some rules must, has only the first step in common, and only if `before` gets that far.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from graph_harness import Observation, observe, observe_all

FIXTURES = Path(__file__).parents[2] / "fixtures"
PROGRAM = re.compile(r"(?P<name>\w+)\.(?P<role>before|after|quiet|reference|report)\.py")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")

# Rules whose repairs change no number of the training.
SAME_TRAINING = {"accumulated-loss", "data-index", "discarded-detach", "stored-history", "superfluous-retain-graph"}


def raises_or_leaks(seen: Observation) -> bool:
    return seen.error is not None or seen.leaks


def raises_leaks_or_stands_still(seen: Observation) -> bool:
    """Without an operation that saves tensors, a graph from outside the loop gives the same loss in every pass."""
    return raises_or_leaks(seen) or len(set(seen.losses)) == 1


def retains_in_vain(seen: Observation) -> bool:
    return seen.error is None and bool(seen.useless_retains)


def raises_index_error_if_at_all(seen: Observation) -> bool:
    """`.data[0]` and `.data.numpy()[0]` raise, `.data.item()` is merely dated."""
    told = (
        "IndexError: invalid index of a 0-dim tensor",
        "IndexError: too many indices for array: array is 0-dim",
        "TypeError: 'float' object is not subscriptable",
    )
    return seen.error is None or seen.error.startswith(told)


SYMPTOMS: dict[str, Callable[[Observation], bool]] = {
    "data-index": raises_index_error_if_at_all,
    "graph-outside-loop": raises_leaks_or_stands_still,
    "superfluous-retain-graph": retains_in_vain,
}


def folders() -> list[Path]:
    """The folders of the rules."""
    others = {"hidden", "notebooks", "projects"}
    return sorted(
        path
        for path in FIXTURES.iterdir()
        if path.is_dir() and not path.name.startswith((".", "_")) and path.name not in others
    )


def programs(folder: Path, role: str) -> Iterator[str]:
    """The names of the fixtures that have a program of this role."""
    for path in sorted(folder.iterdir()):
        match = PROGRAM.fullmatch(path.name)
        if match and match["role"] == role:
            yield match["name"]


def each(role: str) -> pytest.MarkDecorator:
    found = [(folder, name) for folder in folders() for name in programs(folder, role)]
    return pytest.mark.parametrize(("folder", "name"), found, ids=[f"{folder.name}/{name}" for folder, name in found])


@functools.cache
def observations(folder: Path) -> dict[Path, Observation]:
    return observe_all(sorted(path for path in folder.iterdir() if PROGRAM.fullmatch(path.name)))


def seen_in(folder: Path, name: str, role: str) -> Observation:
    path = folder / f"{name}.{role}.py"
    if not path.exists():
        pytest.fail(f"{path.name} is missing")
    return observations(folder)[path]


def is_sound(seen: Observation) -> bool:
    return (seen.error, seen.leaks, seen.useless_retains) == (None, False, ())


def test_there_are_fixtures() -> None:
    assert folders()


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_folder_is_complete(folder: Path) -> None:
    strangers = [p.name for p in folder.iterdir() if not PROGRAM.fullmatch(p.name) and p.name != "__pycache__"]
    before, after, quiet, reference, report = (
        set(programs(folder, role)) for role in ("before", "after", "quiet", "reference", "report")
    )
    assert not strangers
    assert before, "no pair"
    assert quiet, "nothing that must stay as it is"
    assert before == after
    assert reference <= before
    assert report.isdisjoint(before)


def retains_for_nobody(folder: Path, name: str, work: Path) -> bool:
    """Without `retain_graph` it raises, and without the graph that this keeps for the next pass it trains the same."""
    before, after = seen_in(folder, name, "before"), seen_in(folder, name, "after")
    return (before.losses, before.weights) == (after.losses, after.weights) and raises_unretained(folder, name, work)


def raises_unretained(folder: Path, name: str, work: Path) -> bool:
    """Whether it raises without `retain_graph`."""
    bare = work / "bare.py"
    bare.write_text((folder / f"{name}.before.py").read_text().replace("retain_graph=True", ""))
    return observe(bare).error is not None


def hides_a_carried_graph(folder: Path, name: str, work: Path) -> bool:
    """Nothing but `torch.autograd.grad` walks it, which is no leak by itself; but the repaired one retains nothing."""
    is_plain = "backward" not in (folder / f"{name}.before.py").read_text()
    is_free = "retain_graph" not in (folder / f"{name}.after.py").read_text()
    return is_plain and is_free and raises_unretained(folder, name, work)


def trains_less(folder: Path, name: str, _: Path) -> bool:
    """A weight that the repaired program changes stays what it was, or all that it prints of gradients is zero.

    Where a term is missed beside others, all weights change, by the same first loss in both, to something else.
    """
    before, after = seen_in(folder, name, "before"), seen_in(folder, name, "after")
    if not before.weights:
        return set(numbers(before.printed)) == {0.0} and set(numbers(after.printed)) != {0.0}
    kept = {at for at, values in enumerate(zip(*before.weights, strict=True)) if len(set(values)) == 1}
    if any(len({step[at] for step in after.weights}) > 1 for at in kept):
        return True
    is_same_at_first = bool(before.losses) and before.losses[:1] == after.losses[:1]
    return not kept and is_same_at_first and before.weights[-1] != after.weights[-1]


@each("before")
def test_before_shows_the_fault(folder: Path, name: str, tmp_path: Path) -> None:
    seen = seen_in(folder, name, "before")
    shown = SYMPTOMS.get(folder.name, raises_or_leaks)(seen)
    others = {
        "graph-outside-loop": retains_for_nobody,
        "carried-state": hides_a_carried_graph,
        "lost-history": trains_less,
    }
    assert shown or (folder.name in others and others[folder.name](folder, name, tmp_path)), seen


@each("report")
def test_report_shows_the_fault(folder: Path, name: str) -> None:
    seen = seen_in(folder, name, "report")
    assert SYMPTOMS.get(folder.name, raises_or_leaks)(seen), seen


@each("after")
def test_after_is_sound(folder: Path, name: str) -> None:
    seen = seen_in(folder, name, "after")
    assert is_sound(seen), seen
    assert seen.printed, "a program that prints nothing shows nothing"


@each("quiet")
def test_quiet_is_sound(folder: Path, name: str) -> None:
    seen = seen_in(folder, name, "quiet")
    assert is_sound(seen), seen
    assert seen.printed, "a program that prints nothing shows nothing"


@each("before")
def test_training_stays_the_same(folder: Path, name: str) -> None:
    before, after = seen_in(folder, name, "before"), seen_in(folder, name, "after")
    if folder.name not in SAME_TRAINING:
        if before.error is None and folder.name == "lost-history":  # what is trained more is so from the first step on
            assert read(before.losses[:1]) == pytest.approx(read(after.losses[:1]))
        elif before.error is None:
            assert before.losses[:1] == after.losses[:1]
            assert before.weights[:1] == after.weights[:1]
        return
    assert before.losses == after.losses[: len(before.losses)]
    assert before.weights == after.weights[: len(before.weights)]
    if before.error is None:
        assert len(before.losses) == len(after.losses)
        assert len(before.weights) == len(after.weights)
        assert numbers(before.printed) == pytest.approx(numbers(after.printed), rel=1e-3, abs=1e-3)


@each("reference")
def test_reference_trains_alike(folder: Path, name: str) -> None:
    after, reference = seen_in(folder, name, "after"), seen_in(folder, name, "reference")
    assert reference.error is None
    assert sorted(after.weights) == sorted(reference.weights)
    assert after.printed == reference.printed or sorted(after.losses) == sorted(reference.losses)


def read(losses: tuple[str, ...]) -> list[float]:
    return [float.fromhex(number) for loss in losses for number in loss.split()]


def numbers(printed: str) -> list[float]:
    """What a person reads: `tensor(0.5, grad_fn=<AddBackward0>)` and `0.5` are the same number."""
    return [float(number) for number in NUMBER.findall(re.sub(r"grad_fn=<\w+>", "", printed))]
