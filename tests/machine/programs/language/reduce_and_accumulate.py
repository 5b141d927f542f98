import operator
from functools import reduce
from itertools import accumulate

import torch

w = torch.randn(2, requires_grad=True)
parts = [(w * k).sum() for k in range(1, 4)]
reduce(operator.add, parts).backward(retain_graph=True)
*_, total = accumulate(parts)
total.backward()
reduce(lambda a, b: a * b, parts).backward()
