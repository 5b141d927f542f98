from itertools import pairwise, starmap, zip_longest
from operator import itemgetter, methodcaller, mul

import torch

w = torch.randn(3, requires_grad=True)
parts = list(starmap(mul, [(w, 1.0), (w, 2.0), (w, 3.0)]))
for a, b in pairwise([1.0, 2.0, 3.0]):
    (w * a + w * b).sum().backward()
pair = {"loss": parts[0].sum(), "aux": parts[1].sum()}
itemgetter("loss")(pair).backward()
for a, b in zip_longest([parts[2]], [parts[0]]):
    a.sum().backward()
methodcaller("backward")(pair["loss"])
