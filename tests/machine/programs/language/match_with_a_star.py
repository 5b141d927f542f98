import torch

w = torch.randn(2, requires_grad=True)
losses = [(w * k).sum() for k in range(3)]
match losses:
    case []:
        print("none")
    case [only]:
        only.backward()
    case [first, *rest]:
        first.backward()
        sum(rest).backward()
        rest[-1].backward()
