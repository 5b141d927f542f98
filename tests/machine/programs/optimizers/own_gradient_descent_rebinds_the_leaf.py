import torch

w = torch.randn(2, requires_grad=True)
for _ in range(2):
    loss = (w ** 2).sum()
    (gradient,) = torch.autograd.grad(loss, [w])
    w = w * 0.9 - 0.1 * gradient
loss = w.sum()
loss.backward()
print(w.is_leaf)
loss.backward()
