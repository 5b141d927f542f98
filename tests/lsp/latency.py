"""How long after a change an editor has the diagnostics, on training scripts of 1,000 lines.

    python tests/lsp/latency.py [EDITS] [KIND ...]

The times are those of one client and one server in one run, and of `ast.parse` of the same texts in between, since a
number of milliseconds says as much about the machine as about the program. `first` is when something is shown of the
new text, `last` when that is known to be all; `same` says how often the first was the last.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from lsp_client import Client

LINES = 1000
HEAD = """\
import argparse
import logging
import math
import os
import random
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

log = logging.getLogger(__name__)
"""
SCHEDULE = '''

def schedule_N(step, warmup, total, base=1e-3):
    """The learning rate at a step."""
    if step < warmup:
        return base * step / max(1, warmup)
    progress = (step - warmup) / max(1, total - warmup)
    return base * 0.5 * (1.0 + math.cos(math.pi * progress))
'''
MODEL = '''

class BlockN(nn.Module):
    """A residual block with its own width."""

    def __init__(self, width, dropout=0.1):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.first = nn.Linear(width, 4 * width)
        self.second = nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(dropout)
        self.scale = 1.0 / math.sqrt(2)

    def forward(self, x, mask=None):
        y = F.gelu(self.first(self.norm(x)))
        if mask is not None:
            y = y * mask.unsqueeze(-1)
        return x + self.scale * self.dropout(self.second(y))


class ModelN(nn.Module):
    def __init__(self, width, classes, depth=4):
        super().__init__()
        self.embed = nn.Linear(32, width)
        self.blocks = nn.ModuleList([BlockN(width) for _ in range(depth)])
        self.head = nn.Linear(width, classes)

    def forward(self, x, mask=None):
        h = self.embed(x)
        for block in self.blocks:
            h = block(h, mask)
        return self.head(h.mean(dim=1))


class CorpusN(Dataset):
    """Samples that are read when they are asked for."""

    def __init__(self, root, split, limit=None):
        self.root = root
        self.split = split
        names = sorted(os.listdir(os.path.join(root, split)))
        self.names = names[:limit] if limit else names

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        sample = torch.load(os.path.join(self.root, self.split, self.names[index]))
        x, y = sample["x"], sample["y"]
        if self.split == "train" and random.random() < 0.5:
            x = torch.flip(x, dims=[-1])
        return x.float(), y.long()
'''
TRAINING = '''

def train_N(model, loader, optimizer, device, args):
    """One epoch; returns the mean loss and the accuracy."""
    model.train()
    total, correct, seen = 0.0, 0, 0
    start = time.time()
    for step, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        for group in optimizer.param_groups:
            group["lr"] = schedule_0(step, args.warmup, args.steps)
        optimizer.zero_grad()
        logits = model(x)
        loss = F.cross_entropy(logits, y, label_smoothing=args.smoothing)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()
        total += LOSS
        correct += (logits.argmax(dim=-1) == y).sum().item()
        seen += y.size(0)
        if step % args.log_every == 0:
            log.info("step %d loss %.4f (%.1f s)", step, total / (step + 1), time.time() - start)
    return total / len(loader), correct / max(1, seen)


@torch.no_grad()
def evaluate_N(model, loader, device):
    model.eval()
    total, correct, seen = 0.0, 0, 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        logits = model(x)
        total += F.cross_entropy(logits, y).item()
        correct += (logits.argmax(dim=-1) == y).sum().item()
        seen += y.size(0)
    return total / len(loader), correct / max(1, seen)


def main_N(args):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = ModelN(args.width, args.classes).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=args.decay)
    train_loader = DataLoader(CorpusN(args.data, "train"), batch_size=args.batch, shuffle=True)
    valid_loader = DataLoader(CorpusN(args.data, "valid"), batch_size=args.batch)
    best = math.inf
    for epoch in range(args.epochs):
        loss, accuracy = train_N(model, train_loader, optimizer, device, args)
        valid, valid_accuracy = evaluate_N(model, valid_loader, device)
        log.info("epoch %d: %.4f %.3f, valid %.4f %.3f", epoch, loss, accuracy, valid, valid_accuracy)
        if valid < best:
            best = valid
            torch.save(model.state_dict(), os.path.join(args.out, "best_N.pt"))
    return best
'''
TAIL = """

def parse_args():
    parser = argparse.ArgumentParser()
{}    return parser.parse_args()


if __name__ == "__main__":
    main_0(parse_args())
"""
OPTIONS = "data out width classes lr decay batch epochs warmup steps smoothing clip log_every".split()


GAN = """

