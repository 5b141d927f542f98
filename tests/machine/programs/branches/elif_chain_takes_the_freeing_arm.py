import torch

w = torch.randn(2, requires_grad=True)
mode = "drop"
loss = (w * 2).sum()
if mode == "keep":
    loss.backward(retain_graph=True)
elif mode == "drop":
    loss.backward()
loss.backward()
