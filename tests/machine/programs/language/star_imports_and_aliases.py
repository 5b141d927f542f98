import torch as t
import torch.nn.functional as F
from torch import nn, optim
from torch.autograd import Variable, grad

w = Variable(t.randn(2), requires_grad=True)
layer = nn.Linear(2, 2)
optimizer = optim.SGD([w, *layer.parameters()], lr=0.1)
h = F.relu(layer(w))
(g,) = grad(h.sum(), [w], retain_graph=True)
F.softmax(h, dim=0).max().backward()
optimizer.step()
h.sum().backward()
