import copy

import torch


class Record:
    def __init__(self, loss):
        self.loss = loss

    def __deepcopy__(self, memo):
        return Record(self.loss.detach())


w = torch.ones(3, requires_grad=True)
record = Record((w * w).sum())
copy.deepcopy([record])[0].loss.item()
copied = copy.copy(record)
copied.loss.backward()
record.loss.backward()
