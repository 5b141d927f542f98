import torch

w = torch.randn(2, requires_grad=True)
losses = [w.exp().sum(), w.sin().sum()]
for loss in losses:
    torch.Tensor.backward(loss)
torch.Tensor.backward(losses[0])
