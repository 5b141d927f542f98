import torch

w = torch.randn(3, requires_grad=True)
y = w.exp()
for row in torch.eye(3):
    (g,) = torch.autograd.grad(y, w, grad_outputs=row, retain_graph=True)
(g,) = torch.autograd.grad(y, w, torch.ones(3))
y = w.exp()
(g,) = torch.autograd.grad([y], [w], [torch.ones(3)], False)
(g,) = torch.autograd.grad([y], [w], [torch.ones(3)])
