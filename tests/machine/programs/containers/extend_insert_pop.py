import torch

w = torch.randn(2, requires_grad=True)
losses = [w.exp().sum()]
losses.extend([w.sin().sum(), w.cos().sum()])
losses.insert(0, w.tanh().sum())
first = losses.pop(0)
first.backward()
last = losses.pop()
last.backward()
losses += [last]
losses[0].backward()
losses[-1].backward()
