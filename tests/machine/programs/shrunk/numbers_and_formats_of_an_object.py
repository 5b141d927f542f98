import torch


class Value:
    def __init__(self, loss):
        self.loss = loss

    def __float__(self):
        self.loss.backward()
        return 1.0

    def __format__(self, spec):
        return "value"


w = torch.ones(3, requires_grad=True)
value = Value((w * w).sum())
print(f"{value:.3f}", "%s" % id(value), f"{value!r:>3}"[:1])
print("%.3f" % value)
print(float(value))
