import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
try:
    try:
        raise KeyError("inner")
    except ValueError:
        loss.backward()
    finally:
        loss.backward()
except LookupError as error:
    print(repr(error))
    loss.backward()
