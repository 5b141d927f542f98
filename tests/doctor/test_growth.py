"""What gathers graph for nothing is accused; what gathers it for a reason, or lets it go, is not."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from autodetach.doctor.diagnosis import Kind

from .watching import lines, watch

TRAINING = """
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
def batch():
    return model(torch.rand(4, 3)).pow(2).mean()
def step(loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
LEAKS = {
    "a list": (
        "losses",
        "losses = []\nfor i in range(30):\n    loss = batch()\n    step(loss)\n    losses.append(loss) # here",
    ),
    "a sum": ("total", "total = 0\nfor i in range(30):\n    loss = batch()\n    step(loss)\n    total += loss # here"),
    "a moving average": (
        "ema",
        "ema = 0\nfor i in range(30):\n    loss = batch()\n    step(loss)\n    ema = 0.9 * ema + 0.1 * loss # here",
    ),
    "an attribute of an object": (
        "meter.sum",
        "class Meter: sum = 0\nmeter = Meter()\nfor i in range(30):\n    loss = batch()\n    step(loss)\n"
        "    meter.sum = meter.sum + loss # here",
    ),
    "a list in a dict, by a function of another name": (
        "log",
        "log = {}\ndef note(key, value):\n    log.setdefault(key, []).append(value) # here\n"
        "for i in range(30):\n    loss = batch()\n    step(loss)\n    note('loss', loss)",
    ),
    "a buffer in place": (
        "model.mean",
        "model.register_buffer('mean', torch.zeros(()))\nfor i in range(30):\n    loss = batch()\n    step(loss)\n"
        "    model.mean.mul_(0.9).add_(loss) # here",
    ),
    "outputs without an optimizer": ("kept", "kept = []\nfor i in range(30):\n    kept.append(batch()) # here"),
}


@pytest.mark.parametrize("name", LEAKS)
def test_what_leaks(name: str, tmp_path: Path) -> None:
    path, program = LEAKS[name]
    seen = watch(TRAINING + program, tmp_path)
    assert seen.error is None
    diagnosis = seen.only(Kind.GROWTH)
    assert seen.name() == path
    assert diagnosis.site is not None
    assert [diagnosis.site.line] == seen.marks["here"]
    assert diagnosis.nodes >= 30


LEGITIMATE = {
    "a sum of losses that is differentiated at the end": """
        total = 0
        for i in range(30):
            total = total + batch()
        step(total)
        """,
    "many sums, one after another": """
        for epoch in range(4):
            losses = []
            for i in range(8):
                losses.append(batch())
            step(torch.stack(losses).mean())
        """,
    "reinforce: buffers that are cleared": """
        class Policy: pass
        policy = Policy()
        policy.log_probs = []
        for episode in range(6):
            for t in range(6):
                policy.log_probs.append(model(torch.rand(1, 3)).sigmoid().log())
            step(-torch.cat(policy.log_probs).sum())
            del policy.log_probs[:]
        """,
    "gradient accumulation": """
        for i in range(32):
            loss = batch() / 4
            loss.backward()
            if i % 4 == 3:
                optimizer.step()
                optimizer.zero_grad()
        """,
    "a loss accumulated over windows": """
        window = 0
        for i in range(32):
            window = window + batch()
            if i % 8 == 7:
                step(window)
                window = 0
        """,
    "truncated backpropagation through time": """
        cell = nn.RNNCell(3, 3)
        trainer = torch.optim.SGD(cell.parameters(), lr=0.01)
        h = torch.zeros(1, 3)
        for window in range(12):
            h = h.detach()
            for t in range(5):
                h = cell(torch.rand(1, 3), h)
            trainer.zero_grad()
            h.pow(2).sum().backward()
            trainer.step()
        """,
    "a deque of bounded length": """
        from collections import deque
        recent = deque(maxlen=5)
        for i in range(30):
            loss = batch()
            step(loss)
            recent.append(loss)
        """,
    "a replay buffer without graph": """
        replay = []
        for i in range(30):
            with torch.no_grad():
                action = model(torch.rand(1, 3))
            replay.append((action, batch().detach()))
            step(batch())
        """,
    "an unrolled network": """
        cell = nn.RNNCell(3, 3)
        trainer = torch.optim.SGD(cell.parameters(), lr=0.01)
        for i in range(12):
            h, outputs = torch.zeros(1, 3), []
            for t in range(20):
                h = cell(torch.rand(1, 3), h)
                outputs.append(h)
            trainer.zero_grad()
            torch.cat(outputs).pow(2).sum().backward()
            trainer.step()
        """,
    "a detached moving average": """
        ema = 0
        for i in range(30):
            loss = batch()
            step(loss)
            ema = 0.9 * ema + 0.1 * loss.detach()
        """,
    "the best loss so far": """
        best = None
        for i in range(30):
            loss = batch()
            step(loss)
            if best is None or loss < best:
                best = loss
        """,
    "a few that are kept at the beginning": """
        first = []
        for i in range(30):
            loss = batch()
            step(loss)
            if i < 3:
                first.append(loss)
        """,
    "an inner loop of meta learning": """
        w = nn.Parameter(torch.ones(3))
        meta = torch.optim.SGD([w], lr=0.01)
        for i in range(8):
            fast = w
            for k in range(5):
                (g,) = torch.autograd.grad((fast * torch.rand(3)).pow(2).sum(), fast, create_graph=True)
                fast = fast - 0.1 * g
            meta.zero_grad()
            fast.pow(2).sum().backward()
            meta.step()
        """,
}


@pytest.mark.parametrize("name", LEGITIMATE)
def test_what_has_a_reason(name: str, tmp_path: Path) -> None:
    seen = watch(TRAINING + textwrap.dedent(LEGITIMATE[name]), tmp_path)
    assert seen.error is None
    assert seen.diagnoses == ()


def test_what_grows_on_after_it_was_differentiated(tmp_path: Path) -> None:
    """The first differentiation makes use of it; those after it walk the same again."""
    seen = watch(
        TRAINING + "kept = []\nfor i in range(30):\n    kept.append(batch())\n    if i == 4:\n"
        "        step(torch.stack(kept).mean())",
        tmp_path,
    )
    assert seen.name() == "kept"


RETAIN = {
    "never used": (
        "for i in range(4):\n    optimizer.zero_grad()\n    batch().backward(retain_graph=True) # here\n",
        True,
    ),
    "used at once": (
        "for i in range(4):\n    loss = batch()\n    loss.backward(retain_graph=True)\n    loss.backward()\n",
        False,
    ),
    "used later": (
        "losses = []\nfor i in range(4):\n    losses.append(batch())\n    losses[-1].backward(retain_graph=True)\n"
        "for loss in losses:\n    loss.backward()\n",
        False,
    ),
    "used by autograd.grad": (
        "for i in range(4):\n    loss = batch()\n    loss.backward(retain_graph=True)\n"
        "    torch.autograd.grad(loss, list(model.parameters()))\n",
        False,
    ),
    "used once of many times": (
        "for i in range(6):\n    loss = batch()\n    loss.backward(retain_graph=True)\n    if i == 3:\n"
        "        loss.backward()\n",
        False,
    ),
    "for two losses over one trunk": (
        "for i in range(4):\n    y = model(torch.rand(4, 3)).exp()\n    y.mean().backward(retain_graph=True)\n"
        "    y.pow(2).mean().backward()\n",
        False,
    ),
    "with create_graph": (
        "import warnings\nwarnings.simplefilter('ignore')\nfor i in range(4):\n"
        "    batch().backward(retain_graph=True, create_graph=True)\n",
        False,
    ),
    "once": ("batch().backward(retain_graph=True)\n", False),
}


@pytest.mark.parametrize("name", RETAIN)
def test_a_retained_graph(name: str, tmp_path: Path) -> None:
    program, accused = RETAIN[name]
    seen = watch(TRAINING + program, tmp_path)
    assert seen.error is None
    if not accused:
        assert [each.message for each in seen.diagnoses if each.kind is Kind.RETAINED] == []
        return
    diagnosis = seen.only(Kind.RETAINED)
    assert lines(diagnosis) == seen.marks["here"]
    # The input, 4 x 3, and the output, 4 x 1, of 4 bytes each; the weights are there anyway only once they are stepped.
    assert diagnosis.bytes >= 16 * 4


def test_the_bytes_of_a_retained_graph(tmp_path: Path) -> None:
    seen = watch(
        """
        w = nn.Parameter(torch.ones(1000))
        optimizer = torch.optim.SGD([w], lr=0.1)
        for i in range(4):
            (w * torch.rand(1000)).exp().sum().backward(retain_graph=True)
            optimizer.step()
        """,
        tmp_path,
    )
    # The random factor and the result of exp; in the first pass nobody knows the weight for one.
    assert seen.only(Kind.RETAINED).bytes in (8000, 12000)
