import torch

w = torch.randn(2, requires_grad=True)
history = []
for step in range(100):
    loss = (w ** 2).sum()
    loss.backward()
    if step % 10 == 0:
        history.append(loss.detach())
print(torch.stack(history).mean().item())
