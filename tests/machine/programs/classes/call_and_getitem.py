import torch


class Bank:
    def __init__(self, w):
        self.rows = [w * k for k in range(1, 4)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]

    def __call__(self, index):
        return self[index].sum()


w = torch.randn(2, requires_grad=True)
bank = Bank(w)
for i in range(len(bank)):
    bank(i).backward()
bank(-1).backward()
