"""What takes gradient away is unsafe where the program reads that gradient, however it does so."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.source import Source

TRAINING = """\
import torch
from torch import nn


def norms(named):
    return {{name: p.grad.norm().item() for name, p in named if p.grad is not None}}


def clear(module):
    for p in module.parameters():
        if p.grad is not None:
            p.grad.zero_()


encoder, head = nn.Linear(2, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
sums = [torch.zeros_like(p) for p in encoder.parameters()]
seen = []
{begin}
features = torch.tanh(encoder(torch.randn(6, 2)))
for _ in range(3):
    loss = head(features).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    {use}
    optimizer.step()
"""
NOT_READING = [
    ("", "pass"),
    ("", "print(norms(head.named_parameters()))"),
    ("", "clear(encoder)"),
    ("", "nn.utils.clip_grad_norm_(head.parameters(), 1.0)"),
    ("head.weight.register_hook(lambda g: seen.append(g.norm()))", "pass"),
    ("", "print([p.grad is None for p in head.parameters()])"),
    ("import tool; tool.watch(head)", "pass"),
    ("import tool; tool.track(head.parameters())", "pass"),
    ("import tool; monitor = tool.Monitor(head)", "monitor.report()"),
    ("import tool; ema = tool.EMA(encoder)", "ema.update()"),
    ("import tool; mean = tool.ExponentialMovingAverage(encoder.parameters(), 0.9)", "mean.update()"),
    ("import tool; tool.save_weights(encoder)", "pass"),
    ("import tool; rate = tool.Warmup(optimizer)", "rate.step()"),
    ("import wandb; run = wandb.init(); run.watch(head)", "run.log({'loss': loss.item()})"),
]
READING = [
    ("", "print(norms(encoder.named_parameters()))"),
    ("", "print(norms([*encoder.named_parameters(), *head.named_parameters()]))"),
    ("", "print(nn.utils.clip_grad_norm_(encoder.parameters(), 1.0))"),
    ("", "for s, p in zip(sums, encoder.parameters()): s += p.grad ** 2"),
    ("", "for s, p in zip(sums, encoder.parameters()): s.add_(0 if p.grad is None else p.grad)"),
    ("", "seen += [p.grad.clone() for p in encoder.parameters() if p.grad is not None]"),
    ("for p in encoder.parameters(): p.register_hook(lambda g: seen.append(g.norm()))", "pass"),
    ("encoder.register_full_backward_hook(lambda m, i, o: seen.append(o[0]))", "pass"),
    ("encoder.weight.register_hook(print)", "pass"),
    ("import wandb; wandb.watch(encoder)", "pass"),
    ("import wandb; run = wandb.init(); run.watch(encoder)", "pass"),
    ("import wandb; wandb.watch((encoder, head), log='all')", "pass"),
    ("import tool; monitor = tool.GradMonitor(encoder)", "monitor.report()"),
    ("import tool; viewer = tool.Viewer(nn.Sequential(encoder, head))", "viewer.show()"),
    ("import tool; viewer = tool.Viewer(encoder.parameters())", "viewer.show()"),
    ("import tool; viewer = tool.Viewer({'encoder': encoder}, every=10)", "viewer.show()"),
    ("import tool; tool.track(encoder.parameters())", "pass"),
    ("import tool; tool.track(list(encoder.parameters()))", "pass"),
    ("import tool; tool.observe(encoder.named_parameters())", "pass"),
    ("import tool; tool.watch(encoder.weight)", "pass"),
    ("import tool", "tool.report(encoder)"),
    ("import tool", "tool.print_norms(encoder)"),
]


@pytest.mark.parametrize(
    ("begin", "use", "is_safe"), [*((*c, True) for c in NOT_READING), *((*c, False) for c in READING)]
)
def test_what_reads_gradient_forbids_a_safe_detach(begin: str, use: str, is_safe: bool) -> None:
    source = TRAINING.format(begin=begin, use=use)
    found = check(Source.from_bytes(source.encode(), "train.py"), CheckOptions())
    (finding,) = (f for f in found.findings if f.code == "AD301")
    fixes = [fix for fix in (finding.fix, *finding.alternatives) if fix is not None]
    assert fixes and any(fix.applicability is Applicability.SAFE for fix in fixes) == is_safe
