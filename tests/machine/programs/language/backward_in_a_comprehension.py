import torch

w = torch.randn(2, requires_grad=True)
trunk = w.exp()
losses = [(trunk * k).sum() for k in range(3)]
done = [loss.backward() for loss in losses]
