import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
for step in range(3):
    match step:
        case 0:
            pass
        case n if n > 1:
            loss.backward()
        case int():
            loss.backward()
