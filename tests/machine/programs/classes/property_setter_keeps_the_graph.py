import torch


class State:
    def __init__(self):
        self._h = torch.ones(2)

    @property
    def h(self):
        return self._h

    @h.setter
    def h(self, value):
        self._h = value


w = torch.randn(2, 2, requires_grad=True)
state = State()
for _ in range(3):
    out = torch.tanh(state.h @ w)
    state.h = out
    out.sum().backward()
