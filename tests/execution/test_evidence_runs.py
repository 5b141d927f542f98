"""Programs whose fault lies in code that is out of view: with what a run has shown they are repaired, and then run.

Each program imports a library that the analysis does not see. The evidence is written by hand, as an observer would
write it. On the installed PyTorch, `before` raises or keeps more graph with every pass, and `after` does neither.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.fixing import fix
from autodetach.machine.evidence import Evidence, Kept, Kind, Observed, Place
from autodetach.source import Source

PATH = "/project/train.py"
LOSS = Observed(Kind.HISTORY, scalar=True)
HISTORY = Observed(Kind.HISTORY, scalar=False)
PLAIN = Observed(Kind.PLAIN, scalar=False)


@dataclass(frozen=True, slots=True)
class Program:
    """`safe`: whether its repair is; `told`: what is said to have been observed; no `after` where all is well."""

    name: str
    library: str
    before: str
    after: str | None
    results: Mapping[str, Observed] = field(default_factory=dict)
    bindings: Mapping[str, Observed] = field(default_factory=dict)
    kept: tuple[tuple[str, int | str, str, bool | None], ...] = ()
    function: str = ""
    safe: bool = True
    told: str = ""

    @property
    def evidence(self) -> Evidence:
        place = Place(PATH, self.function)
        return Evidence(
            {(place, name): seen for name, seen in self.bindings.items()},
            tuple(Kept(place, *kept) for kept in self.kept),
            {(place, text): seen for text, seen in self.results.items()},
        )


MAKE_STEP = """
def make_step(model):
    return lambda batch: model(batch).pow(2).mean()
"""
METERS = """
class AverageMeter:
    def __init__(self):
        self.values = []
    def add(self, value):
        self.values.append(value)
    def track(self, *, step, loss):
        self.values.append(loss)
    def value(self):
        return sum(float(v) for v in self.values) / len(self.values)
