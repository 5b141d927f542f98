import torch

w = torch.randn(2, requires_grad=True)
previous, current = None, None
while previous is None or abs(previous - current) > 1e-2:
    previous = current if current is not None else float("inf")
    loss = (w ** 2).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.2 * w.grad
    w.grad = None
    current = loss.item()
