import torch

w = torch.randn(2, requires_grad=True)
smooth = None
for step in range(30):
    loss = (w * step).pow(2).mean()
    value = loss.item()
    smooth = value if smooth is None else 0.9 * smooth + 0.1 * value
    loss.backward()
    if step % 10 == 9:
        print(f"{step}: {smooth:.4f}")
