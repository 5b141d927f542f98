import torch

w = torch.randn(3, requires_grad=True)
loss = (w ** 3).sum() * w.prod()
(g,) = torch.autograd.grad(loss, w, create_graph=True)
rows = []
for i in range(3):
    rows.append(torch.autograd.grad(g[i], w, retain_graph=True)[0])
hessian = torch.stack(rows)
print(hessian.shape)
