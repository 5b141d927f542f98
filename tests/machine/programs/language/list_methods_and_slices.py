import torch

w = torch.randn(2, requires_grad=True)
a, b, c = (w * 1).sum(), (w * 2).sum(), (w * 3).sum()
losses = [c, a]
losses[1:1] = [b]
losses.reverse()
assert losses[0] is a and losses[1] is b
losses.remove(c)
del losses[0]
losses[:] = [*losses, c]
for loss in losses:
    loss.backward()
a.backward()
losses[0].backward()
