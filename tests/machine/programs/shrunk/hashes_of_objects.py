import torch


class Record:
    def __init__(self, loss):
        self.loss = loss

    def __hash__(self):
        self.loss.backward()
        return 1

    def __eq__(self, other):
        return self is other


w = torch.ones(3, requires_grad=True)
record = Record((w * w).sum())
print(record == record, record in [record])
seen = {record}
seen.add(record)
