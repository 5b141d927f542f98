import torch

w = torch.randn(2, requires_grad=True)
for kind in ["l1", "l2", "other"]:
    match kind:
        case "l1":
            loss = w.abs().sum()
        case "l2" | "square":
            loss = w.pow(2).sum()
        case _:
            loss = w.exp().sum()
    loss.backward()
