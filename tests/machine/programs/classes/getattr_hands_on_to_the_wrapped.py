import torch


class Wrapper:
    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)


class Inner:
    def __init__(self):
        self.w = torch.randn(2, requires_grad=True)

    def loss(self):
        return self.w.exp().sum()


wrapper = Wrapper(Inner())
loss = wrapper.loss()
loss.backward()
wrapper.loss().backward()
loss.backward()
