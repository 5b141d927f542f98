import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()


def convert():
    try:
        raise KeyError("k")
    except KeyError as error:
        raise ValueError("v") from error


try:
    try:
        convert()
    except ValueError:
        loss.backward()
        raise
except Exception:
    print(loss.item())
loss.backward()
