import torch


def registered(cls):
    cls.registry = []
    return cls


@registered
class Model:
    class Head:
        def __init__(self, w):
            self.out = w.exp()

    def __init__(self):
        self.w = torch.randn(2, requires_grad=True)
        self.head = self.Head(self.w)
        self.registry.append(self)


first, second = Model(), Model()
for model in Model.registry:
    model.head.out.sum().backward()
Model.registry[0].head.out.sum().backward()
