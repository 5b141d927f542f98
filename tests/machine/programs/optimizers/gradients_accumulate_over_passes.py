import torch

w = torch.randn(2, requires_grad=True)
optimizer = torch.optim.AdamW([{"params": [w], "lr": 0.1}])
for step in range(4):
    loss = (w * step).pow(2).sum() / 2
    loss.backward()
    if step % 2 == 1:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
