import torch

w = torch.randn(2, requires_grad=True)
batch = {"kind": "train", "loss": (w * 2).sum()}
match batch:
    case {"kind": "eval"}:
        pass
    case {"kind": "train", "loss": loss} if loss.requires_grad:
        loss.backward()
match batch:
    case {"kind": "eval", "loss": loss}:
        loss.backward()
