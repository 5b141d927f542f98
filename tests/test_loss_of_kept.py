"""A loss of what a loop has kept, which nothing differentiates: it is safe to cut only what is trained."""

from __future__ import annotations

import pytest

from autodetach.candidates.loss_of_kept import TRIED
from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

DECODER = """\
import torch
from torch import nn

cell, out, embedding = nn.GRUCell(4, 4), nn.Linear(4, 5), nn.Embedding(5, 4)
words = torch.randint(0, 5, (40, 3))
{before}
outputs, state, word = torch.zeros(40, 3, 5), torch.zeros(3, 4), torch.zeros(3, dtype=torch.long)
for step in range(40):
    state = cell(embedding(word), state)
    outputs[step] = out(state)
    word = words[step]
loss = {loss}
print(loss.item())
"""
MODEL = """\
import torch
from torch import nn

net, criterion = nn.Linear(4, 2), nn.MSELoss()
{before}
outputs, targets = [], []
for step in range(400):
    outputs.append(net(torch.randn(3, 4)))
    targets.append(torch.randn(3, 2))
outputs, targets = torch.cat(outputs), torch.cat(targets)
print({loss})
"""
TRAINED = """optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(5):
    batch_loss = criterion(net(torch.randn(3, 4)), torch.randn(3, 2))
    optimizer.zero_grad()
    batch_loss.backward()
    optimizer.step()"""
GATHERED = "-torch.log_softmax(outputs, 2).gather(2, words.unsqueeze(2)).squeeze(2).mean()"


def doubts(source: str) -> list[tuple[str, str | None]]:
    findings = check(Source.from_bytes(source.encode(), "loss.py"), CheckOptions()).findings
    return [(f.code, f.fix.why_unsafe) for f in findings if f.fix is not None]


@pytest.mark.parametrize("loss", ["nn.functional.cross_entropy(outputs.view(-1, 5), words.view(-1))", GATHERED])
def test_a_trial_of_a_decoder_is_not_surely_without_gradient(loss: str) -> None:
    assert doubts(DECODER.format(before="", loss=loss)) == [("AD302", TRIED), ("AD101", TRIED)]


def test_what_is_no_loss_is() -> None:
    assert doubts(DECODER.format(before="", loss="outputs.mean()")) == [("AD302", None), ("AD101", None)]


@pytest.mark.parametrize("loss", ["criterion(outputs, targets)", "(outputs - targets).pow(2).mean().item()"])
def test_what_nothing_has_trained_yet_is_not_surely_without_gradient(loss: str) -> None:
    assert doubts(MODEL.format(before="", loss=loss)) == [("AD102", TRIED)]
    assert doubts(MODEL.format(before="net.eval()", loss=loss)) == [("AD102", None)]
    assert doubts(MODEL.format(before=TRAINED, loss=loss)) == [("AD102", None)]


@pytest.mark.parametrize("shown", ["outputs.mean().item()", "(outputs - 1).abs().mean()", "outputs.std()"])
def test_a_mere_number_of_it_is(shown: str) -> None:
    assert doubts(MODEL.format(before="", loss=shown)) == [("AD102", None)]
