import torch
from torch import nn

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
for value in [1, "a", None, nn.Linear(1, 1), [loss], {"x": loss}, loss]:
    if isinstance(value, (int, str)) or value is None or callable(value) and isinstance(value, nn.Module):
        continue
    if type(value) is list:
        value[0].backward(retain_graph=True)
    elif hasattr(value, "keys") and not torch.is_tensor(value):
        value["x"].backward(retain_graph=True)
    else:
        value.backward()
loss.backward()
