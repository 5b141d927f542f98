import torch

w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.LBFGS([w], lr=0.1)


class Step:
    def __init__(self):
        self.penalty = (w * w).sum()

    def __call__(self):
        optimizer.zero_grad()
        loss = (w.exp() * w).sum() + self.penalty
        loss.backward()
        return loss


optimizer.step(Step())
