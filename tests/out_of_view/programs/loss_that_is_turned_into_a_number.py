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
