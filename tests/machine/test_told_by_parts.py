"""What is done with a part of something unknown tells that the whole is no tensor, and what is left in it."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

TRAINING = """\
import torch


def train(loader, net, compute):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    kept = []
    for x, y in loader:
        out = compute(net(x), y)
        optimizer.zero_grad()
        {before}.backward()
        optimizer.step()
        {after}
        kept.append(out)
    print(len(kept))
"""


def found(before: str, after: str = "pass") -> list[tuple[str, bool]]:
    source = Source.from_bytes(TRAINING.format(before=before, after=after).encode(), "train.py")
    return [(f.code, f.fix is not None) for f in check(source, CheckOptions()).findings]


@pytest.mark.parametrize("before", ["out[0]", "out['loss']", "out.loss", "out[-1]"])
def test_what_a_differentiated_part_was_taken_from_has_no_detach(before: str) -> None:
    assert found(before) == [("AD102", False)]


@pytest.mark.parametrize("before", ["out", "out.sum()", "(out[0] + out[1])", "out.mean(0)[0]", "out[out > 0].sum()"])
def test_what_may_be_a_tensor_is_detached(before: str) -> None:
    assert found(before) == [("AD102", True)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("out[0]", "out[0] = out[0].item()"),
        ("out[0]", "out[0] = out[0].data[0]"),
        ("out[0]", "out[0] = 0.0"),
        ("out['a']", "out['a'] = round(float(out['a']), 3)"),
        ("(out[0] + out[1])", "out[0] = out[0].item(); out[1] = out[1].item()"),
        ("sum(out)", "\n        for i in range(len(out)): out[i] = out[i].item()"),
        ("(out['a'] + out['b'])", "\n        for k in out: out[k] = out[k].item()"),
    ],
)
def test_numbers_in_their_places_have_no_history(before: str, after: str) -> None:
    assert "AD102" not in [code for code, _ in found(before, after)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("out.sum()", "out[0] = 0.0"),
        ("out.sum()", "out[x > 0] = 0.0"),
        ("(out['a'] + out['b'])", "out['a'] = out['a'].item()"),
        ("(out[0] + out[1])", "out[0] = out[0].item()"),
    ],
)
def test_a_number_beside_others_leaves_theirs(before: str, after: str) -> None:
    assert [code for code, _ in found(before, after)] == ["AD102"]


def test_other_parts_of_one_graph_need_it_while_numbers_take_the_places_of_the_first() -> None:
    text = TRAINING.format(before="out[0]", after="pass").replace(
        "        out[0].backward()\n",
        "        for i in range(len(out)):\n"
        "            out[i].backward(retain_graph=True)\n"
        "            out[i] = out[i].item()\n",
    )
    assert "retain_graph" in text
    assert not check(Source.from_bytes(text.encode(), "train.py"), CheckOptions()).findings