def train_gan(generator, critic, loader, args):
    real_label, fake_label = 1.0, 0.0
    opt_g = torch.optim.Adam(generator.parameters(), lr=args.lr)
    opt_c = torch.optim.Adam(critic.parameters(), lr=args.lr)
    loss_fn = nn.BCEWithLogitsLoss()
    for epoch in range(args.epochs):
        sum_g, sum_c = 0.0, 0.0
        for step, (x, y) in enumerate(loader):
            noise = torch.randn(x.size(0), 32)
            fake = generator(noise)
            real_out = critic(x)
            fake_out = critic(fake.detach())
            loss_c = loss_fn(real_out, torch.full_like(real_out, real_label))
            loss_c = loss_c + loss_fn(fake_out, torch.full_like(fake_out, fake_label))
            opt_c.zero_grad()
            loss_c.backward()
            opt_c.step()
            if step % args.critic_steps == 0:
                loss_g = loss_fn(critic(fake), torch.full_like(real_out, real_label))
                opt_g.zero_grad()
                loss_g.backward()
                opt_g.step()
                sum_g += loss_g.item()
            sum_c += loss_c.item()
        log.info("epoch %d: %.4f %.4f", epoch, sum_g / len(loader), sum_c / len(loader))
"""
LONG = """        if args.option_N:
            x = x * args.scale_N + args.shift_N
        seen_N = x.size(0) * args.factor_N
        if step % args.every_N == 0 and args.verbose_N:
            log.info("step %d: %d of %d", step, seen_N, args.total_N)
"""
UTILITY = """

class UtilityN:
    \"\"\"Keeps what is asked for often.\"\"\"

    def __init__(self, root, limit=10):
        self.root = root
        self.limit = limit
        self.items = {}

    def get(self, name, default=None):
        for item in self.items.get(name, ()):
            if item.ready:
                return item
        return default

    def put(self, name, item):
        self.items.setdefault(name, []).append(item)
        while len(self.items[name]) > self.limit:
            self.items[name].pop(0)
"""


def numbered(text: str, number: int) -> str:
    for name in ("Block", "Model", "Corpus", "Utility", "train_", "evaluate_", "main_", "best_", "schedule_"):
        text = text.replace(f"{name}N", f"{name}{number}")
    return text


def filled(parts: list[str], filler: str, end: str) -> str:
    """A thousand lines: these parts, as many of the filler as there is room for, the end."""
    text = "".join(parts)
    for number in itertools.count(1):
        more = numbered(filler, number)
        if (text + more + end).count("\n") > LINES:
            return text + "\n" * (LINES - (text + end).count("\n")) + end
        text += more
    raise AssertionError


def tail(call: str = "main_0(parse_args())") -> str:
    options = "".join(f'    parser.add_argument("--{name}", default=None)\n' for name in OPTIONS)
    return TAIL.format(options).replace("main_0(parse_args())", call)


def trainer(kept: str) -> str:
    """Two models with their training, one of which is started, and helpers."""
    units = (numbered(MODEL + TRAINING, n).replace("LOSS", kept if n else "loss.item()") for n in range(2))
    return filled([HEAD, numbered(SCHEDULE, 0), *units], SCHEDULE, tail())


def gan() -> str:
    start = "train_gan(Model0(8, 3), Model0(8, 1), DataLoader(Corpus0('.', 'train')), parse_args())"
    return filled([HEAD, numbered(MODEL, 0), GAN], UTILITY, tail(start))


def classes() -> str:
    """Many classes and functions that nobody in view calls."""
    unit = numbered(MODEL + TRAINING, 0).replace("LOSS", "loss")
    return filled([HEAD, numbered(SCHEDULE, 0), unit], UTILITY, "\n")


def long_main() -> str:
    """One training loop of some hundred lines."""
    training = numbered(MODEL + TRAINING, 0).replace("LOSS", "loss.item()")
    begin = training.index("        optimizer.zero_grad()")
    room = LINES - (HEAD + SCHEDULE + training + tail()).count("\n")
    more = "".join(LONG.replace("_N", f"_{n}") for n in range(room // LONG.count("\n")))
    return HEAD + numbered(SCHEDULE, 0) + training[:begin] + more + training[begin:] + tail()


SCRIPTS: dict[str, Callable[[], str]] = {
    "clean trainer": lambda: trainer("loss.item()"),
    "trainer": lambda: trainer("loss"),
    "gan": gan,
    "classes": classes,
    "long main": long_main,
}


def script() -> str:
    """The training script with a finding."""
    return trainer("loss")


def edits(text: str, count: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Texts, each by one change from the one before, with the kind of the change."""
    kinds = ("letter", "number", "comment", "new line", "statement", "loop", "loss", "rename")
    for number in range(count):
        lines = text.split("\n")
        kind = kinds[number % len(kinds)]
        code = [n for n, line in enumerate(lines) if line.startswith("    ") and "(" in line and '"' not in line]
        loop = [n for n, line in enumerate(lines) if "optimizer.zero_grad()" in line or "opt_c.zero_grad()" in line]
        if kind == "letter":  # a name that is being typed, at the end of a line of some function
            n = chance.choice([n for n in code if not lines[n].rstrip().endswith((":", ",", "("))])
            lines[n] += f"; x{number}"
        elif kind == "number":
            n = chance.choice([n for n, line in enumerate(lines) if " 0.5" in line or " 1.0" in line])
            lines[n] = lines[n].replace(" 0.5", f" 0.5{number}", 1).replace(" 1.0", f" 1.0{number}", 1)
        elif kind == "comment":
            n = chance.choice([n for n, line in enumerate(lines) if line.strip() and not line.rstrip().endswith('"""')])
            lines[n] += f"  # {number}"
        elif kind == "new line":
            n = chance.choice([n for n, line in enumerate(lines) if line.startswith(("def ", "class "))])
            lines.insert(n, "")
        elif kind == "statement":
            n = chance.choice([n for n in code if lines[n].lstrip().startswith(("return ", "self.", "model."))])
            lines.insert(n, lines[n][: len(lines[n]) - len(lines[n].lstrip())] + f"value = {number}")
        elif kind == "loop":
            n = chance.choice(loop)
            lines.insert(n, lines[n][: len(lines[n]) - len(lines[n].lstrip())] + f"norm_{number} = x.norm()")
        elif kind == "loss":
            n = chance.choice([n for n, line in enumerate(lines) if "total += loss" in line or "sum_c += loss" in line])
            lines[n] = lines[n].removesuffix(".item()") if lines[n].endswith(".item()") else lines[n] + ".item()"
        else:
            n = chance.choice([n for n, line in enumerate(lines) if line.startswith("def ")])
            name = lines[n].removeprefix("def ").partition("(")[0]
            lines[n] = lines[n].replace(name, f"{name.rstrip('x')}" if name.endswith("x") else f"{name}x")
        text = "\n".join(lines)
        yield kind, text


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("edits", type=int, nargs="?", default=64)
    parser.add_argument("kinds", nargs="*", default=list(SCRIPTS))
    options = parser.parse_args()
    for name in options.kinds:
        measure(name, SCRIPTS[name](), options.edits)


