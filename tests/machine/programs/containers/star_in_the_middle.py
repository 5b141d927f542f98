import torch

w = torch.randn(2, requires_grad=True)
parts = [(w * k).sum() for k in range(5)]
first, *middle, last = parts
(first + last).backward()
sum(middle).backward()
[head, *_] = middle
head.backward()
