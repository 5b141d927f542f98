"""How long after a change an editor has the diagnostics, on a training script of 1,000 lines.

    python tests/lsp/latency.py [EDITS]

The times are those of one client and one server in one run, and of `ast.parse` of the same texts in between, since a
number of milliseconds says as much about the machine as about the program.
"""

from __future__ import annotations

import ast
import random
import statistics
import sys
import tempfile
import time
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


def script() -> str:
    """A thousand lines: two models with their training, and helpers."""
    tail = TAIL.format("".join(f'    parser.add_argument("--{name}", default=None)\n' for name in OPTIONS))
    parts = [HEAD, SCHEDULE.replace("N", "0")]
    for number in range(2):
        text = (MODEL + TRAINING).replace("LOSS", "loss" if number else "loss.item()")
        for name in ("Block", "Model", "Corpus", "train_", "evaluate_", "main_", "best_"):
            text = text.replace(f"{name}N", f"{name}{number}")
        parts.append(text)
    number = 1
    while sum(part.count("\n") for part in parts) + tail.count("\n") < LINES - 8:
        parts.append(SCHEDULE.replace("_N", f"_{number}"))
        number += 1
    text = "".join((*parts, tail))
    return text.replace("\n\n\ndef parse_args", "\n" * (LINES - text.count("\n")) + "\n\n\ndef parse_args")


def edits(text: str, count: int, chance: random.Random) -> list[tuple[str, str]]:
    """Texts, each by one change from the one before, with the kind of the change."""
    made: list[tuple[str, str]] = []
    for number in range(count):
        lines = text.split("\n")
        kind = ("a number", "a comment", "a new line", "a statement", "the loss")[number % 5]
        if kind == "a number":
            n = chance.choice([n for n, line in enumerate(lines) if "0.5 * (1.0" in line])
            lines[n] = lines[n].replace("0.5 *", f"0.5{number} *")
        elif kind == "a comment":
            n = chance.choice([n for n, line in enumerate(lines) if line.strip() and not line.rstrip().endswith('"""')])
            lines[n] += f"  # {number}"
        elif kind == "a new line":
            n = chance.choice([n for n, line in enumerate(lines) if line.startswith("def ")])
            lines.insert(n, "")
        elif kind == "a statement":
            n = chance.choice([n for n, line in enumerate(lines) if "progress = " in line])
            lines.insert(n, f"    total = total + {number}")
        else:
            n = next(n for n, line in enumerate(lines) if line.startswith("        total += loss"))
            m = max(n for n, line in enumerate(lines) if line.startswith("        total += loss"))
            n = chance.choice((n, m))
            lines[n] = "        total += " + ("loss" if ".item()" in lines[n] else "loss.item()")
        text = "\n".join(lines)
        made.append((kind, text))
    return made


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    text = script()
    took: dict[str, list[float]] = {}
    parsed: list[float] = []
    with tempfile.TemporaryDirectory() as folder, Client(Path(folder)) as client:
        uri = (Path(folder) / "train.py").as_uri()
        client.initialize(Path(folder))
        client.open(uri, text)
        client.diagnostics(uri, 1)
        for version, (kind, new) in enumerate(edits(text, count, random.Random(0)), start=2):
            start = time.perf_counter()
            client.change(uri, version, change(text, new))
            client.diagnostics(uri, version)
            took.setdefault(kind, []).append(time.perf_counter() - start)
            text = new
            start = time.perf_counter()
            ast.parse(text)
            parsed.append(time.perf_counter() - start)
    took["all"] = [one for times in list(took.values()) for one in times]
    parse = statistics.median(parsed)
    print(f"{len(text.splitlines())} lines; ast.parse takes {parse * 1000:.1f} ms (median)")
    for kind, times in took.items():
        middle, high = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        print(
            f"{kind:12} {len(times):4} edits: median {middle * 1000:6.0f} ms ({middle / parse:5.1f} parses), "
            f"95th percentile {high * 1000:6.0f} ms ({high / parse:5.1f} parses)"
        )


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
