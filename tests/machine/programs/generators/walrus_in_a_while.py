import torch

w = torch.randn(2, requires_grad=True)
pending = [(w * k).sum() for k in range(3)]
while (loss := pending.pop() if pending else None) is not None:
    loss.backward()
if (n := len(pending)) == 0:
    pending.append(last := (w * 2).sum())
last.backward()
pending[n].backward()
