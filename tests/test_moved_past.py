"""What is built before a loop moves into it safely only if it reads the same there."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

PROGRAM = """\
import itertools
import math
import operator
import os
import random
import time
from collections import deque
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from math import pi as factor
from types import SimpleNamespace

import numpy as np
import pandas as pd
import torch
import torchvision.transforms.functional as TF
from torch import nn
from torchvision import transforms

from data_of_somebody import (
    ReplayInfo,
    batches,
    count_and_mask,
    draw_boxes,
    normalize_logs,
    out_of_view,
    plot_fit,
    plot_one_box,
    save_and_quantize,
    save_checkpoint,
    write_patch,
)
from einops import rearrange, repeat
from loguru import logger
from scipy import linalg, ndimage
from sklearn.preprocessing import scale
from thop import profile
from torchsummary import summary


class Settings:
    def __init__(self):
        self.heat = 1.0
        self.seen = []


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.leak = nn.LeakyReLU(0.1)
        self.heat = 1.0

    def forward(self, x):
        return self.leak(torch.tanh(self.layer(x))) / self.heat


class Clock:
    now = 0

    def __call__(self):
        Clock.now += 1
        return Clock.now

    def __getitem__(self, at):
        Clock.now += at
        return Clock.now


def turn(numbers):
    numbers[0] = 0.5


def show(numbers):
    print(numbers[0])


def count(seen=[]):
    seen.append(1)
    return len(seen)


def taken():
    return next(numbers)


def anneal():
    global heat
    heat *= 0.5


def judge(module):
    module.eval()
    print(module.training)
    module.train()


class Halved:
    def __call__(self, rows):
        rows.div_(2)
        return rows


class Doubled(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU(inplace=True)

    def forward(self, rows):
        rows.mul_(2)
        return rows


class Apart(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU(inplace=True)
        self.line = nn.Linear(4, 4)
        self.calls = 0

    def forward(self, rows):
        rows = self.line(rows)
        rows += 1
        return self.act(nn.functional.relu(rows, inplace=True))


class Buffer:
    def __init__(self, rows):
        self.rows = rows
        self.length = len(rows)

    def push(self):
        self.rows[0] = 5

    def size(self):
        self.length += 1
        return self.length


class Held:
    def __init__(self, rows):
        self.parts = [rows]

    def double(self):
        for part in self.parts:
            part *= 2


@dataclass
class Boxed:
    value: torch.Tensor


class Wrapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(4, 1))

    def forward(self, rows):
        return self.inner(rows)


class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))
        self.calls = 0
        self.rate = 2.0

    def forward(self, rows):
        self.seen += 1
        self.calls += 1
        return rows


class Recorder:
    def __init__(self):
        self.records = 0

    def note(self, *given):
        self.records += 1

    def __call__(self, *given):
        self.records += 1


def count_in(kept):
    def hook(module, given, made):
        kept.append(1)

    return hook


def cool(module, given, made):
    global heat
    heat *= 0.5


def rate_of(some):
    return some.param_groups[0]["lr"]


def norm_of(module):
    return sum(p.grad.norm().item() for p in module.parameters() if p.grad is not None)


def each(rows):
    for row in rows:
        yield row


def double_first(parts):
    first = parts["x"]
    first *= 2


def double_some(part, at=None):
    if at is None:
        at = torch.randperm(5)
    some = part[at]
    some *= 2


def double_copy(part):
    part = part.clone()
    part *= 2


def freeze(module):
    for p in module.parameters():
        if p.dim() > 1:
            p.requires_grad = False


def begin(module):
    if isinstance(module, nn.Linear):
        nn.init.ones_(module.weight)


