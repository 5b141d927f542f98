"""Engines of DeepSpeed, which is not installed here, train models that may be out of view: losses kept beside them."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

TRAINING = """\
import deepspeed
import torch.nn.functional as F


def train(args, model, batches):
    MADE
    kept, total = [], 0.0
    for x, y in batches:
        loss = F.cross_entropy(engine(x), y)
        engine.backward(loss)
        engine.step()
        STORED
    print(total / len(batches), sum(kept) / len(batches))
"""

MADE = (
    "engine, *_ = deepspeed.initialize(args=args, model=model)",
    "engine, _, _, _ = deepspeed.initialize(args, model, model_parameters=model.parameters())",
    "engine = deepspeed.initialize(model=load(args.path), config=args.config)[0]",
)


def told(made: str, stored: str) -> list[str]:
    text = TRAINING.replace("MADE", made).replace("STORED", stored)
    findings = check(Source.from_text(text, "program.py"), CheckOptions()).findings
    return [f"{f.code}: {f.fix.message if f.fix else None}" for f in findings]


@pytest.mark.parametrize("made", MADE)
def test_graphs_are_kept(made: str) -> None:
    assert told(made, "total += loss") == ["AD101: accumulate the number: `.item()` on `loss`"]
    assert told(made, "kept.append(loss)") == ["AD102: store the number: `.item()` on `loss`"]


@pytest.mark.parametrize("made", MADE)
def test_numbers_are_kept(made: str) -> None:
    assert told(made, "total += loss.item()") == []
    assert told(made, "kept.append(loss.detach())") == []