"""
CELL = """
import torch
class Cell(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(8, 4)
    def forward(self, x, h):
        return torch.tanh(self.inner(torch.cat([x, h], 1)))
class Pair(Cell):
    def forward(self, x, h):
        h = super().forward(x, h)
        return h.sum(1), h
class Cut(Cell):
    def forward(self, x, h):
        h = super().forward(x, h)
        return h.sum(1), h.detach()
class Engine:
    def __init__(self):
        self.cell = Cell()
        self.state = torch.zeros(1, 4)
    def weights(self):
        return self.cell.parameters()
    def step(self, x):
        self.state = self.cell(x, self.state)
        return self.state * 2
make_cell, make_pair, make_cut, make_engine = Cell, Pair, Cut, Engine
"""

PROGRAMS = [
    Program(
        "a closure of an installed package",
        MAKE_STEP,
        """
        import torch
        from library import make_step

        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        step = make_step(model)
        total = 0
        for batch in torch.randn(20, 4, 2):
            optimizer.zero_grad()
            loss = step(batch)
            loss.backward()
            optimizer.step()
            total += loss
        print(float(total) > 0)
        """,
        """
        import torch
        from library import make_step

        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        step = make_step(model)
        total = 0
        for batch in torch.randn(20, 4, 2):
            optimizer.zero_grad()
            loss = step(batch)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(float(total) > 0)
        """,
        results={"step(batch)": LOSS},
        told="line 10: `step(batch)` returned a tensor with history",
    ),
    Program(
        "the same by the name it is bound to, never differentiated",
        MAKE_STEP,
        """
        import torch
        from library import make_step

        model = torch.nn.Linear(2, 1)
        step = make_step(model)
        total = 0
        for batch in torch.randn(20, 4, 2):
            loss = step(batch)
            total += loss
        print(float(total) > 0)
        """,
        """
        import torch
        from library import make_step

        model = torch.nn.Linear(2, 1)
        step = make_step(model)
        total = 0
        for batch in torch.randn(20, 4, 2):
            loss = step(batch)
            total += loss.item()
        print(float(total) > 0)
        """,
        bindings={"loss": LOSS},
        told="`loss` was a tensor with history",
    ),
    Program(
        "a callable that a metaclass has made",
        """
        import torch
        weights = torch.ones(2, requires_grad=True)
        class Meta(type):
            def __call__(cls, batch):
                return (batch @ weights).pow(2).mean()
        class Score(metaclass=Meta):
            pass
        score = Score
        """,
        """
        import torch
        from library import score

        layer = torch.nn.Identity()
        scores = []
        for batch in torch.randn(20, 4, 2):
            scores.append(score(layer(batch)))
        print(len(scores))
        """,
        """
        import torch
        from library import score

        layer = torch.nn.Identity()
        scores = []
        for batch in torch.randn(20, 4, 2):
            scores.append(score(layer(batch)).item())
        print(len(scores))
        """,
        results={"score(layer(batch))": LOSS},
        told="`score(layer(batch))` returned a tensor with history",
    ),
    Program(
        "code that was made by exec",
        "",
        """
        import torch

        exec("def forward(x): return model(x).pow(2).mean()")
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        history = {"loss": []}
        for batch in torch.randn(20, 4, 2):
            loss = forward(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            history["loss"].append(loss)
        print(len(history["loss"]))
        """,
        """
        import torch

        exec("def forward(x): return model(x).pow(2).mean()")
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        history = {"loss": []}
        for batch in torch.randn(20, 4, 2):
            loss = forward(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            history["loss"].append(loss.item())
        print(len(history["loss"]))
        """,
        results={"forward(batch)": LOSS},
    ),
    Program(
        "a meter of a library",
        METERS,
        """
        import torch
        import library

        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        meter = library.AverageMeter()
        for batch in torch.randn(20, 4, 2):
            loss = model(batch).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            meter.add(loss)
        print(meter.value() > 0)
        """,
        """
        import torch
        import library

        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        meter = library.AverageMeter()
        for batch in torch.randn(20, 4, 2):
            loss = model(batch).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            meter.add(loss.detach())
        print(meter.value() > 0)
        """,
        kept=(("meter.add(loss)", 0, "meter.values[3]", None),),
        told="`meter.add(loss)` keeps `loss` in `meter.values[3]`",
    ),
    Program(
        "a meter that is given a keyword, in a validation without no_grad",
        METERS,
        """
        import torch
        import library

        def validate(model, meter):
            for step, batch in enumerate(torch.randn(20, 4, 2)):
                loss = model(batch).pow(2).mean()
                meter.track(step=step, loss=loss)

        meter = library.AverageMeter()
        validate(torch.nn.Linear(2, 1), meter)
        print(meter.value() > 0)
        """,
        """
        import torch
        import library

        def validate(model, meter):
            for step, batch in enumerate(torch.randn(20, 4, 2)):
                loss = model(batch).pow(2).mean()
                meter.track(step=step, loss=loss.detach())

        meter = library.AverageMeter()
        validate(torch.nn.Linear(2, 1), meter)
        print(meter.value() > 0)
        """,
        kept=(("meter.track(step=step,  loss=loss)", "loss", "meter.values[0]", False),),
        function="validate",
    ),
    Program(
        "a recurrent state inside a library object",
        CELL,
        """
        import torch
        from library import make_engine

        engine = make_engine()
        optimizer = torch.optim.SGD(engine.weights(), lr=0.1)
        for x in torch.randn(20, 1, 4):
            loss = engine.step(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("done")
        """,
        """
        import torch
        from library import make_engine

        engine = make_engine()
        optimizer = torch.optim.SGD(engine.weights(), lr=0.1)
        for x in torch.randn(20, 1, 4):
            loss = engine.step(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            engine.state = engine.state.detach()
        print("done")
        """,
        results={"engine.step(x)": Observed(Kind.HISTORY, False, carries=True, saves=True, state="engine.state")},
        safe=False,
        told="`engine.step(x)` returned a tensor with history that reaches into earlier passes",
    ),
    Program(
        "a state that is handed to a cell of a library, and given back",
        CELL,
        """
        import torch
        from library import make_cell

        class Trainer:
            def __init__(self):
                self.cell = make_cell()
                self.optimizer = torch.optim.SGD(self.cell.parameters(), lr=0.1)
                self.state = torch.zeros(1, 4)

            def step(self, x):
                self.state = self.cell(x, self.state)
                loss = self.state.pow(2).mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()

        trainer = Trainer()
        for x in torch.randn(20, 1, 4):
            trainer.step(x)
        print("done")
        """,
        """
        import torch
        from library import make_cell

        class Trainer:
            def __init__(self):
                self.cell = make_cell()
                self.optimizer = torch.optim.SGD(self.cell.parameters(), lr=0.1)
                self.state = torch.zeros(1, 4)

            def step(self, x):
                self.state = self.cell(x, self.state)
                loss = self.state.pow(2).mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.state = self.state.detach()

        trainer = Trainer()
        for x in torch.randn(20, 1, 4):
            trainer.step(x)
        print("done")
        """,
        results={"self.cell(x, self.state)": Observed(Kind.HISTORY, False, carries=True)},
        function="Trainer.step",
        safe=False,
    ),
    Program(
        "a tuple, of which both parts carry",
        CELL,
        """
        import torch
        from library import make_pair

        rnn = make_pair()
        optimizer = torch.optim.SGD(rnn.parameters(), lr=0.1)
        h = torch.zeros(1, 4)
        for x in torch.randn(20, 1, 4):
            out, h = rnn(x, h)
            loss = out.pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("done")
        """,
        """
        import torch
        from library import make_pair

        rnn = make_pair()
        optimizer = torch.optim.SGD(rnn.parameters(), lr=0.1)
        h = torch.zeros(1, 4)
        for x in torch.randn(20, 1, 4):
            out, h = rnn(x, h)
            loss = out.pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            h = h.detach()
        print("done")
        """,
        results={"rnn(x, h)": Observed(Kind.TUPLE, items=(HISTORY, HISTORY), saves=True)},
        safe=False,
    ),
    Program(
        "what is made before the loop",
        """
        import torch
        class Encoder:
            def __init__(self):
                self.layer = torch.nn.Linear(4, 4)
            def weights(self):
                return list(self.layer.parameters())
            def __call__(self, x):
                return torch.tanh(self.layer(x))
        make_encoder = Encoder
        """,
        """
        import torch
        from library import make_encoder

        encode = make_encoder()
        head = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD([*head.parameters(), *encode.weights()], lr=0.1)
        inputs = torch.randn(10, 4)
        features = encode(inputs)
        for epoch in range(20):
            loss = head(features).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("done")
        """,
        """
        import torch
        from library import make_encoder

        encode = make_encoder()
        head = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD([*head.parameters(), *encode.weights()], lr=0.1)
        inputs = torch.randn(10, 4)
        for epoch in range(20):
            features = encode(inputs)
            loss = head(features).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("done")
        """,
        results={"encode(inputs)": HISTORY},
    ),
    Program(
        "a cell that detaches what it gives back",
        CELL,
        """
        import torch
        from library import make_cut

        rnn = make_cut()
        optimizer = torch.optim.SGD(rnn.parameters(), lr=0.1)
        h = torch.zeros(1, 4)
        for x in torch.randn(20, 1, 4):
            out, h = rnn(x, h)
            loss = out.pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("done")
        """,
        None,
        results={"rnn(x, h)": Observed(Kind.TUPLE, items=(HISTORY, PLAIN))},
    ),
    Program(
        "two losses over one graph",
        """
        import torch
        class Heads:
            def __init__(self):
                self.layer = torch.nn.Linear(4, 4)
            def weights(self):
                return self.layer.parameters()
            def losses(self, x):
                y = torch.tanh(self.layer(x))
                return y.sum(), y.pow(2).sum()
        make_heads = Heads
        """,
        """
        import torch
        from library import make_heads

        heads = make_heads()
        optimizer = torch.optim.SGD(heads.weights(), lr=0.1)
        for x in torch.randn(20, 1, 4):
            first, second = heads.losses(x)
            optimizer.zero_grad()
            first.backward()
            second.backward()
            optimizer.step()
        print("done")
        """,
        """
        import torch
        from library import make_heads

        heads = make_heads()
        optimizer = torch.optim.SGD(heads.weights(), lr=0.1)
        for x in torch.randn(20, 1, 4):
            first, second = heads.losses(x)
            optimizer.zero_grad()
            first.backward(retain_graph=True)
            second.backward()
            optimizer.step()
        print("done")
        """,
        results={"heads.losses(x)": Observed(Kind.TUPLE, items=(LOSS, LOSS), saves=True)},
    ),
    Program(
        "a buffer that is differentiated when an episode is over",
        """
        import torch
        class Buffer:
            def __init__(self):
                self.values = []
            def push(self, value):
                self.values.append(value)
            def loss(self):
                loss = torch.stack(self.values).mean()
                self.values.clear()
                return loss
        make_buffer = Buffer
        """,
        """
        import torch
        from library import make_buffer

        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        buffer = make_buffer()
        for episode in range(20):
            for batch in torch.randn(4, 3, 2):
                score = model(batch).pow(2).mean()
                buffer.push(score)
            loss = buffer.loss()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("done")
        """,
        None,
        results={"buffer.loss()": LOSS},
        kept=(("buffer.push(score)", 0, "buffer.values[3]", True),),
    ),
]

RUNNER = """
import gc, json, sys, types
import torch

held = []

def sample(*_):
    gc.collect()
    nodes = {t.grad_fn for t in gc.get_objects() if isinstance(t, torch.Tensor) and t.grad_fn is not None}
    pending, seen = list(nodes), set(nodes)
    while pending:
        for node, _ in pending.pop().next_functions:
            if node is not None and node not in seen and type(node).__name__ != "AccumulateGrad":
                seen.add(node)
                pending.append(node)
    held.append(len(seen))

torch.nn.modules.module.register_module_forward_pre_hook(sample)
torch.optim.SGD([torch.ones(1, requires_grad=True)])
gc.freeze()  # what belongs to torch itself is not looked through at each call
for library, program in json.load(sys.stdin):
    module = sys.modules["library"] = types.ModuleType("library")
    exec(library, vars(module))
    torch.manual_seed(0)
    held.clear()
    error = None
    try:
        exec(program, {"__name__": "__main__", "print": lambda *_: None})
    except RuntimeError as raised:
        error = str(raised)
    print(json.dumps([error, held]))
"""
LATER = 8
"""Passes between two looks at how many nodes are held: a pass of each of these programs makes at least one."""


def source_of(text: str) -> Source:
    return Source.from_bytes(textwrap.dedent(text).lstrip().encode(), "train.py")


@functools.cache
def runs() -> dict[str, tuple[str | None, list[int]]]:
    """What became of all programs, by their text: the error, and how many nodes were alive at each call of a module."""
    texts = [(p.library, text) for p in PROGRAMS for text in (p.before, p.after) if text is not None]
    sent = json.dumps([(textwrap.dedent(library), source_of(text).text) for library, text in texts])
    command = [sys.executable, "-W", "ignore", "-c", RUNNER]
    done = subprocess.run(command, input=sent, capture_output=True, encoding="utf-8", timeout=240)
    assert done.returncode == 0, done.stderr
    return {text: json.loads(line) for (_, text), line in zip(texts, done.stdout.splitlines(), strict=True)}


def is_faulty(text: str) -> bool:
    """Whether a program raises what PyTorch says of freed graphs, or holds more nodes with every pass."""
    error, held = runs()[text]
    assert error is None or "Trying to backward through the graph a second time" in error
    assert error is not None or len(held) > LATER
    return error is not None or held[-1] >= held[-1 - LATER] + LATER


by_name = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)


@by_name
def test_what_a_run_has_shown_gives_the_repair(program: Program) -> None:
    source, evidence = source_of(program.before), program.evidence
    found = check(source, CheckOptions(), path=PATH, evidence=evidence)
    assert found.problems == ()
    if program.after is None:
        assert found.findings == ()
        return
    (finding,) = found.findings
    assert finding.assumptions == ()
    assert finding.observed
    assert program.told in finding.observed[-1]
    assert finding.fix is not None
    assert finding.fix.applicability is (Applicability.SAFE if program.safe else Applicability.UNSAFE)
    assert finding.fix.observed == finding.observed
    fixed = fix(source, CheckOptions(), path=PATH, evidence=evidence, unsafe=not program.safe)
    assert fixed.source.text == source_of(program.after).text
    assert fixed.remaining == ()


@by_name
def test_without_it_nobody_dares(program: Program) -> None:
    """What the program says by itself is no certain finding, or one with an unsafe fix."""
    for finding in check(source_of(program.before), CheckOptions(), path=PATH).findings:
        assert finding.observed == ()
        assert finding.fix is None or finding.fix.applicability is Applicability.UNSAFE


@by_name
def test_real_pytorch_agrees(program: Program) -> None:
    assert is_faulty(program.before) is (program.after is not None)
    assert program.after is None or not is_faulty(program.after)
