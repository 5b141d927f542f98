"""What one program only looks at, another one may train through: a file that both import is theirs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLING = """\
import torch
from torch import nn


class Sampler:
    def __init__(self):
        self.cell = nn.GRUCell(4, 8)
        self.head = nn.Linear(8, 4)

    def sample(self, count, steps=140):
        x, h = torch.zeros(count, 4), torch.zeros(count, 8)
        log_probs = torch.zeros(count)
        for _ in range(steps):
            h = self.cell(x, h)
            log_prob = torch.log_softmax(self.head(h), dim=1)
            chosen = torch.multinomial(log_prob.exp(), 1)
            log_probs = log_probs + log_prob.gather(1, chosen).squeeze(1)
            x = nn.functional.one_hot(chosen.squeeze(1), 4).float()
        return h, log_probs

    def parameters(self):
        return [*self.cell.parameters(), *self.head.parameters()]
"""
LOOKS = """\
import torch
from shared import Sampler

sampler = Sampler()
optimizer = torch.optim.Adam(sampler.parameters(), lr=0.01)
for step in range(20):
    loss = sampler.head(torch.randn(4, 8)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    state, log_probs = sampler.sample(16)
    print(state.sum().item())
"""
TRAINS = """\
import torch
from shared import Sampler

sampler = Sampler()
optimizer = torch.optim.Adam(sampler.parameters(), lr=0.01)
for step in range(20):
    state, log_probs = sampler.sample(16)
    loss = (state[:, 0] - log_probs).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
"""
WALKING = """\
def walk(loss):
    loss.backward(retain_graph=True)
"""
ONCE = """\
import torch
from shared import walk

net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(20):
    optimizer.zero_grad()
    walk(net(torch.randn(2, 3)).mean())
    optimizer.step()
"""
TWICE = """\
import torch
from shared import walk

net = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(20):
    optimizer.zero_grad()
    out = net(torch.randn(2, 3)).tanh()
    walk(out.mean())
    out.pow(2).mean().backward()
    optimizer.step()
"""
PROJECTS = {"AD101": (SAMPLING, LOOKS, TRAINS), "AD103": (WALKING, ONCE, TWICE)}
FOR_THE_CACHE = 6


@pytest.fixture(params=PROJECTS)
def project(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    shared, looks, trains = PROJECTS[request.param]
    (tmp_path / "shared.py").write_text(shared)
    (tmp_path / "looks.py").write_text(looks)
    (tmp_path / "trains.py").write_text(trains)
    return request.param, tmp_path


def autodetach(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autodetach", *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_program_alone_has_an_unsafe_fix(project: tuple[str, Path]) -> None:
    code, folder = project
    (folder / "trains.py").unlink()
    (finding,) = json.loads(autodetach(folder, "check", "--output-format", "json", "looks.py").stdout)
    assert finding["code"] == code
    assert finding["filename"].endswith("shared.py")
    assert finding["fix"]["applicability"] == "unsafe"
    assert "other programs may" in finding["fix"]["why_unsafe"]


def test_nothing_is_said_where_another_program_needs_it(project: tuple[str, Path]) -> None:
    _, folder = project
    ran = autodetach(folder, "check", "--unsafe-fixes", ".")
    assert (ran.returncode, ran.stdout) == (0, "")


def test_nothing_is_said_either_where_that_one_is_not_asked_for(project: tuple[str, Path]) -> None:
    _, folder = project
    ran = autodetach(folder, "check", "--unsafe-fixes", "looks.py")
    assert (ran.returncode, ran.stdout) == (0, "")


def test_nothing_is_changed_where_another_program_needs_it(project: tuple[str, Path]) -> None:
    _, folder = project
    before = {path: path.read_bytes() for path in folder.glob("*.py")}
    ran = autodetach(folder, "fix", "--unsafe-fixes", ".")
    assert (ran.returncode, ran.stdout) == (0, "")
    assert {path: path.read_bytes() for path in folder.glob("*.py")} == before
    assert autodetach(folder, "diff", "--unsafe-fixes", ".").stdout == ""


def test_the_cache_knows_it_too(project: tuple[str, Path]) -> None:
    _, folder = project
    for number in range(FOR_THE_CACHE):
        (folder / f"other_{number}.py").write_text(f"import torch\n\nWEIGHT = torch.zeros({number + 1})\n")
    first = autodetach(folder, "check", ".")
    assert (folder / ".autodetach_cache").is_dir()
    second = autodetach(folder, "check", ".")
    assert (first.returncode, first.stdout) == (second.returncode, second.stdout) == (0, "")


def test_the_program_that_needs_it_gets_no_finding(project: tuple[str, Path]) -> None:
    _, folder = project
    assert autodetach(folder, "check", "trains.py").returncode == 0


def test_what_no_other_program_needs_is_told(project: tuple[str, Path]) -> None:
    code, folder = project
    (folder / "trains.py").write_text((folder / "looks.py").read_text())
    said = autodetach(folder, "check", "--output-format", "json", ".").stdout
    assert [finding["code"] for finding in json.loads(said)] == [code]


BY_CALLS = {
    "a module": 'import importlib\n\nshared = importlib.import_module("shared")\n',
    "a function": 'from importlib import import_module\n\nwalk = import_module(name="shared").walk\n',
    "a builtin": 'shared = __import__("shared")\n',
    "names": "shared = __import__('shared', fromlist=['walk'])\n",
    "inside": 'def walk(loss):\n    import importlib\n\n    return importlib.import_module("shared").walk(loss)\n',
}


@pytest.mark.parametrize("how", BY_CALLS)
def test_an_import_by_a_call_counts(how: str, tmp_path: Path) -> None:
    """A program that names the file in a call imports it like any other, for itself and for those that share it."""
    (tmp_path / "shared.py").write_text(WALKING)
    (tmp_path / "looks.py").write_text(ONCE)
    twice = TWICE.replace("from shared import walk\n", BY_CALLS[how])
    if "shared =" in twice:
        twice = twice.replace(" walk(out", " shared.walk(out")
    (tmp_path / "trains.py").write_text(twice)
    ran = autodetach(tmp_path, "fix", "--unsafe-fixes", ".")
    assert (ran.returncode, ran.stdout) == (0, "")
    assert (tmp_path / "shared.py").read_text() == WALKING
    (tmp_path / "trains.py").unlink()
    assert autodetach(tmp_path, "check", ".").returncode == 1


def test_an_import_by_a_call_is_followed(tmp_path: Path) -> None:
    once = ONCE.replace("from shared import walk", 'import importlib\n\nwalk = importlib.import_module("shared").walk')
    (tmp_path / "shared.py").write_text(WALKING)
    (tmp_path / "looks.py").write_text(once)
    (finding,) = json.loads(autodetach(tmp_path, "check", "--output-format", "json", "looks.py").stdout)
    assert (finding["code"], Path(finding["filename"]).name) == ("AD103", "shared.py")


BANKS = """\
import torch
from torch import nn


class Banks(nn.Module):
    def __init__(self, size, count=16):
        super().__init__()
        self.convolutions = nn.ModuleList([nn.Conv1d(size, size, 1)])
        self.norms = nn.ModuleList([nn.BatchNorm1d(size)])
        for width in range(1, count):
            self.convolutions.append(nn.Conv1d(size, size, 3, padding=1))
            self.norms.append(nn.BatchNorm1d(size))

    def forward(self, x):
        banks = []
        for i, (convolution, norm) in enumerate(zip(self.convolutions, self.norms)):
            x = torch.relu(norm(convolution(x)))
            banks.append(x)
        return torch.cat(banks, dim=1)
"""
SPEAKS = """\
import torch
from banks import Banks


def speak(model, x):
    return model.forward(x)[0].data.cpu().numpy()


model = Banks(8).eval()
for x in torch.randn(5, 2, 8, 10):
    print(speak(model, x).shape)
"""


def test_what_a_network_of_another_file_returns_is_its_callers(tmp_path: Path) -> None:
    (tmp_path / "banks.py").write_text(BANKS)
    (tmp_path / "speaks.py").write_text(SPEAKS)
    assert autodetach(tmp_path, "check", "speaks.py").returncode == 0


NEURON = """\
def step(x, v, leak):
    dv = leak * (x - v)
    return v + dv
"""
TIMES = """\
import time

import torch
from neuron import step


def measure(steps):
    leak = torch.tensor(0.1, requires_grad=True)
    v = torch.zeros(8)
    for _ in range(steps):
        start = time.time()
        v = step(torch.randn(8), v, leak)
        print(time.time() - start)


measure(1000)
"""


def test_a_time_step_of_another_file_is_cut_off_by_an_unsafe_fix_only(tmp_path: Path) -> None:
    (tmp_path / "neuron.py").write_text(NEURON)
    (tmp_path / "times.py").write_text(TIMES)
    found = json.loads(autodetach(tmp_path, "check", "--output-format", "json", "times.py").stdout)
    fixes = [finding["fix"] for finding in found if finding["filename"].endswith("neuron.py")]
    assert all(fix is None or fix["applicability"] == "unsafe" for fix in fixes)
    assert found


KERNEL = """\
import torch
from torch import nn


class Kernel(nn.Module):
    def __init__(self, dims, eps=1e-6):
        super().__init__()
        self.log_scales = nn.Parameter(torch.zeros(dims))
        self.scales = torch.exp(self.log_scales) + eps

    def forward(self, a, b):
        return torch.exp(-0.5 * ((a - b) / self.scales).pow(2).sum(-1))
"""
FITS = """\
import torch
from kernels import Kernel

kernel = Kernel(2)
optimizer = torch.optim.Adam(kernel.parameters(), lr=0.1)
for step in range(20):
    optimizer.zero_grad()
    loss = kernel(torch.randn(8, 2), torch.randn(8, 2)).mean()
    loss.backward()
    optimizer.step()
"""


def test_a_property_of_another_file_is_unsafe_since_others_may_set_it(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNEL)
    (tmp_path / "fits.py").write_text(FITS)
    (finding,) = json.loads(autodetach(tmp_path, "check", "--output-format", "json", "fits.py").stdout)
    assert finding["fix"]["message"] == "make `self.scales` a property"
    assert finding["fix"]["applicability"] == "unsafe"
    assert autodetach(tmp_path, "fix", "--unsafe-fixes", ".").returncode == 0
    assert "@property\n    def scales(self):\n" in (tmp_path / "kernels.py").read_text()


EXPERT = """\
import torch


class Expert:
    def __init__(self):
        self.encode = torch.nn.Linear(4, 4)
        self.heads = [torch.nn.Linear(4, 1) for _ in range(2)]
        parameters = [*self.encode.parameters(), *(p for head in self.heads for p in head.parameters())]
        self.optimizer = torch.optim.SGD(parameters, lr=0.1)

    def learn(self, codes: torch.Tensor, y: torch.Tensor):
        self.optimizer.zero_grad()
        loss = sum((head(codes) - y).pow(2).mean() for head in self.heads)
        loss.backward(retain_graph=True)
"""
MIXTURE = """\
import torch
from expert import Expert

experts = [Expert() for _ in range(3)]
for step in range(4):
    x, y, owner = torch.randn(12, 4), torch.randn(12, 1), torch.arange(12) % 3
    codes = torch.zeros(12, 4)
    for i, expert in enumerate(experts):
        codes[owner == i] = expert.encode(x[owner == i])
    for i, expert in enumerate(experts):
        expert.learn(codes[owner == i], y[owner == i])
    for expert in experts:
        expert.optimizer.step()
print("done")
"""


def test_a_file_that_others_import_is_judged_by_what_they_do(tmp_path: Path) -> None:
    (tmp_path / "expert.py").write_text(EXPERT)
    alone = json.loads(autodetach(tmp_path, "check", "--output-format", "json", "expert.py").stdout)
    assert [finding["code"] for finding in alone] == ["AD103"]
    (tmp_path / "mixture.py").write_text(MIXTURE)
    assert autodetach(tmp_path, "check", "expert.py").stdout == ""
    assert autodetach(tmp_path, "check", ".").returncode == 0
    assert autodetach(tmp_path, "fix", "--unsafe-fixes", ".").returncode == 0
    assert (tmp_path / "expert.py").read_text() == EXPERT


POOL = """\
import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.inside = nn.Linear(6, 6)
        self.clear()

    def clear(self):
        self.level = torch.zeros(1, 6)

    def forward(self, given):
        change = (torch.tanh(self.inside(self.level) + given) - self.level) / 10
        self.level = self.level + change
        return self.level
"""
WATCH = """\
import torch
from pool import Pool

torch.manual_seed(0)
pool = Pool()
levels = []
for trial in range(4):
    pool.clear()
    given = torch.randn(6)
    for t in range(200):
        levels.append(pool(given).detach())
print(torch.cat(levels).mean())
"""


def test_a_network_of_another_file_is_cut_off_where_it_is_only_looked_at(tmp_path: Path) -> None:
    """A cut inside of `forward` would leave whoever trains what `given` is made of without its gradient."""
    (tmp_path / "pool.py").write_text(POOL)
    (tmp_path / "watch.py").write_text(WATCH)
    findings = json.loads(autodetach(tmp_path, "check", "--output-format", "json", "watch.py").stdout)
    assert {(f["code"], f["fix"]["applicability"]) for f in findings} == {("AD101", "unsafe")}
    autodetach(tmp_path, "fix", "--unsafe-fixes", ".")
    assert (tmp_path / "pool.py").read_text() == POOL
    assert "        with torch.no_grad():\n            levels.append(" in (tmp_path / "watch.py").read_text()
    assert autodetach(tmp_path, "check", ".").returncode == 0


def test_a_network_of_another_file_is_not_cut_off_where_nothing_else_is_known(tmp_path: Path) -> None:
    (tmp_path / "pool.py").write_text(POOL)
    (tmp_path / "watch.py").write_text(
        WATCH.replace("import torch\n", "from torch import cat, manual_seed, randn\n", 1).replace("torch.", "")
    )
    findings = json.loads(autodetach(tmp_path, "check", "--output-format", "json", "watch.py").stdout)
    assert [f["fix"] for f in findings] == [None, None]


WORDS = """\
import torch
from torch import nn


class Words(torch.utils.data.Dataset):
    def __init__(self):
        self.embedding = nn.Embedding(10, 4)

    def __len__(self):
        return 32

    def __getitem__(self, index):
        return self.embedding(torch.randint(0, 10, (1 + index % 5,)))

    def padded(self, rows):
        batch = {"lengths": [len(row) for row in rows]}
        words = torch.zeros(len(rows), 5, 4)
        for i, length in enumerate(batch["lengths"]):
            words[i, :length, :] = rows[i]
        batch["words"] = words
        return batch


if __name__ == "__main__":
    words = Words()
    for batch in torch.utils.data.DataLoader(words, batch_size=8, collate_fn=words.padded):
        print(type(batch))
"""


@pytest.mark.parametrize("name", ["padded", "collate_fn"])
def test_batches_that_a_demo_looks_at_are_cut_off_by_an_unsafe_fix_only(tmp_path: Path, name: str) -> None:
    """Who loads the class by its name and trains the embedding, too, is not in view."""
    (tmp_path / "words.py").write_text(WORDS.replace("padded", name))
    findings = json.loads(autodetach(tmp_path, "check", "--output-format", "json", "words.py").stdout)
    assert {(f["code"], f["fix"]["applicability"]) for f in findings} == {("AD101", "unsafe")}


ROLLS = """\
import torch
from torch import nn


class Roll(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(4, 4)

    def roll_out(self, h, steps):
        for _ in range(steps):
            h = torch.tanh(self.cell(h))
        return h


def demo():
    print(Roll().roll_out(torch.rand(2, 4), 100).shape)


if __name__ == "__main__":
    demo()
"""
TRAINS_ROLLS = """\
import torch
from rolls import Roll

net = Roll()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    loss = net.roll_out(torch.rand(2, 4), 5).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_what_a_demo_alone_rolls_out_is_cut_off_by_an_unsafe_fix_only(tmp_path: Path) -> None:
    """The file of a network ends in a demo; who trains the network imports it, from where the tool need not look."""
    (tmp_path / "rolls.py").write_text(ROLLS)
    findings = json.loads(autodetach(tmp_path, "check", "--output-format", "json", "rolls.py").stdout)
    assert [(f["code"], f["fix"]["applicability"]) for f in findings] == [("AD302", "unsafe")]


def test_a_state_that_only_a_demo_does_not_differentiate_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "rolls.py").write_text(ROLLS)
    (tmp_path / "trains.py").write_text(TRAINS_ROLLS)
    ran = autodetach(tmp_path, "check", ".")
    assert (ran.returncode, ran.stdout) == (0, "")


LOG = """\
class Log:
    def __init__(self):
        self.sums, self.count = {}, 0

    def add(self, values):
        self.count += 1
        for name, value in values.items():
            self.sums[name] = self.sums.get(name, 0) + value

    def show(self):
        print({name: round(float(value) / self.count, 3) for name, value in self.sums.items()})
"""
LOGS = """\
import torch
from log import Log

net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
log = Log()
for step in range(5):
    loss = net(torch.ones(8, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    log.add({{"loss": loss{}}})
log.show()
"""


def test_what_others_may_fill_with_numbers_is_given_numbers(tmp_path: Path) -> None:
    """A log of a shared file that adds up the entries of a dict: most callers hand it numbers, one a loss."""
    (tmp_path / "log.py").write_text(LOG)
    (tmp_path / "one.py").write_text(LOGS.format(""))
    (tmp_path / "two.py").write_text(LOGS.format(".item()"))
    assert autodetach(tmp_path, "fix", ".").returncode == 0
    assert (tmp_path / "log.py").read_text() == LOG
    assert 'log.add({"loss": loss.item()})' in (tmp_path / "one.py").read_text()


AGENTS = """\
import torch


class Agents:
    def __init__(self, count):
        self.nets = [torch.nn.Linear(3, 1) for _ in range(count)]
        self.optimizers = [torch.optim.SGD(net.parameters(), lr=0.1) for net in self.nets]

    def update(self):
        losses = []
        for net, optimizer in zip(self.nets, self.optimizers):
            loss = net(torch.ones(4, 3)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss)
        return losses
"""
RUNS = """\
import sys
from agents import Agents

agents = Agents(int(sys.argv[1]))
for step in range(5):
    losses = agents.update()
"""


def test_a_list_that_a_shared_file_returns_stays_one_of_tensors(tmp_path: Path) -> None:
    """Another program may stack them."""
    (tmp_path / "agents.py").write_text(AGENTS)
    (tmp_path / "run.py").write_text(RUNS)
    autodetach(tmp_path, "fix", ".")
    assert "losses.append(loss.detach())" in (tmp_path / "agents.py").read_text()


CELL = """\
import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.content = nn.Linear(3, 4), nn.Linear(3, 4)

    def forward(self, x, memory):
        gate = torch.sigmoid(self.gate(x))
        return gate * memory + (1 - gate) * self.content(x)
"""
COMPARES = """\
import torch
from cell import Cell

cell, memory = Cell(), torch.zeros(2, 4)
for t in range(6):
    memory = cell(torch.ones(2, 3), memory)
    print(memory.abs().max().item())
"""


def test_a_script_that_takes_a_cell_of_another_file_through_a_few_steps_is_no_training(tmp_path: Path) -> None:
    (tmp_path / "cell.py").write_text(CELL)
    (tmp_path / "compares.py").write_text(COMPARES)
    ran = autodetach(tmp_path, "check", ".")
    assert (ran.returncode, ran.stdout) == (0, "")
    (tmp_path / "compares.py").write_text(COMPARES.replace("range(6)", "range(600)"))
    assert "AD101" in autodetach(tmp_path, "check", ".").stdout


STACK = """\
import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 4)
        self.states = [torch.zeros(1, 4)]

    def push(self, x):
        self.states.append(self.cell(x, self.states[-1]))


class Parser(nn.Module):
    def __init__(self):
        super().__init__()
        self.stack, self.embed, self.head = Stack(), nn.Embedding(9, 3), nn.Linear(4, 2)

    def read(self, words):
        while len(self.stack.states) > 1:
            self.stack.states.pop()
        for word in reversed(words.tolist()):
            self.stack.push(self.embed(torch.tensor([word])))
        return self.head(self.stack.states[-1])
"""
TRIES_STACK = """\
import pytest
import torch
from stack import Parser


@pytest.mark.parametrize("text", ["a stack of words", "words"])
def test_decodes(text):
    words = torch.LongTensor([len(word) for word in text.split()])
    assert Parser().read(words).argmax().item() in (0, 1)
"""


def test_what_a_file_does_with_others_is_no_fault_where_a_test_only_asks_for_its_values(tmp_path: Path) -> None:
    (tmp_path / "stack.py").write_text(STACK)
    (tmp_path / "test_stack.py").write_text(TRIES_STACK)
    ran = autodetach(tmp_path, "check", ".")
    assert (ran.returncode, ran.stdout) == (0, "")


WRITING = """\
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(6, 8)
        self.cell = nn.GRUCell(8, 8)
        self.score = nn.Linear(8, 6)

    def write(self, h, longest=255):
        tag, left = torch.zeros(h.size(0), dtype=torch.long), torch.ones(h.size(0))
        scores, tags = [], []
        while left.sum() > 0 and len(tags) < longest:
            h = self.cell(self.embed(tag), {state})
            score = torch.log_softmax(self.score(h), dim=-1)
            scores += [score]
            tag = score.argmax(dim=-1)
            left = left * (tag != 5).float()
            tags += [tag]
        return torch.stack(scores, dim=1), torch.stack(tags, dim=1)
"""
MEASURES = """\
import torch
from shared import Tagger

tagger = Tagger()
optimizer = torch.optim.SGD(tagger.parameters(), lr=0.1)
for step in range(20):
    optimizer.zero_grad()
    tagger.score(torch.randn(2, 8)).logsumexp(dim=-1).mean().backward()
    optimizer.step()
    scores, tags = tagger.write(torch.randn(2, 8))
    print(int((tags == 5).sum()))
"""


@pytest.mark.parametrize(("state", "codes"), [("h", set()), ("h.detach()", {"AD102"})])
def test_who_calls_a_network_may_train_with_the_sequence_that_it_writes(
    tmp_path: Path, state: str, codes: set[str]
) -> None:
    (tmp_path / "shared.py").write_text(WRITING.replace("{state}", state))
    (tmp_path / "looks.py").write_text(MEASURES)
    found = json.loads(autodetach(tmp_path, "check", "--output-format", "json", "looks.py").stdout)
    assert {one["code"] for one in found} == codes
