import torch

w = torch.randn(2, requires_grad=True)
mode = "keep"
for _ in range(2):
    loss = (w * 2).sum()
    if mode == "drop":
        loss.backward()
    elif mode == "keep":
        loss.backward(retain_graph=True)
    else:
        raise ValueError(mode)
    loss.backward()
