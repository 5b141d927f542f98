import torch

w = torch.randn(2, requires_grad=True)
losses = [("b", w.exp().sum()), ("a", w.sin().sum())]
losses.sort(key=lambda pair: pair[0])
losses[0][1].backward()
first = [loss for name, loss in losses if name == "a"]
losses[1][1].backward()
first[0].backward()
