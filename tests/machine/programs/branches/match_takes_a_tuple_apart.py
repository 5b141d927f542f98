import torch

w = torch.randn(2, requires_grad=True)
command = ("scale", (w * 2).sum())
match command:
    case ("skip", _):
        pass
    case ("scale", loss):
        loss.backward()
        command[1].backward()
