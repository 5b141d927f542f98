import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
plan = "keep,keep,free".split(",")
quotient, rest = divmod(len(plan), 2)
for i, word in enumerate(plan):
    loss.backward(retain_graph=word.startswith("k"))
if quotient == 1 and rest == 1 and max(quotient, 3) > 2 and not any([0, 0]):
    loss.backward()