def measure(name: str, text: str, count: int) -> None:
    """Print a table of the times of one script."""
    first: dict[str, list[float]] = {}
    last: dict[str, list[float]] = {}
    parsed: list[float] = []
    same = 0
    with tempfile.TemporaryDirectory() as folder, Client(Path(folder)) as client:
        uri = (Path(folder) / "train.py").as_uri()
        client.initialize(Path(folder))
        client.open(uri, text)
        client.diagnostics(uri, 1)
        for version, (kind, new) in enumerate(edits(text, count, random.Random(0)), start=2):
            edit = change(text, new)  # an editor knows it
            start = time.perf_counter()
            client.change(uri, version, edit)
            client.diagnostics(uri, version)
            shown = time.perf_counter() - start
            at = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
            client.request("textDocument/hover", at)
            known = time.perf_counter() - start
            same += not any(params["uri"] == uri for _, params in client.notified if "uri" in params)
            for times, one in ((first, shown), (last, known)):
                times.setdefault(kind, []).append(one)
                times.setdefault("all", []).append(one)
            text = new
            start = time.perf_counter()
            ast.parse(text)
            parsed.append(time.perf_counter() - start)
    parse = statistics.median(parsed)
    print(f"{name}: {len(text.splitlines())} lines; ast.parse {parse * 1000:.1f} ms (median); same {same} of {count}")
    print(f"  {'':12} {'first':>31}   {'last':>31}")
    for kind in sorted(first, key=lambda kind: kind == "all"):
        columns = "   ".join(shown_as(times[kind], parse) for times in (first, last))
        print(f"  {kind:12} {columns}", flush=True)


def shown_as(times: list[float], parse: float) -> str:
    """The median and the 95th percentile, in milliseconds and in parses of the text."""
    middle, high = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    return f"{middle * 1000:6.0f} ms {middle / parse:5.1f}  {high * 1000:6.0f} ms {high / parse:5.1f}"


def change(old: str, new: str) -> dict[str, object]:
    """The one incremental change from a text to another, both of ASCII."""
    first = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1

    def at(index: int) -> dict[str, int]:
        return {"line": old.count("\n", 0, index), "character": index - (old.rfind("\n", 0, index) + 1)}

    return {"range": {"start": at(first), "end": at(len(old) - last)}, "text": new[first : len(new) - last]}


if __name__ == "__main__":
    main()
