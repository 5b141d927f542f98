import torch


class Model:
    def __init__(self, w):
        self.w = w
        self.state = torch.zeros(3)

    def copy(self):
        other = object.__new__(Model)
        other.__dict__.update(self.__dict__)
        return other

    def step(self, x):
        self.state = torch.tanh(self.w * x + self.state)
        return self.state.sum()


model = Model(torch.ones(3, requires_grad=True))
for _ in range(2):
    once = model.copy()
    once.step(torch.ones(3)).backward()
once = model.copy()
for _ in range(2):
    loss = once.step(torch.ones(3))
    loss.backward()
