"""Of which weights losses refuse to be differentiated: what PyTorch says, and what is then told of their graphs."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

PROGRAM = """
import torch
import torch.nn.functional as F
from torch import nn

model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
raw = torch.ones(3, requires_grad=True)
w = raw.exp()
{made}
for x in torch.randn(4, 8, 4):
    labels = torch.randint(0, 3, (8,))
    shares = torch.rand(8, 3)
    out = model(x)
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
REFUSED = [
    ("nn.CrossEntropyLoss(w)", "criterion(out, labels)"),
    ("nn.CrossEntropyLoss(weight=w, label_smoothing=0.1)", "criterion(out, labels)"),
    ("nn.NLLLoss(weight=w)", "criterion(out.log_softmax(1), labels)"),
    ("nn.MultiMarginLoss(weight=w)", "criterion(out, labels)"),
    ("nn.BCELoss(w)", "criterion(out.sigmoid(), shares)"),
    ("nn.BCEWithLogitsLoss(pos_weight=w)", "criterion(out, shares)"),
    ("None", "F.cross_entropy(out, labels, w)"),
    ("None", "F.nll_loss(out.log_softmax(1), labels, weight=w)"),
    ("None", "F.binary_cross_entropy(out.sigmoid(), shares, w)"),
    ("None", "F.binary_cross_entropy_with_logits(out, shares, pos_weight=w)"),
    ("None", "F.multi_margin_loss(out, labels, weight=w)"),
]
TAKEN = [
    ("nn.CrossEntropyLoss(w)", "criterion(out, shares)"),
    ("nn.MultiLabelSoftMarginLoss(w)", "criterion(out, shares)"),
    ("None", "F.cross_entropy(out, shares, w)"),
    ("None", "(w * F.cross_entropy(out, labels, reduction='none').mean()).sum()"),
]


def _codes(made: str, loss: str) -> list[str]:
    program = PROGRAM.format(made=f"criterion = {made}", loss=loss)
    found = check(Source.from_bytes(program.encode(), "train.py"), CheckOptions(), path="train.py")
    return [finding.code for finding in found.findings]


def _loss(made: str, loss: str) -> torch.Tensor:
    names: dict[str, object] = {"nn": nn, "F": F, "w": torch.ones(3, requires_grad=True).exp()}
    names |= {"out": torch.randn(8, 3), "labels": torch.randint(0, 3, (8,)), "shares": torch.rand(8, 3)}
    names["criterion"] = eval(made, names)
    result = eval(loss, names)
    assert isinstance(result, torch.Tensor)
    return result


@pytest.mark.parametrize(("made", "loss"), REFUSED)
def test_refused(made: str, loss: str) -> None:
    with pytest.raises(RuntimeError, match=r"not differentiable with respect to argument '(pos_)?weight'"):
        _loss(made, loss)
    assert _codes(made, loss) == []


@pytest.mark.parametrize(("made", "loss"), TAKEN)
def test_taken(made: str, loss: str) -> None:
    assert _loss(made, loss).requires_grad
    assert _codes(made, loss) == ["AD301"]


@pytest.mark.parametrize(("made", "loss"), REFUSED)
def test_nothing_is_refused_of_constants(made: str, loss: str) -> None:
    with_constant = loss.replace("=w)", "=w.detach())").replace(" w)", " w.detach())")
    assert _codes(made.replace("(w)", "(w.detach())").replace("=w", "=w.detach()"), with_constant) == []


def test_cross_entropy_of_targets_of_which_nothing_is_known_may_be_one_of_shares() -> None:
    text = PROGRAM.format(made="from data import loader", loss="F.cross_entropy(out, target, w.exp())")
    text = text.replace("for x in torch.randn(4, 8, 4):", "total = 0\nfor x, target in loader:")
    text += "    total += loss\nprint(total)\n"
    found = check(Source.from_bytes(text.encode(), "train.py"), CheckOptions(), path="train.py").findings
    assert "AD101" in [finding.code for finding in found]
