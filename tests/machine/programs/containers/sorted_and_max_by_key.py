import torch

w = torch.randn(2, requires_grad=True)
losses = [("b", (w * 2).sum()), ("a", (w * 3).sum())]
for name, loss in sorted(losses, key=lambda pair: pair[0]):
    loss.backward()
worst = max(losses, key=lambda pair: pair[1].item())
worst[1].backward()
