import torch


class Batch(dict):
    pass


class Rows(list):
    def __init__(self, most):
        super().__init__()
        self.most = most


w = torch.ones(3, requires_grad=True)
rows = Rows(4)
for i in range(3):
    batch = Batch(scale=torch.randn(3))
    batch.update(out=w * batch["scale"])
    rows.append({**batch})
    batch["out"].sum().backward()
sum(row["out"].exp().sum() for row in rows).backward()
