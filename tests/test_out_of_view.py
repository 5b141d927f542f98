"""Programs of which a part is out of view, taken from libraries: what is not in view may make the code right."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from autodetach.checker import CheckOptions, check
from autodetach.finding import Applicability
from autodetach.source import Source

PROGRAMS = {
    "a table that a demonstration evaluates": '''\
"""Who imports the function may train with the table; only its demonstration evaluates."""

import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 6)
        self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(2))
        self.head = nn.Linear(6, 20)

    def forward(self, text):
        states = [self.words(text)]
        for layer in self.layers:
            states.append(states[-1] + torch.tanh(layer(states[-1])))
        return states


def distances(model, left, right):
    table = torch.zeros(left.size(0), 3)
    for row in range(left.size(0)):
        pair = zip(model(left[row]), model(right[row]))
        for depth, (a, b) in enumerate(pair):
            gap = (model.head(a).softmax(-1) - model.head(b).softmax(-1)).abs().mean()
            table[row, depth] = gap
    return table


if __name__ == "__main__":
    torch.manual_seed(7)
    reader = Reader()
    reader.eval()
    text = torch.randint(0, 20, (40, 5))
    result = distances(reader, text, text.flip(1))
    print(' '.join('%.4f' % value for value in result.mean(0).tolist()))
''',
    "layers of a network in a test": '''\
"""A test applies the layers of a network one after the other, however many there are."""

import pytest
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return torch.relu(self.linear(x))


class Net(nn.Module):
    def __init__(self, width, n_layers):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width) for _ in range(n_layers)])
        self.head = nn.Linear(width, width)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


@pytest.mark.parametrize("n_layers", [1, 2, 30])
def test_each_layer_is_applied_once(n_layers):
    net = Net(10, n_layers)
    inp = torch.randn(4, 10)
    out = net(inp)
    for block in net.blocks:
        inp = torch.relu(block.linear(inp))
    assert torch.equal(out, net.head(inp))


@pytest.mark.parametrize("n_layers", [1, 2, 30])
def test_shapes_stay(n_layers):
    net = Net(10, n_layers)
    state = torch.randn(4, 10)
    for number, block in enumerate(net.blocks):
        state = block(state)
        assert state.shape == (4, 10), number


def test_twenty_layers():
    layers = nn.ModuleList([nn.Linear(10, 10) for _ in range(20)])
    inp = torch.randn(5, 10)
    for layer in layers:
        inp = layer(inp)
    assert inp.shape == (5, 10)
''',
    "loss from a caller": '''\
"""Helpers that are given a loss, or what a loss is made of: whoever gave it may differentiate the same graph again."""

import torch
import torch.nn.functional as F


def update(loss, optimizer):
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()


def update_with_mean(losses, optimizer):
    optimizer.zero_grad()
    loss = torch.mean(losses)
    loss.backward(retain_graph=True)
    optimizer.step()


def update_with_error(output, target, optimizer):
    optimizer.zero_grad()
    F.mse_loss(output, target).backward(retain_graph=True)
    optimizer.step()


def update_by_hand(output, target, optimizer):
    optimizer.zero_grad()
    loss = (output - target).pow(2).mean()
    loss.backward(retain_graph=True)
    optimizer.step()


class ClippedLoss:
    """Differentiates twice: for the norms of the gradients of each example, and with what they allow."""

    def __init__(self, module, optimizer, loss_per_example: torch.Tensor):
        self.module = module
        self.optimizer = optimizer
        self.loss_per_example = loss_per_example

    def backward(self):
        reduced = torch.mean(self.loss_per_example, dim=0)
        reduced.backward(retain_graph=True)
        self.optimizer.zero_grad()
        factor = self.module.clipping_factor()
        clipped = torch.sum(factor.to(self.loss_per_example.device) * self.loss_per_example)
        clipped.backward()
''',
    "reversible network": '''\
"""The backward of a reversible network, block by block: all blocks attend to one encoder, whose graph they share."""

import torch
from torch import nn
from torch.autograd import Function


class ReversibleBlock(nn.Module):
    def __init__(self, f, g):
        super().__init__()
        self.f = f
        self.g = g

    def forward(self, x, f_args):
        x1, x2 = torch.chunk(x, 2, dim=2)
        with torch.no_grad():
            y1 = x1 + self.f(x2, **f_args)
            y2 = x2 + self.g(y1)
        return torch.cat([y1, y2], dim=2)

    def backward_pass(self, y, dy, f_args):
        y1, y2 = torch.chunk(y, 2, dim=2)
        dy1, dy2 = torch.chunk(dy, 2, dim=2)
        with torch.enable_grad():
            y1.requires_grad = True
            gy1 = self.g(y1)
            torch.autograd.backward(gy1, dy2)
        with torch.no_grad():
            x2 = y2 - gy1
            dx1 = dy1 + y1.grad
            y1.grad = None
        with torch.enable_grad():
            x2.requires_grad = True
            fx2 = self.f(x2, **f_args)
            torch.autograd.backward(fx2, dx1, retain_graph=True)
        with torch.no_grad():
            x1 = y1 - fx2
            dx2 = dy2 + x2.grad
            x2.grad = None
            x = torch.cat([x1, x2.detach()], dim=2)
            dx = torch.cat([dx1, dx2], dim=2)
        return x, dx


class _Reversible(Function):
    @staticmethod
    def forward(ctx, x, blocks, f_args):
        ctx.f_args = f_args
        for block in blocks:
            x = block(x, f_args)
        ctx.y = x.detach()
        ctx.blocks = blocks
        return x

    @staticmethod
    def backward(ctx, dy):
        y = ctx.y
        for block in ctx.blocks[::-1]:
            y, dy = block.backward_pass(y, dy, ctx.f_args)
        return dy, None, None
''',
    "gradient of a leaf by hand": '''\
"""`backward` of a leaf only adds to its gradient, as often as one likes."""

import torch
from torch import autograd, optim


def find_a_candidate(transform, differentiable, x_init):
    start = transform.inv(x_init)
    x = start.detach().clone().requires_grad_(True)
    minimizer = optim.LBFGS([x], max_eval=20)

    def closure():
        minimizer.zero_grad()
        if (torch.log(torch.abs(x)) > 25.0).any():
            return torch.tensor(float("inf"))
        y = differentiable(transform(x))
        autograd.backward(x, autograd.grad(y, x))
        return y

    minimizer.step(closure)
    return transform(x).detach()


def find_another(transform, differentiable, x_init):
    x = transform.inv(x_init).clone().detach().requires_grad_(True)
    minimizer = optim.LBFGS([x], line_search_fn="strong_wolfe")

    def closure():
        minimizer.zero_grad()
        y = differentiable(transform(x))
        autograd.backward(x, autograd.grad(y, x))
        return y

    minimizer.step(closure)
    return transform(x).detach()


def find_a_third(transform, differentiable, x_init):
    x = transform.inv(x_init).clone().requires_grad_()
    for _ in range(20):
        y = differentiable(transform(x))
        autograd.backward(x, autograd.grad(y, x))
        with torch.no_grad():
            x -= 0.1 * x.grad
            x.grad = None
    return x.detach()
''',
    "loss of a batch that is evaluated": '''\
"""A loss steps through the examples of a batch; that an evaluation only looks at its value is no fault of the loss."""

import torch
import torch.nn.functional as F
from torch import nn


def attend(words, regions):
    scores = torch.softmax(torch.bmm(regions.transpose(1, 2), words), dim=1)
    return torch.bmm(regions, scores), scores


def words_loss(regions, words, labels, lengths, batch_size):
    maps = []
    similarities = []
    for i in range(batch_size):
        word = words[i, :, : lengths[i]].unsqueeze(0).contiguous().repeat(batch_size, 1, 1)
        context, attention = attend(word, regions)
        maps.append(attention[i].unsqueeze(0).contiguous())
        row = F.cosine_similarity(word, context)
        similarities.append(torch.log(row.exp().sum(dim=1, keepdim=True)))
    similarities = torch.cat(similarities, 1)
    return F.cross_entropy(similarities, labels), maps


def evaluate(loader, text_encoder: nn.Module, image_encoder: nn.Module, labels, batch_size):
    text_encoder.eval()
    image_encoder.eval()
    total = 0
    for images, captions, lengths in loader:
        regions = image_encoder(images)
        words = text_encoder(captions, lengths)
        loss, _ = words_loss(regions, words, labels, lengths, batch_size)
        total += loss.item()
    return total / len(loader)
''',
    "elements of one matrix": '''\
"""Elements that are picked out of one matrix in a loop hold no graph of their own."""

import torch


def pairs_by_hand(embeddings, labels):
    embeddings = torch.tensor(embeddings, requires_grad=True)
    distances = torch.cdist(embeddings, embeddings)
    alike, others = [], []
    for i in range(len(embeddings)):
        for j in range(len(embeddings)):
            if i == j:
                continue
            if labels[i] == labels[j]:
                alike.append((i, j, distances[i, j]))
            else:
                others.append((i, j, distances[i, j]))
    hardest = min(others, key=lambda pair: float(pair[2]))
    return [(i, j) for i, j, distance in alike if distance > hardest[2]]
''',
    "state that is repackaged": """\
