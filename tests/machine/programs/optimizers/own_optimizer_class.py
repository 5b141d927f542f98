import torch


class Descent:
    def __init__(self, parameters, lr=0.1):
        self.parameters, self.lr = list(parameters), lr

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None

    @torch.no_grad()
    def step(self):
        for p in self.parameters:
            p -= self.lr * p.grad


model = torch.nn.Linear(2, 1)
optimizer = Descent(model.parameters())
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(4, 2)).pow(2).mean().backward()
    optimizer.step()
