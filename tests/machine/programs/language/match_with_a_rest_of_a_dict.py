import torch

w = torch.randn(2, requires_grad=True)
losses = {"a": w.exp().sum(), "b": w.sin().sum()}
match losses:
    case {"a": first, **others}:
        first.backward()
        for other in others.values():
            other.backward()
