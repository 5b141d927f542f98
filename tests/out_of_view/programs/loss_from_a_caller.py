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
