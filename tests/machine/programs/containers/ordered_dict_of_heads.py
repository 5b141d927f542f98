from collections import OrderedDict

import torch

w = torch.randn(2, requires_grad=True)
shared = w.exp()
heads = OrderedDict([("a", shared * 2), ("b", shared * 3)])
for name, head in heads.items():
    head.sum().backward(retain_graph=name != "b")