import torch


def tensor_or_parts(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(tensor_or_parts(v) for v in h)


def parts_or_tensor(h):
    if isinstance(h, tuple):
        return tuple(parts_or_tensor(v) for v in h)
    return h.detach()


def by_its_type(h):
    if type(h) == torch.Tensor:
        return h.detach()
    else:
        return tuple([by_its_type(v) for v in h])


def nested(h):
    if isinstance(h, dict):
        return {k: nested(v) for k, v in h.items()}
    if isinstance(h, list):
        return [nested(v) for v in h]
    return h.detach()


def train(model, batches, criterion):
    opt = torch.optim.Adam(model.parameters())
    h, g, s, t = (model.init_hidden(4) for _ in range(4))
    for x, y in batches:
        h = tensor_or_parts(h)
        g = parts_or_tensor(g)
        s = by_its_type(s)
        t = nested(t)
        output, h, g, s, t = model(x, h, g, s, t)
        loss = criterion(output, y.view(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "gradients that a caller has turned off": """\
import torch
from torch import nn


class Agent:
    def __init__(self):
        self.critic = nn.Linear(3, 1)
        self.optimizer = torch.optim.Adam(self.critic.parameters())

    def update(self, states, rewards):
        '''The runner explores, and evaluates, without gradients.'''
        values = self.critic(states).squeeze(1)
        returns = rewards - values
        torch.set_grad_enabled(True)
        for _ in range(8):
            indices = torch.randint(64, size=(16,))
            loss = (self.critic(states[indices]).squeeze(1) - returns[indices]).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        torch.set_grad_enabled(False)
""",
    "state that a caller has encoded": """\
import torch
from torch import nn


class Option:
    def __init__(self):
        self.critics = [nn.Linear(3, 1) for _ in range(2)]

    def differentiate(self, states, y):
        state = states[:, 0]
        losses = [nn.functional.mse_loss(critic(state), y) for critic in self.critics]
        torch.stack(losses).sum().backward(retain_graph=True)


class Selector:
    def __init__(self, options, encoder):
        self.options, self.encoder = options, encoder

    def train(self, x, y):
        states = self.encoder(x)
        for option in self.options:
            option.differentiate(states, y)
""",
    "flag of a caller": """\
import torch
import torch.nn.functional as F
from torch import nn


class Ensemble:
    def __init__(self, members):
        self.model = nn.Linear(3, 2)
        self.members = members

    def predict(self, x, differentiable=False):
        x = torch.tensor(x)
        if differentiable:
            x.requires_grad = True
        out = torch.zeros(len(self.members), x.shape[0], 2)
        for number, bias in enumerate(self.members):
            out[number] = self.model(x) + bias
        probabilities = F.softmax(out, dim=2)
        if differentiable:
            return probabilities
        return probabilities.data
""",
    "state that a method makes anew": """\
import torch
import torch.nn.functional as F
from networks import Adaptive

model = Adaptive()
optimizer = torch.optim.Adam(model.parameters())
for x, y in loader:
    model.begin_task()
    for _ in range(2):
        loss = F.cross_entropy(model(x), y)
        (gradient,) = torch.autograd.grad(loss, model.context, create_graph=True)
        model.context = model.context - 0.1 * gradient
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "weights of a copy": """\
import copy

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = [torch.randn(3, 3, requires_grad=True)]

    def forward(self, x):
        return x @ self.weights[0]


def adapted(net):
    start = [w.clone() for w in net.weights]
    for _ in range(100):
        net.weights = [w.clone() for w in start]
        (gradient,) = torch.autograd.grad(net(torch.randn(2, 3)).sum(), net.weights)
        net.weights[0] = net.weights[0] - 0.1 * gradient
    net.weights = [w.clone() for w in start]


net = Net()
for _ in range(100):
    adapted(copy.copy(net))
""",
    "weights of gradients": """\
import torch
from torch import nn


class Weighting(nn.Module):
    def differentiate(self, weights, gradients):
        for number, task in enumerate(self.tasks):
            self.outputs[task].backward(weights[number] * gradients[number])


class Learned(Weighting):
    def __init__(self):
        super().__init__()
        self.logits = nn.Parameter(torch.ones(2))

    def step(self, gradients):
        self.differentiate(torch.softmax(self.logits, 0), gradients)
""",
    "rows of indices": """\
import torch
from torch import nn

size = 4
changes = nn.Parameter(torch.zeros(6))
below = torch.tril_indices(row=size, col=size, offset=-1)
matrix = torch.zeros(size, size)
matrix[below[0], below[1]] = changes
matrix.sum().backward()
""",
    "volume that a flow hands back": """\
import torch
from torch import nn


class Flow(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(layers)])

    def forward(self, x):
        volume = torch.zeros(x.shape[0])
        for layer in self.layers:
            scale = torch.tanh(layer(torch.ones_like(x)))
            x, volume = x * scale.exp(), volume + scale.sum(1)
        return x, volume

    def inverse(self, z):
        volume = torch.zeros(z.shape[0])
        for layer in self.layers[::-1]:
            scale = torch.tanh(layer(torch.ones_like(z)))
            z = z * torch.exp(-scale)
            volume -= scale.sum(1)
        return z, volume


flow = Flow(3)
optimizer = torch.optim.Adam(flow.parameters())
for step in range(100):
    z, volume = flow(torch.randn(4, 2))
    loss = (z.pow(2).sum(1) - volume).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(flow.inverse(torch.randn(8, 2))[0].data.numpy())
""",
    "loss that is turned into a number": """\
import numbers

import torch


def torch_item(x):
    return x if isinstance(x, numbers.Number) else x.item()


def train(module, loss_fn, optimizer=None, steps=1000):
    optimizer = torch.optim.Adam(module.parameters(), lr=0.01) if optimizer is None else optimizer

    def closure():
        optimizer.zero_grad()
        loss = loss_fn(module.model, module.guide)
        loss.backward()
        return loss

    losses = []
    for _ in range(steps):
        loss = optimizer.step(closure)
        losses.append(torch_item(loss))
    return losses
""",
    "a helper that refuses what a filter has left over": '''\
"""Nobody knows whether anything is left over: what is behind the helper may run, and be returned."""

import torch


def load(module, state):
    known = [name for name, _ in module.named_parameters()]
    excess = [key for key in state.keys() if key not in known]
    if len(excess) > 0:
        raise ValueError("not in the module: %r" % excess)


def run_task(batches, model):
    loss, outputs = 0, []
    original = model.state_dict(keep_vars=True)
    for batch in batches:
        output = model(batch)
        outputs.append(output)
        loss = loss + output.pow(2).mean()
    load(model, original)
    return loss, outputs
''',
    "a network of steps, each with a buffer of its parameter": '''\
"""A constructor's loop builds the network: no pass of a training loop adds anything."""

import torch
from torch import nn


class Conditioner(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.adjacency = nn.Parameter(torch.ones(size, size))
        self.register_buffer("trace", torch.matrix_power(self.adjacency**2, 3).diagonal().sum())


class Step(nn.Module):
    def __init__(self, conditioner):
        super().__init__()
        self.conditioner = conditioner


class Flow(nn.Module):
    def __init__(self, steps):
        super().__init__()
        self.steps = nn.ModuleList()
        for step in steps:
            self.steps.append(step)


def build(count):
    steps = []
    for _ in range(count):
        steps.append(Step(Conditioner(4)))
    return Flow(steps)
''',
    "words of a writer who is not in view": '''\
"""What an embedding is given are integers, whoever made them: nothing flows back through them."""

import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10, 8)
        self.score = nn.Linear(8, 1)

    def forward(self, sentence):
        return torch.sigmoid(self.score(self.words(sentence).mean(0)))


def train(writer, batches):
    reader, table, guess = Reader(), nn.Embedding(10, 8), nn.Linear(8, 10)
    reading = torch.optim.SGD(reader.parameters(), 0.1)
    guessing = torch.optim.SGD([*table.parameters(), *guess.parameters()], 0.1)
    writing = torch.optim.SGD(writer.parameters(), 0.1)
    for batch in batches:
        written = writer(batch)
        verdict = reader(written)
        reading.zero_grad()
        nn.functional.binary_cross_entropy(verdict, torch.zeros_like(verdict)).backward()
        reading.step()
        guessing.zero_grad()
        nn.functional.cross_entropy(guess(table(written)).view(-1, 10), batch.view(-1)).backward()
        guessing.step()
        writing.step()
''',
    "all of many parameters are frozen for a while": '''\
"""A list of parameters is gone through to its end, as the parameters of one module are."""

import torch
from torch import nn


class Frozen:
    def __init__(self, modules):
        self.parameters = []
        for module in modules:
            self.parameters += list(module.parameters())
        self.before = [p.requires_grad for p in self.parameters]

    def __enter__(self):
        for parameter in self.parameters:
            parameter.requires_grad = False

    def __exit__(self, *error):
        for i, parameter in enumerate(self.parameters):
            parameter.requires_grad = self.before[i]


encoder = nn.Sequential(nn.Linear(4, 8), nn.ELU(), nn.Linear(8, 8), nn.ELU(), nn.Linear(8, 8))
actor = nn.Sequential(nn.Linear(8, 8), nn.ELU(), nn.Linear(8, 2))
actions = torch.zeros(4, 10, 2)
for run in range(4):
    state = torch.rand(4)
    for i in range(10):
        with Frozen([encoder, actor]):
            action = actor(encoder(state[None])).squeeze()
        actions[run, i] = action
        state = torch.rand(4) + float(action.numpy().sum())
print(actions.requires_grad)
''',
}
LOSS = """\
import torch


class Trainer:
    def __init__(self, model, optimizer, criterion):
        self.model = model
        self.optimizer = optimizer
        self.criterion = criterion

    def fit(self, loader, epochs=None, *, limits=None):
        if epochs is None:
            raise ValueError("for how many epochs?")
        if limits is None:
            raise ValueError("between which limits?")
        history = []
        self.model.train()
        for _ in range(epochs):
            for x, y in loader:
                loss = self.criterion(self.model(x.clamp(*limits)), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                history.append(loss)
        return [float(loss) for loss in history]
"""

UNKNOWN_LOSS = """\
import torch


def optimise(loss_fn, design, optimizer, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_fn(design)
        loss.backward(retain_graph=True)
        optimizer.step()
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_said_of_what_others_may_need(name: str) -> None:
    result = check(Source.from_bytes(PROGRAMS[name].encode(), "program.py"), CheckOptions())
    assert [(f.code, f.message) for f in result.findings] == []
    assert result.problems == ()


def test_a_loss_that_another_file_trains_with_is_left_alone(tmp_path: Path) -> None:
    loss = PROGRAMS["loss of a batch that is evaluated"]
    made, evaluated = loss.split("\n\ndef evaluate")
    (tmp_path / "losses.py").write_text(made + "\n")
    text = f"from torch import nn\n\nfrom losses import words_loss\n\n\ndef evaluate{evaluated}"
    (tmp_path / "evaluation.py").write_text(text)
    command = [sys.executable, "-m", "autodetach", "check", "--no-cache", "."]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "")


def test_what_a_callable_out_of_view_hands_out_it_may_hand_out_again() -> None:
    (finding,) = check(Source.from_bytes(UNKNOWN_LOSS.encode(), "program.py"), CheckOptions()).findings
    assert finding.code == "AD103"
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.UNSAFE


GIVEN = """\
import torch
import torch.nn.functional as F
from torch import nn


class Codec(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))

    def error(self, points):
        return F.mse_loss(self.layers(points), points)

    def warm_up(self, points, batches, rounds=5):
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-3)
        LINE
        for _ in range(rounds):
            optimizer.zero_grad()
            self.error(points).backward(retain_graph=True)
            optimizer.step()
"""


@pytest.mark.parametrize(
    ("line", "is_given"),
    [
        ("points = points.to(self.layers[0].weight.device)", True),
        ("points = points[:100]", True),
        ("points = torch.rand(8, 2)", False),
        ("points = torch.tensor(points)", False),
    ],
)
def test_a_caller_may_give_what_has_a_graph_to_every_pass_of_a_loop(line: str, is_given: bool) -> None:
    (finding,) = check(Source.from_bytes(GIVEN.replace("LINE", line).encode(), "program.py"), CheckOptions()).findings
    assert finding.code == "AD103"
    assert finding.fix is not None
    assert (finding.fix.applicability is Applicability.UNSAFE) is is_given
    assert ("`points`" in (finding.fix.why_unsafe or "")) is is_given


@pytest.mark.parametrize("given", ["batches", "itertools.islice(batches, 9)"])
def test_batches_of_a_caller_are_others_in_every_pass(given: str) -> None:
    head, _ = GIVEN.split("        LINE")
    tail = f"""\
        for points in {given}:
            optimizer.zero_grad()
            self.error(points).backward(retain_graph=True)
            optimizer.step()
"""
    (finding,) = check(
        Source.from_bytes(f"import itertools\n{head}{tail}".encode(), "program.py"), CheckOptions()
    ).findings
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.SAFE


def test_what_callers_in_view_give_is_known() -> None:
    text = f"{GIVEN.replace('LINE', 'pass')}\n\nCodec().warm_up(torch.rand(8, 2), [])\n"
    (finding,) = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.SAFE


def test_a_caller_gives_what_is_asked_for() -> None:
    """Nobody in view calls `fit`, and without arguments it only raises."""
    (finding,) = check(Source.from_bytes(LOSS.encode(), "program.py"), CheckOptions()).findings
    assert finding.code == "AD102"
    assert "`loss` is stored with its autograd graph" in finding.message


@pytest.mark.parametrize(
    "given", ["x", "x.float()", "torch.tensor(x)", "self.options[0]", "Batch(x)", "self.memory.sample()", "list(x)"]
)
def test_who_is_given_data_need_not_retain_the_graph(given: str) -> None:
    text = PROGRAMS["state that a caller has encoded"].replace("self.encoder(x)", given)
    (finding,) = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings
    assert finding.code == "AD103"


TURNED_ON = PROGRAMS["gradients that a caller has turned off"]


@pytest.mark.parametrize("first", ["", "torch.set_grad_enabled(True)", "torch.set_grad_enabled(False)"])
def test_who_turns_gradients_on_at_once_may_be_entered_with_them(first: str) -> None:
    head, tail = TURNED_ON.replace("        torch.set_grad_enabled(False)\n", "").split("        values =")
    late = "" if first.endswith("False)") else "        torch.set_grad_enabled(True)\n"
    text = f"{head}        {first or 'pass'}\n        values ={tail.replace(late, '')}"
    found = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings
    assert [f.code for f in found] == ([] if first.endswith("False)") else ["AD301"])


BY_NAME = """\
import torch
from torch import nn


class Trainer:
    def __init__(self, width, **config):
        self.net = nn.Linear(width, 1)
        LINE
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)

    def read(self, epochs, **others):
        self.epochs, self.others = epochs, others

    def fit(self, loader):
        total = 0
        for _ in range(self.epochs):
            for x, y in loader:
                loss = nn.functional.mse_loss(self.net(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                total += loss
        return total.item()
"""


@pytest.mark.parametrize(
    "line",
    [
        'self.epochs = config["epochs"]',
        'self.epochs = config.get("epochs")',
        'self.epochs = config.pop("epochs", 0)',
        'self.epochs = config["epochs"] if "epochs" in config else 0',
        "for name, value in config.items(): setattr(self, name, value)",
        "[setattr(self, name, config[name]) for name in config]",
        "self.read(**config)",
    ],
)
def test_a_caller_may_give_more_by_name(line: str) -> None:
    """Nobody in view makes a `Trainer`: what stands in `**config` is not known, and it is not empty."""
    text = BY_NAME.replace("LINE", line)
    (finding,) = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings
    assert finding.code == "AD101"


GATED = """\
from collections import deque

import torch
from torch import nn


class Memory:
    def __init__(self, size):
        self.size, self.count = size, 0
        self.states, self.latest = [], deque(maxlen=size)

    def store(self, state):
        self.states[self.count % self.size] = state
        self.latest.append(state)
        self.count = self.count + 1

    def is_ready(self, number):
        return self.count >= number

    def __len__(self):
        return len(self.latest)


class Agent:
    def __init__(self, batch_size=100):
        self.memory, self.batch_size, self.steps = Memory(1000), batch_size, 0
        self.value = nn.Linear(3, 1)
        self.optimizer = torch.optim.Adam(self.value.parameters())

    def remember(self, state):
        self.memory.store(state)
        self.steps += 1

    def learn(self):
        if GATE:
            return
        states = torch.tensor(self.memory.states[: self.batch_size], dtype=torch.float)
        self.optimizer.zero_grad()
        loss = self.value(states).pow(2).mean()
        loss.backward(retain_graph=True)
        self.optimizer.step()
"""


@pytest.mark.parametrize(
    "gate",
    [
        "self.memory.count < self.batch_size",
        "self.steps < self.batch_size",
        "not self.memory.is_ready(self.batch_size)",
        "len(self.memory.latest) < self.batch_size",
        "len(self.memory) < self.batch_size",
        "not self.memory.latest",
        "self.memory.count == 0",
    ],
)
def test_others_have_remembered_something_before_they_learn(gate: str) -> None:
    """Nobody in view calls `remember`, or `learn`: the memory is empty only when it is made."""
    (finding,) = check(Source.from_bytes(GATED.replace("GATE", gate).encode(), "program.py"), CheckOptions()).findings
    assert finding.code == "AD103"


FEATURES = """\
import torch
from torch import nn
from torchvision import models


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = models.vgg16().features
        for param in self.layers.parameters():
            param.requires_grad = False

    def forward(self, x):
        features, names = {}, {"3": "relu1", "8": "relu2"}
        for LAYERS:
            x = layer(x)
            if name in names:
                features[names[name]] = x
        return features


def train(loader):
    net, vgg = nn.Conv2d(3, 3, 3, padding=1), Features()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    total = 0
    for images, _ in loader:
        loss = nn.functional.mse_loss(vgg(net(images))["relu2"], vgg(images)["relu2"])
        total += loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(total / len(loader))
"""


@pytest.mark.parametrize(
    "layers",
    [
        "name, layer in self.layers._modules.items()",
        "name, layer in self.layers.named_children()",
        "name, layer in enumerate(self.layers)",
        "name, layer in enumerate(self.layers.children())",
    ],
)
def test_the_layers_of_a_module_that_is_not_in_view_are_modules(layers: str) -> None:
    text = FEATURES.replace("LAYERS", layers)
    (finding,) = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings
    assert finding.code == "AD101"


@pytest.mark.parametrize(
    "line",
    [
        "ax = plt.figure().add_subplot(1, 1, 1)",
        "plt.subplot(1, 2, 1).set_title('loss')",
        "(points,) = plt.plot([1], [2])",
        "progress_bar(1, 10, 'x')",
        "y = 5 * other.log(x + 1)",
        "y = 1 - weights.log()",
        "y = weights.scatter(0, x, 1) + 1",
    ],
)
def test_what_is_plotted_and_logged_ends_no_program(line: str) -> None:
    """The results of reports are used, too, and not every `log` is a report."""
    text = (
        "import matplotlib.pyplot as plt\nimport torch\nimport other\nfrom other import progress_bar, weights\n\n"
        "net = torch.nn.Linear(3, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\ntotal = 0\n"
        f"for x in torch.randn(10, 3):\n    {line}\n    loss = net(x).sum()\n    opt.zero_grad()\n    loss.backward()\n"
        "    opt.step()\n    total += loss\nprint(total)\n"
    )
    (finding,) = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings
    assert finding.code == "AD101"


def test_what_one_program_only_keeps_another_one_may_train_with(tmp_path: Path) -> None:
    """`play` keeps what it never differentiates; `trained`, which it does not call, would differentiate that."""
    (tmp_path / "policy.py").write_text(
        "import torch\n"
        "from torch import nn\n"
        "\n"
        "\n"
        "class Policy(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.linear, self.values = nn.Linear(8, 1), []\n"
        "\n"
        "    def forward(self, state):\n"
        "        self.values.append(torch.tanh(self.linear(state)))\n"
        "        return 1\n"
        "\n"
        "    def loss(self, rewards):\n"
        "        total = 0\n"
        "        for value, reward in zip(self.values, rewards):\n"
        "            total += (value - reward) ** 2\n"
        "        return total\n"
    )
    (tmp_path / "play.py").write_text(
        "import torch\n"
        "from policy import Policy\n"
        "\n"
        "policy = Policy()\n"
        "for episode in range(5):\n"
        "    for step in range(10000):\n"
        "        policy(torch.randn(8))\n"
    )
    command = [sys.executable, "-m", "autodetach", "check", "--no-cache", "."]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "")


def test_an_entry_beside_a_loss_may_be_a_number() -> None:
    text = (
        "import torch\n"
        "\n"
        "def evaluate(batches, model):\n"
        "    accuracies = []\n"
        "    model.eval()\n"
        "    for batch in batches:\n"
        "        output = model(**batch)\n"
        "        accuracies.append(output['accuracy'])\n"
        "    print(sum(accuracies) / len(accuracies))\n"
    )
    (finding,) = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings
    assert finding.assumptions
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.UNSAFE


def test_a_constructor_that_refuses_what_a_filter_leaves_over_goes_on() -> None:
    text = (
        "import torch\n"
        "from torch import nn\n"
        "\n"
        "class Model(nn.Module):\n"
        "    def __init__(self, groups):\n"
        "        super().__init__()\n"
        "        self.accuracy = nn.Parameter(torch.rand(4))\n"
        "        common = [v for v in groups[0] if v in groups[1]]\n"
        "        if len(common) > 0:\n"
        "            raise RuntimeError('no class can appear in both')\n"
        "\n"
        "    def estimate(self, batches):\n"
        "        running = 0.0\n"
        "        for votes in batches:\n"
        "            loss = torch.sigmoid(votes * self.accuracy).mean()\n"
        "            loss.backward()\n"
        "            running += loss\n"
        "        print('%.6f' % (running / len(batches)))\n"
    )
    (finding,) = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings
    assert finding.code == "AD101"


def test_what_a_function_of_a_package_inside_torch_makes_may_be_no_tensor() -> None:
    text = (
        "import torch\n"
        "from torch.nn.parallel import comm\n"
        "\n"
        "def copies_of(params, devices, places):\n"
        "    outputs = comm.broadcast_coalesced(params, devices)\n"
        "    for copies in outputs:\n"
        "        for i, _ in enumerate(places):\n"
        "            copies[i] = torch.view_as_complex(copies[i])\n"
        "    return outputs\n"
        "\n"
        "def replicate(network, devices, places):\n"
        "    copies = copies_of(list(network.parameters()), devices, places)\n"
        "    replica = network.copy_of_it()\n"
        "    for key, _ in network._parameters.items():\n"
        "        for j in range(len(devices)):\n"
        "            replica.former[key] = copies[j][0]\n"
        "    return replica\n"
    )
    assert check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings == ()


def test_a_module_is_called_where_its_inputs_are_split_over_devices() -> None:
    text = (
        "import torch\n"
        "from torch import nn\n"
        "\n"
        "net = nn.Linear(4, 1)\n"
        "optimizer = torch.optim.SGD(net.parameters(), 0.1)\n"
        "total = 0.0\n"
        "for _ in range(300):\n"
        "    optimizer.zero_grad()\n"
        "    loss = nn.parallel.data_parallel(net, torch.randn(8, 4), range(2)).square().mean()\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "    total += loss\n"
        "print(float(total))\n"
    )
    (finding,) = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings
    assert (finding.code, finding.assumptions) == ("AD101", ())


@pytest.mark.parametrize(
    "handed_on",
    [
        "net.loss = total",
        "net.losses[key] = total",
        "setattr(net, key, total)",
        "result = make(net)\n    result.loss = total\n    return result",
        "result = Output()\n    result.loss = total\n    return result",
        "result = Output()\n    result.loss = total\n    report([result])",
    ],
)
def test_what_is_kept_on_an_object_that_others_have_may_be_differentiated_by_them(handed_on: str) -> None:
    text = (
        "import torch\n"
        "from torch import nn\n"
        "from outputs import Output\n"
        "\n"
        "def collect(net, loader, make, report, key):\n"
        "    layer = nn.Linear(4, 1)\n"
        "    total = 0.0\n"
        "    for x in loader:\n"
        "        total = total + layer(x).mean()\n"
        f"    {handed_on}\n"
    )
    assert check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings == ()


@pytest.mark.parametrize(
    "program",
    [
        (
            "def collect(loader):\n"
            "    layer = nn.Linear(4, 1)\n"
            "    meter = Meter()\n"
            "    meter.total = 0.0\n"
            "    for x in loader:\n"
            "        meter.total += layer(x).mean()\n"
            "    print(float(meter.total))\n"
        ),
        (
            "def train(loader, state):\n"
            "    layer = nn.Linear(4, 1)\n"
            "    for x in loader:\n"
            "        loss = layer(x).mean()\n"
            "        loss.backward()\n"
            "        state.total += loss\n"
        ),
    ],
)
def test_objects_that_stay_here_and_graphs_that_are_freed_are_of_no_use_to_others(program: str) -> None:
    text = f"import torch\nfrom torch import nn\nfrom meters import Meter\n\n{program}"
    (finding,) = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings
    assert finding.code == "AD101"


KEEPS_OUTPUTS = """\
import torch
from library import build

model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
history = []
for x in torch.randn(1000, 8, 4):
    optimizer.zero_grad()
    out = model(x)
    {learns}
    optimizer.step()
    history.append(out)
print(len(history))
"""


@pytest.mark.parametrize(
    ("learns", "fix"),
    [
        ("out.loss.backward()", None),
        ("out['loss'].backward()", None),
        ("sum(out).backward()", Applicability.UNSAFE),
        ("(out - x).pow(2).mean().backward()", Applicability.SAFE),
        ("out.pow(2).mean().backward()", Applicability.SAFE),
        ("torch.nn.functional.mse_loss(out, x).backward()", Applicability.SAFE),
    ],
)
def test_what_a_module_out_of_view_gives_may_be_a_record(learns: str, fix: Applicability | None) -> None:
    source = Source.from_bytes(KEEPS_OUTPUTS.format(learns=learns).encode(), "program.py")
    (finding,) = check(source, CheckOptions()).findings
    assert finding.code == "AD102"
    assert (None if finding.fix is None else finding.fix.applicability) is fix


QUIET_PROGRAMS = {
    "a setting of a library that is not in view, times ones, which becomes a leaf": """
import torch
from settings import load


class Temperature:
    def __init__(self, init):
        self.log_alpha = (torch.ones(1) * init).requires_grad_(True)
        self.optimizer = torch.optim.Adam([self.log_alpha], lr=0.01)

    def update(self, log_prob):
        loss = -(self.log_alpha * (log_prob + 1.0)).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


settings = load("settings.yaml")
temperature = Temperature(settings.agent.init)
for step in range(100):
    temperature.update(torch.randn(8))
""",
    "what a call differentiates of which the number is taken, where no path leads": """
import sys

import torch
from torch import nn

OPTIONS = {"together": True}


class Tracker:
    def __init__(self):
        self.embedding = nn.Embedding(5, 8)
        self.optimizer = torch.optim.Adam(self.embedding.parameters())

    def learn(self, slots):
        seen = {}
        for slot in slots:
            seen[slot] = self.embedding(torch.tensor([len(slot)]))
        if OPTIONS["together"]:
            return self.step(self.embedding.weight)
        return self.step_of_each(seen).item()

    def step_of_each(self, seen):
        return self.step(torch.cat(list(seen.values())))

    def step(self, inputs):
        loss = inputs.pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss


print(Tracker().learn(sys.argv[1].split(",")))
""",
    "a network of another framework": """
import numpy as np

net = Sequential()
criterion = ClassNLLCriterion()
X, Y = np.random.rand(100, 2), np.random.rand(100, 2)
for i in range(20):
    predictions = net.forward(X)
    loss = criterion.forward(predictions, Y)
    net.backward(X, criterion.backward(predictions, Y))
""",
    "a graph of messages, which are sent anew": """
import dgl
import dgl.function as fn
import torch
import torch.nn.functional as F
from torch import nn

class Predictor(nn.Module):
    def forward(self, graph, h):
        with graph.local_scope():
            graph.ndata["h"] = h
            graph.apply_edges(fn.u_dot_v("h", "h", "score"))
            return graph.edata["score"]

g = dgl.graph((torch.randint(0, 100, (500,)), torch.randint(0, 100, (500,))), num_nodes=100)
g.ndata["feat"] = torch.randn(100, 10)
g.edata["label"] = torch.randn(500)
label = g.edata["label"]
model, predictor = nn.Linear(10, 5), Predictor()
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(30):
    loss = F.mse_loss(predictor(g, model(g.ndata["feat"]))[:, 0], label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "a sum that is differentiated under its name, by a test that is out of view": """
import torch
from torch import nn
from batches import is_open

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train(loader):
    is_first = True
    for count, (x, y) in enumerate(loader):
        one = nn.functional.mse_loss(model(x), y)
        if is_open(count):
            if is_first:
                loss = one
                is_first = False
            else:
                loss += one
        else:
            is_first = True
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
""",
    "slopes, whose graph is kept for the callers": """
import torch
from torch.nn import Module

class Controller(Module):
    def forward(self, cost, x):
        if cost is None:
            return x
        return x - 0.1 * self.slopes(cost, x)

    def slopes(self, cost, x):
        states = x.data.requires_grad_(True)
        slopes = []
        for t in range(self.steps):
            slope = torch.autograd.grad(cost(states[t]).sum(), states[t], create_graph=True)[0]
            bend = []
            for v in range(x.shape[2]):
                bend.append(torch.autograd.grad(slope[:, v].sum(), states[t], retain_graph=True)[0])
            slopes.append(slope - torch.stack(bend, dim=-1).sum(-1))
        return torch.stack(slopes, dim=0)
""",
    "layers of a network that is not in view, all of them frozen": """
import torch
from models import resnet18
from torch import nn

resnet = resnet18(pretrained=True)
net = nn.Sequential(*list(resnet.children())[:3])
for param in net.parameters():
    param.requires_grad = False

image = torch.rand(1, 3, 32, 32, requires_grad=True)
target = net(torch.rand(1, 3, 32, 32))
optimizer = torch.optim.Adam([image])
for step in range(10):
    loss = (net(image) - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "a network that is frozen, as a whole, where it is made": """
import torch
from models import vgg16
from torch import nn

net = vgg16().eval()
net = net.requires_grad_(False)
image = torch.rand(1, 3, 8, 8).requires_grad_(True)
optimizer = torch.optim.Adam([image])
target = net(torch.rand(1, 3, 8, 8))
for step in range(10):
    loss = nn.functional.mse_loss(net(image), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "a network that its caller may have frozen": """
import torch
from torch import nn


def stylize(net, image, style):
    net.eval()
    image = image.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([image])
    target = net(style)
    for step in range(10):
        loss = nn.functional.mse_loss(net(image), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return image.detach()
""",
    "clones of the parameters that a method returns": """
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        sizes = config.get_layer_sizes()
        self.layers = nn.ModuleList(nn.LayerNorm(size) for size in sizes)

    def forward(self, x, params):
        layers = {}
        for name, param in params.items():
            index = int(name.split(".")[1])
            if index not in layers:
                layers[index] = {}
            layers[index][name.split(".")[-1]] = param
        for index in sorted(layers.keys()):
            weight, bias = layers[index]["weight"], layers[index]["bias"]
            x = F.layer_norm(x, weight.shape, weight, bias)
        return x

    def clone_parameters(self):
        params = {}
        for name, param in self.named_parameters():
            if "_mu" not in name:
                params[name] = param.clone()
        return params

    def adapt(self, task):
        adapted = self.clone_parameters()
        loss = F.mse_loss(self.forward(task["x"], adapted), task["y"])
        return adapted
""",
    "gradients that a hook in a network not in view has kept": """
import torch
from models import resnet18

model = resnet18()
gradients = []
model.layer4.register_full_backward_hook(lambda module, grad_input, grad_output: gradients.append(grad_output[0]))
scores = model(torch.randn(2, 3, 32, 32))
for label in range(10):
    model.zero_grad()
    scores[0, label].backward(retain_graph=True)
    print(gradients[label].sum().item())
""",
}


@pytest.mark.parametrize("name", QUIET_PROGRAMS)
def test_silent_about(name: str) -> None:
    source = Source.from_bytes(QUIET_PROGRAMS[name].encode(), "program.py")
    assert check(source, CheckOptions()).findings == ()


PARTS_OF_A_LOSS = """\
import torch.nn.functional as F


def train(model, optimizer, loader):
    total = 0.0
    for x, y, z in loader:
        optimizer.zero_grad()
        out = model(x)
        first, second = F.cross_entropy(out, y), F.mse_loss(out, z)
        loss = first + 0.5 * second
        loss.backward()
        optimizer.step()
        total += first
    return total.item() / len(loader)
"""


@pytest.mark.parametrize("part", ["first", "second"])
def test_parts_of_a_loss_have_history_if_all_come_from_one_value(part: str) -> None:
    text = PARTS_OF_A_LOSS.replace("total += first", f"total += {part}")
    result = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions())
    assert [finding.code for finding in result.findings] == ["AD101"]


def test_parts_that_come_from_two_values_need_not_have_history() -> None:
    text = PARTS_OF_A_LOSS.replace("F.mse_loss(out, z)", "model.penalty(z)").replace("+= first", "+= second")
    assert check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings == ()


def test_who_computes_a_weight_out_of_view_trains_it_all_the_same() -> None:
    text = (
        "import torch\nfrom torch import nn\nfrom torch.nn.utils import parametrize\nfrom library import Positive\n\n"
        "network = nn.Linear(4, 1, bias=False)\nparametrize.register_parametrization(network, 'weight', Positive())\n"
        "optimizer = torch.optim.SGD(network.parameters(), lr=0.1)\npredicted = network(torch.ones(2, 4))\n"
        "for step in range(5):\n    loss = predicted.pow(2).mean()\n    optimizer.zero_grad()\n    loss.backward()\n"
        "    optimizer.step()\n"
    )
    (finding,) = check(Source.from_text(text, "train.py"), CheckOptions()).findings
    assert finding.code == "AD301"
    assert finding.fix is not None
    assert finding.fix.message == "compute `predicted` inside the loop"


PLAYED = """\
import torch
from game import play
from torch import nn

cell = nn.LSTMCell(4, 4)
optimizer = torch.optim.Adam(cell.parameters())
memory = []
for episode in range(100):
    state, rewards = (torch.zeros(1, 4), torch.zeros(1, 4)), []
    for step in range(5):
        state = cell(torch.randn(1, 4), state)
        rewards.append(play(state[0].argmax().item()))
    loss = state[0].mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    memory.append((state, rewards))
print(len(memory))
"""


def test_beside_a_state_what_others_give_is_stored_as_it_is() -> None:
    (finding,) = check(Source.from_text(PLAYED, "play.py"), CheckOptions()).findings
    assert finding.code == "AD102" and finding.fix is not None
    assert finding.fix.applicability is Applicability.SAFE
    assert [edit.replacement for edit in finding.fix.edits] == ["tuple(s.detach() for s in state)"]
