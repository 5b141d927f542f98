import torch


class Record:
    def __init__(self, loss):
        self.loss = loss

    def __lt__(self, other):
        self.loss.backward()
        return False


w = torch.ones(3, requires_grad=True)
records = [Record((w * w).sum()), Record((w * w).sum())]
sorted(records)
min(records)
