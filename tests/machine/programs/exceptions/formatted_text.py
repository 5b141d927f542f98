import torch

w = torch.randn(2, requires_grad=True)
running = 0.0
for step in range(3):
    loss = (w ** 2).sum()
    loss.backward()
    running += loss.item()
    message = f"step {step:>3d}: {loss.item():.4f} ({running / (step + 1)!r}) {w.grad.norm().item():.2f}"
    print(message, "%d %s" % (step, message), "{} {n}".format(step, n=running))
