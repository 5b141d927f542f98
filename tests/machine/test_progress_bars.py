"""A loop over a progress bar is one over what the bar was given; no such library is installed here."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

HEAD = """\
import torch
{imports}
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.randn(100, 8, 4)
kept = []


def losses_of(batches):
    for x in batches:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        yield loss
"""
BARS = [
    ("from tqdm import tqdm", "tqdm({})"),
    ("from tqdm.auto import tqdm as shown", "shown({}, total=100)"),
    ("import tqdm", "tqdm.tqdm(iterable={}, desc='training')"),
    ("import tqdm.notebook", "tqdm.notebook.tqdm({})"),
    ("from tqdm.contrib import tmap", "tmap(lambda loss: loss, {})"),
    ("from rich.progress import track", "track({}, description='training')"),
]
LOOP = """
for loss in {bar}:
    kept.append(loss)
print(len(kept))
"""
OF_WITH = """
with {bar} as bar:
    for loss in bar:
        kept.append(loss)
        bar.set_postfix(loss=loss)
    print(bar.n, len(bar))
"""
COUNTING = """
for step, loss in enumerate({bar}):
    kept.append(loss)
"""


def _told(source: str) -> list[tuple[str, str, str | None]]:
    """The findings of a program: their codes, the texts of their lines, and how safe their repairs are."""
    text = source.replace("\t", "    ")
    found = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions(alternatives=False)).findings
    lines = text.splitlines()
    return [
        (f.code, lines[text.count("\n", 0, f.span.start)].strip(), f.fix and f.fix.applicability.value) for f in found
    ]


@pytest.mark.parametrize("loop", [LOOP, OF_WITH, COUNTING])
@pytest.mark.parametrize(("imports", "bar"), BARS, ids=[bar for _, bar in BARS])
def test_items_come_through_a_bar(imports: str, bar: str, loop: str) -> None:
    told = _told(HEAD.format(imports=imports) + loop.format(bar=bar.format("losses_of(data)")))
    assert told == [("AD102", "kept.append(loss)", "safe")]


@pytest.mark.parametrize("over", ["range(100)", "tqdm(range(100))", "trange(5, 100)", "tqdm(range(rounds))"])
def test_counted_bars_are_long(over: str) -> None:
    body = f"""

def run(rounds):
    total = 0
    for _ in {over}:
        total = total + model(data[0]).mean()
    print(total)
"""
    told = _told(HEAD.format(imports="from tqdm import tqdm, trange") + body)
    assert [code for code, _, _ in told] == ["AD101"]


def test_a_bar_that_goes_over_again_has_its_items_again() -> None:
    body = """

class Batches:
    def __iter__(self):
        for _ in range(20):
            yield torch.randn(8, 4)


bar = tqdm(Batches())
for x in bar:
    print(x.mean())
for x in bar:
    optimizer.zero_grad()
    loss = model(x).mean()
    loss.backward()
    optimizer.step()
    kept.append(loss)
"""
    assert [code for code, _, _ in _told(HEAD.format(imports="from tqdm import tqdm") + body)] == ["AD102"]


@pytest.mark.parametrize("over", ["layers", "tqdm(layers)", "tqdm(list(enumerate(layers)), total=3)"])
def test_layers_behind_a_bar_are_layers(over: str) -> None:
    target = "i, layer" if "enumerate" in over else "layer"
    body = f"""

layers = torch.nn.ModuleList([torch.nn.Linear(4, 4) for _ in range(30)])
state = data[0]
for {target} in {over}:
    state = layer(state)
    kept.append(state.norm())
sum(kept).backward()
"""
    assert _told(HEAD.format(imports="from tqdm import tqdm") + body) == []


def test_what_only_counts_shows_what_it_is_told() -> None:
    body = """

with tqdm(total=100) as bar:
    for x in data:
        optimizer.zero_grad()
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        bar.set_postfix(loss=loss)
        bar.update()
"""
    assert _told(HEAD.format(imports="from tqdm import tqdm") + body) == []
