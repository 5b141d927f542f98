import torch

w = torch.randn(2, requires_grad=True)


def forward(x):
    hidden = (w * x).tanh()
    return hidden, hidden.sum(), (hidden ** 2).mean()


hidden, first, second = forward(2.0)
first.backward()
hidden, *_ = forward(3.0)
_, first, second = forward(4.0)
(first + second).backward()
second.backward()