settings, table, heat, rows = Settings(), {"heat": 1.0}, 1.0, [torch.ones(4)]
numbers, clock = itertools.count(1), Clock()
shared, offset = table, torch.ones(4)
scales, waiting, array = [1.0, 2.0], deque([1.0, 2.0]), np.ones(4, dtype=np.float32)
of_array = torch.from_numpy(array)
net, head, other = Scaled(), nn.Linear(4, 1), nn.Sequential(nn.Linear(4, 4))
in_place, chain = nn.LeakyReLU(0.1, inplace=True), nn.Sequential(nn.Identity(), nn.ReLU(True))
plain, halved, doubled, apart = nn.Sequential(nn.Linear(4, 4), nn.ReLU(True)), Halved(), Doubled(), Apart()
x = torch.ones(5, 4)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
counted, recorder, norm = Counted(), Recorder(), nn.BatchNorm1d(4)
inside, mean, variance = nn.Sequential(counted, nn.ReLU()), torch.zeros(4), torch.ones(4)
features = net(x)
BETWEEN
for step in range(3):
    loss = head(features).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    BODY
"""

HEALTHY = [
    ("net.train()", "net.train()"),
    ("net.train(); other.eval()", "pass"),
    ("print(len(x))", "rows.append(loss.item())"),
    ("nn.init.zeros_(head.bias)", "pass"),
    ("other.double(); other.apply(begin)", "pass"),
    ("judge(net)", "judge(net)"),
    ("settings.heat_of_others = 0.5", "settings.seen.append(step)"),
    ("table['heat'] = 0.5", "table['loss'] = loss.item()"),
    ("optimizer.param_groups[0]['lr'] = 0.2", "nn.utils.clip_grad_norm_(net.parameters(), 1.0)"),
    ("pass", "net.layer.weight.data.clamp_(-1, 1)"),
    ("pass", "anneal()"),
    ("pass", "for batch in batches: batch.heat = batch.heat.float()"),
    ("state = {'step': 0, 'model': net}", "state['step'] += 1; state['best'] = loss.item()"),
    ("state = {}; state['model'] = net; again = state", "again['loss'] = loss.item(); torch.save(state, 'a.pt')"),
    ("batch = {'x': x, 'loss': []}", "batch['loss'].append(loss.item())"),
    ("seen = [x]", "seen.append(loss.item()); seen += [1.0]; random.shuffle(seen)"),
    ("state = dict(model=net)", "del state['model']"),
    ("order = torch.randperm(5)", "part = x[order]; part.mul_(2); part += 1"),
    ("pass", "part = x[torch.randperm(5)[:2]]; part.mul_(2)"),
    ("logger.info(x.shape); logger.debug(x)", "logger.debug(net)"),
    ("rows_first = rearrange(x, 'a b -> b a'); scaled = scale(x)", "plot_fit(net, x)"),
    ("nn.functional.relu(x); nn.functional.dropout(x, 0.5, True); nn.ReLU()(x)", "plain(x); nn.LeakyReLU(0.1)(x)"),
    ("apart(x)", "apart(x)"),
    ("change = offset.add_; change(1); show_first = partial(show, rows); show_first()", "pass"),
    ("buffer = Buffer(x); buffer.size()", "buffer.size()"),
    ("other.requires_grad_(False); freeze(plain); freeze(head)", "pass"),
    ("net.requires_grad_(True)", "pass"),
    ("net.layer.weight.requires_grad_(False)", "pass"),
    ("net.layer.weight.requires_grad = False", "pass"),
    ("for p in [net.layer.weight]: p.requires_grad = False", "pass"),
    ("freeze(net)", "pass"),
    ("for p in other.parameters(): p.requires_grad = False", "pass"),
    ("torch.sort(torch.ones(4), out=(torch.ones(4), torch.arange(4)))", "pass"),
    ("save_checkpoint(net, optimizer)", "save_checkpoint(net, step)"),
    ("batch = {'x': x, 'step': 0}; at = batch['step']; at += 1", "double_copy(x)"),
    ("seen = [x]; again = list(seen); again.append(1); again += [2]", "again[0] = loss.item()"),
    ("batch = dict(x=x, step=0); again = batch.copy(); again['y'] = 1", "batch['step'] += 1"),
    ("batch = SimpleNamespace(x=x, step=0); batch.step = 1", "batch.loss = loss.item()"),
    ("halves = [part / 2 for part in (x, x)] + [1]", "halves[0] *= 2"),
    ("copies = {key: part.clone() for key, part in {'x': x}.items()}; copies['x'] *= 2", "pass"),
    ("double = x + x; double *= 2; double[0] = 1", "pass"),
    ("pixels = x.numpy(); np.multiply(pixels, pixels); np.where(pixels > 0, 1, pixels); np.clip(pixels, 0, 1)", "pass"),
    ("pixels = x.numpy(); linalg.lu_factor(pixels, overwrite_a=False); ndimage.gaussian_filter(pixels, 1)", "pass"),
    ("total = 0\nfor part in rows: total += part.sum().item()", "pass"),
    ("TF.normalize(x, [0.5], [0.5]); TF.normalize(x, [0.5], [0.5], False)", "pass"),
    ("again = x.repeat(2, 1); again += 1", "pass"),
]

CHANGING = [
    ("Held(x).double()", "pass"),
    ("held = Held(x)", "held.double()"),
    ("for row in each(x): row *= 2", "pass"),
    ("boxed = Boxed(x); boxed.value[0] = 5", "pass"),
    ("Wrapped()(x)", "pass"),
    ("pass", "Wrapped()(x)"),
    ("net.eval()", "pass"),
    ("pass", "net.eval()"),
    ("net.leak.negative_slope = 0.5", "pass"),
    ("net.heat = 0.5", "pass"),
    ("setattr(net, 'heat', 0.5)", "pass"),
    ("net.layer.weight.data.mul_(0.5)", "pass"),
    ("net.layer.weight.data = torch.ones(4, 4)", "pass"),
    ("nn.init.zeros_(net.layer.weight)", "pass"),
    ("net.apply(begin)", "pass"),
    ("net.double(); x.data = x.double()", "pass"),
    ("net.load_state_dict(net.state_dict())", "pass"),
    ("for p in net.parameters(): p.data.clamp_(0, 0.1)", "pass"),
    ("pass", "x.mul_(0.5)"),
    ("torch.set_default_dtype(torch.float64)", "pass"),
    ("batch = {'x': x}; batch['x'] *= 2", "pass"),
    ("batch = {}; batch['x'] = x", "batch['x'] *= 2"),
    ("batch = {'x': x}", "batch['x'].mul_(2)"),
    ("batch = {'x': x}", "batch['x'][0] = 5"),
    ("batch = {'x': x}; again = batch", "for key in again: again[key] += 1"),
    ("batch = {'x': x}", "for key, part in batch.items(): part.mul_(2)"),
    ("batch = {'x': x}", "out_of_view(batch)"),
    ("seen = [1.0]; seen.append(x)", "seen[1] += 1"),
    ("seen = [x, 1.0]", "seen[0].mul_(2)"),
    ("seen = [[x]]", "seen[0][0].mul_(2)"),
    ("order = torch.randperm(5)", "x[order] += 1"),
    ("order = torch.randperm(5); order = 0", "part = x[order]; part.mul_(2)"),
    ("order = slice(2)", "part = x[order]; part.mul_(2)"),
    ("rows_first = rearrange(x, 'a b -> b a')", "rows_first.mul_(2)"),
    ("scale(x, copy=False)", "pass"),
    ("normalize_logs(x)", "pass"),
    ("nn.functional.relu(x, inplace=True)", "pass"),
    ("pass", "nn.functional.relu(x, True)"),
    ("nn.functional.dropout(x, 0.5, True, True)", "pass"),
    ("nn.ReLU(inplace=True)(x)", "pass"),
    ("nn.ReLU(True)(x)", "pass"),
    ("in_place(x)", "pass"),
    ("chain(x)", "pass"),
    ("halved(x)", "pass"),
    ("pass", "doubled(x)"),
    ("buffer = Buffer(x)", "buffer.push()"),
    ("Buffer(x).push()", "pass"),
    ("torch.sort(x, 0, out=(x, torch.ones(5, 4).long()))", "pass"),
    ("change = x.add_; change(1)", "pass"),
    ("partial(turn, x)()", "pass"),
    ("batch = {'x': x, 'step': 0}\nfor key, part in batch.items():\n    if torch.is_tensor(part): part /= 10", "pass"),
    ("seen = [x, 0]\nfor part in seen:\n    if torch.is_tensor(part): part *= 2", "pass"),
    ("part = x; part *= 2; part = 0", "pass"),
    ("double_some(x, slice(0, 4))", "pass"),
    ("pixels = x.numpy(); np.clip(pixels, 0, 1, pixels)", "pass"),
    ("pixels = x.numpy(); np.multiply(pixels, 2, pixels)", "pass"),
    ("pixels = x.numpy(); np.sqrt(pixels, pixels)", "pass"),
    ("ndimage.gaussian_filter(x.numpy(), 1, output=x.numpy())", "pass"),
    ("linalg.lu_factor(x.numpy(), overwrite_a=True)", "pass"),
    ("seen = [x]; again = list(seen)", "again[0] *= 2"),
    ("seen = [x]; again = seen.copy(); again[0][0] = 5", "pass"),
    ("seen = [x]; list(seen)[0].mul_(2)", "pass"),
    ("seen = [x]", "for part in reversed(list(seen)): part.mul_(2)"),
    ("seen = [x]; out_of_view(seen.copy())", "pass"),
    ("batch = {'x': x}; again = dict(batch); again['x'] *= 2", "pass"),
    ("batch = dict(x=x); batch['x'] *= 2", "pass"),
    ("batch = {**dict(x=x)}; batch['x'].mul_(2)", "pass"),
    ("seen = [x]; again = [part for part in seen]; again[0] *= 2", "pass"),
    ("batch = {'x': x}; again = {key: part.data for key, part in batch.items()}", "again['x'] *= 2"),
    ("out_of_view([part for part in (x, 1)])", "pass"),
    ("seen = [x] + [1]; seen[0] *= 2", "pass"),
    ("seen = []; seen += [x]; seen[0] *= 2", "pass"),
    ("batch = {}; batch |= {'x': x}; batch['x'] *= 2", "pass"),
    ("batch = {'y': 0} | {'x': x}; batch['x'] *= 2", "pass"),
    ("batch = SimpleNamespace(x=x, step=0); batch.x *= 2", "pass"),
    ("batch = SimpleNamespace(x=x, step=0)", "batch.x[0] = 5"),
    ("draw_boxes(x.numpy(), [1])", "pass"),
    ("plot_one_box([0, 0, 1, 1], x.numpy())", "pass"),
    ("write_patch(x, 0)", "pass"),
    ("count_and_mask(x)", "pass"),
    ("save_and_quantize(x)", "pass"),
    ("info = ReplayInfo(x); info.normalise()", "pass"),
    ("profile(doubled, inputs=(x,))", "pass"),
    ("summary(net, (4,))", "pass"),
    ("batch = {'x': x, 'step': 0}; part = batch['x']; part *= 2; part = batch['step']", "pass"),
    ("batch = {'x': x, 'step': 0}; double_first(batch)", "pass"),
    ("table_of = pd.DataFrame(x.numpy()); table_of *= 2", "pass"),
    ("again = repeat(x, 'a b -> a b'); again += 1", "pass"),
    ("TF.normalize(x, [0.5], [0.5], True)", "pass"),
    ("TF.erase(x, 0, 0, 2, 2, offset, True)", "pass"),
    ("transforms.Normalize([0.5], [0.5], True)(x)", "pass"),
]

READING = [
    ("net(x) * settings.heat", "settings.heat = 0.5", "pass"),
    ("net(x) * settings.heat", "pass", "settings.heat *= 0.5"),
    ("net(x) * table['heat']", "table['heat'] = 0.5", "pass"),
    ("net(x) * table['heat']", "shared['heat'] = 0.5", "pass"),
    ("net(x) * table['heat']", "pass", "table.update(heat=0.5)"),
    ("net(x) * table['heat']", "held = {'table': table}; held['table']['heat'] = 0.5", "pass"),
    ("net(x) * table['heat']", "held = [table]; held[0].update(heat=0.5)", "pass"),
    ("net(x) * torch.stack(rows).sum(0)", "pass", "again = rows; again.append(torch.ones(4))"),
    ("net(x) * heat", "pass", "anneal()"),
    ("net(x) * heat", "pass", "heat *= 0.5"),
    ("net(x) * torch.stack(rows).sum(0)", "pass", "rows.append(torch.ones(4))"),
    ("net(x) * offset", "torch.mul(offset, 2, out=offset)", "pass"),
    ("net(x) * offset", "row = offset[:2]", "row.mul_(0.5)"),
    ("net(x) * torch.stack(rows).sum(0)", "pass", "random.shuffle(rows)"),
    ("net(out_of_view.x)", "other_one = out_of_view", "other_one.x = other_one.x.float()"),
    ("net(x) * float(os.environ.get('HEAT', '1'))", "os.environ['HEAT'] = '2'", "pass"),
    ("net(x) * scales[0]", "operator.setitem(scales, 0, 0.5)", "pass"),
    ("net(x) * scales[0]", "put = scales.insert; put(0, 0.5)", "pass"),
    ("net(x) * scales[0]", "out_of_view(scales)", "pass"),
    ("net(x) * scales[0]", "turn(scales)", "pass"),
    ("net(x) * scales[0]", "pass", "turn(scales)"),
    ("net(x) * scales[0]", "scales, rows = rows, scales", "pass"),
    ("net(x) * waiting[0]", "waiting.rotate(1)", "pass"),
    ("net(x) * settings.heat", "vars(settings).update(heat=0.5)", "pass"),
    ("net(x) * settings.heat", "settings.__dict__['heat'] = 0.5", "pass"),
    ("net(x) * settings.heat", "object.__setattr__(settings, 'heat', 0.5)", "pass"),
    ("net(x) * heat", "globals()['heat'] = 0.5", "pass"),
    ("net(x) * heat", "exec('heat = 0.5')", "pass"),
    ("net(x) * of_array", "array[:] = 3", "pass"),
    ("net(x) * of_array", "array += 2", "pass"),
    ("net(x) * of_array", "np.add(array, 2, out=array)", "pass"),
    ("net(x) * of_array", "pass", "np.copyto(array, 3)"),
    ("net(x) * of_array", "again = torch.from_numpy(array); again.mul_(3)", "pass"),
    ("net(x) * of_array", "nn.utils.vector_to_parameters(torch.ones(4), [of_array])", "pass"),
    ("net(x) * offset", "offset.numpy()[0] = 3", "pass"),
    ("net(x) * offset", "whole = offset.view(2, 2); whole += 1", "pass"),
    ("net(x) * torch.stack(rows).sum(0)", "for row in rows: row.mul_(3)", "pass"),
    ("net(x)", "nn.utils.vector_to_parameters(torch.ones(20), net.parameters())", "pass"),
    ("net(x) * clock()", "pass", "pass"),
    ("net(x) * clock[1]", "pass", "pass"),
    ("net(x) * count()", "pass", "pass"),
    ("net(x) * optimizer.param_groups[0]['lr']", "pass", "schedule.step()"),
    ("net(x) * optimizer.state_dict()['param_groups'][0]['lr']", "pass", "schedule.step()"),
    ("net(x) * rate_of(optimizer)", "pass", "schedule.step()"),
    ("net(x) * schedule.get_last_lr()[0]", "pass", "schedule.step()"),
    ("net(x) / (1 + len(optimizer.state))", "pass", "pass"),
    ("net(x) / (1 + norm_of(head))", "pass", "pass"),
    ("net(x) * (1 if head.bias.grad is None else 2)", "pass", "pass"),
    ("net(x) * (1 if getattr(head.bias, 'grad', None) is None else 2)", "pass", "pass"),
    ("net(x) + norm.running_mean", "pass", "norm(x)"),
    ("net(x) / (1 + norm.num_batches_tracked)", "pass", "norm(x)"),
    ("net(x) + sum(b.mean() for b in norm.buffers())", "pass", "norm(x)"),
    ("net(x) + mean", "pass", "nn.functional.batch_norm(x, mean, variance, training=True)"),
    ("net(x) / (1 + counted.seen)", "pass", "counted(x)"),
    ("net(x) / (1 + counted.calls)", "pass", "inside(x)"),
    ("net(x) / (1 + len(scales))", "head.register_forward_hook(lambda *given: scales.append(1))", "pass"),
    ("net(x) / (1 + len(scales))", "optimizer.register_step_post_hook(lambda *given: scales.append(1))", "pass"),
    ("net(x) / (1 + len(scales))", "head.register_forward_hook(count_in(scales))", "pass"),
    ("net(x) / (1 + recorder.records)", "head.register_forward_hook(recorder.note)", "pass"),
    ("net(x) / (1 + recorder.records)", "head.register_forward_hook(recorder)", "pass"),
    ("net(x) * heat", "head.register_forward_hook(cool)", "pass"),
    ("net(x) * time.time()", "pass", "pass"),
    ("net(x) * datetime.now().second", "pass", "pass"),
    ("net(x) * (1 + torch.cuda.memory_allocated())", "pass", "pass"),
    ("net(x) * np.load('heat.npy')", "pass", "pass"),
    ("net(x) * factor", "pass", "from math import e as factor"),
]


READ_ONLY = [
    ("net(x) * scales[0]", "print(scales, len(scales), max(scales))", "show(scales)"),
    ("net(x) * scales[0]", "other_scales = list(scales); other_scales.append(0.5)", "pass"),
    ("net(x) * scales[0]", "for n, scale in enumerate(scales): print(n, scale)", "rows.append(scales)"),
    ("net(x) * scales[0]", "norm = math.hypot(*scales)", "np.mean(scales)"),
    ("net(x) * waiting[0]", "print(waiting.count(1.0))", "waiting.copy().rotate(1)"),
    ("net(x) * of_array", "again = array.copy(); again *= 2; again[0] = 1", "out_of_view(array.copy())"),
    ("net(x) * of_array", "print(array.mean(), np.sum(array), array.shape)", "array.copy().fill(3)"),
    ("net(x) * offset", "copied = offset.clone(); copied.mul_(3)", "torch.add(offset, 1)"),
    ("net(x) * offset", "print(nn.MSELoss()(offset, offset))", "print(offset.numpy().max())"),
    ("net(x) * table['heat']", "print(*(f'{k} {v}' for k, v in table.items()))", "table.get('heat')"),
    ("net(x) * settings.heat", "print(settings)", "vars(settings)"),
    ("net(x) * counted.rate", "pass", "counted(x)"),
    ("net(x) * scales[0]", "head.register_forward_hook(lambda *given: rows.append(1))", "schedule.step()"),
    ("net(x) * scales[0]", "head.register_forward_hook(count_in(rows))", "print(time.time())"),
    ("net(x) * factor", "pass", "from math import pi as factor"),
    ("net(x) * torch.autograd.grad(offset.sum(), offset, allow_unused=True)[0]", "pass", "norm(x)"),
    ("net(x) * heat", "rate = rate_of(optimizer)", "norm_of(head); norm(x); torch.load('a.pt')"),
]


def applicability(between: str, body: str, value: str = "net(x)") -> str:
    text = PROGRAM.replace("BETWEEN", between).replace("BODY", body)
    text = text.replace("features = net(x)", f"features = {value}")
    (finding,) = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings
    return "none" if finding.fix is None else finding.fix.applicability.value


@pytest.mark.parametrize(("between", "body"), HEALTHY)
def test_it_moves_safely_past_what_changes_nothing_that_it_reads(between: str, body: str) -> None:
    assert applicability(between, body) == "safe"


@pytest.mark.parametrize(("between", "body"), CHANGING)
def test_it_does_not_move_safely_past_what_changes_a_network_or_its_input(between: str, body: str) -> None:
    assert applicability(between, body) != "safe"


@pytest.mark.parametrize(("value", "between", "body"), READING)
def test_nor_past_what_changes_something_else_that_it_reads_or_if_it_does_so_itself(
    value: str, between: str, body: str
) -> None:
    assert applicability(between, body, value) != "safe"


@pytest.mark.parametrize(("value", "between", "body"), READ_ONLY)
def test_but_past_what_reads_the_same_or_changes_a_copy(value: str, between: str, body: str) -> None:
    assert applicability(between, body, value) == "safe"


@pytest.mark.parametrize("value", ["next(numbers) * net(x)", "net(x) * taken()", "net(rows.pop())"])
def test_what_takes_something_away_is_not_moved(value: str) -> None:
    assert applicability("pass", "pass", value) == "none"


def test_an_iterator_that_is_made_for_it_is_nothing_that_others_have() -> None:
    assert applicability("pass", "pass", "net(next(iter(rows)))") == "safe"
