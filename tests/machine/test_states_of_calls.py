"""States that a function carries through its loop, and that somebody may want: nothing is told of them."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

SCORES_IF_ASKED = """\
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.GRUCell(5, 5)


def spell(first, length=100, with_scores=False):
    letter = torch.tensor([first])
    state = torch.zeros(1, 5)
    found = []
    for _ in range(length):
        state = model(nn.functional.one_hot(letter, 5).float(), state)
        letter = state.argmax(dim=1)
        found.append(state if with_scores else letter)
    return torch.cat(found)


optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    print(epoch, spell(0).tolist()[:4])
loss = -spell(1, with_scores=True).amax(dim=1).mean()
optimizer.zero_grad()
loss.backward()
optimizer.step()
print(loss.item())
"""
SCORES_BY_OTHERS = """\
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.GRUCell(5, 5)


def spell(first, length=100, wanted="letters"):
    letter = torch.tensor([first])
    state = torch.zeros(1, 5)
    found = []
    for _ in range(length):
        state = model(nn.functional.one_hot(letter, 5).float(), state)
        letter = state.argmax(dim=1)
        if wanted == "letters":
            found.append(letter)
        else:
            found.append(state)
    return torch.cat(found)


if __name__ == "__main__":
    for first in range(5):
        print(first, spell(first).tolist()[:4])
"""
BY_OTHERS_IN_LINE = """\
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.GRUCell(5, 5)


def spell(first, length=100, wanted="letters"):
    letter = torch.tensor([first])
    state = torch.zeros(1, 5)
    found = []
    for _ in range(length):
        state = model(nn.functional.one_hot(letter, 5).float(), state)
        letter = state.argmax(dim=1)
        found.append(letter if wanted == "letters" else state)
    return torch.cat(found)


if __name__ == "__main__":
    for first in range(5):
        print(first, spell(first).tolist()[:4])
"""
SHORT = """\
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.GRUCell(5, 5)


def spell(first, length):
    letter = torch.tensor([first])
    state = torch.zeros(1, 5)
    word = [first]
    for _ in range(length):
        state = model(nn.functional.one_hot(letter, 5).float(), state)
        letter = state.argmax(dim=1)
        word.append(letter.item())
    return word


for first in range(5):
    print(spell(first, 12))
"""


@pytest.mark.parametrize("text", [SCORES_IF_ASKED, SCORES_BY_OTHERS, BY_OTHERS_IN_LINE, SHORT])
def test_what_may_be_wanted_or_is_small_is_not_told(text: str) -> None:
    assert not check(Source.from_bytes(text.encode(), "spell.py"), CheckOptions(), path="spell.py").findings


def test_the_same_is_told_where_nobody_gets_it() -> None:
    text = SHORT.replace("spell(first, 12)", "spell(first, 200)")
    found = check(Source.from_bytes(text.encode(), "spell.py"), CheckOptions(), path="spell.py").findings
    assert [finding.code for finding in found] == ["AD302"]
