import torch


class Config:
    __slots__ = ("keep",)
    STEPS = 2

    def __init__(self, keep):
        self.keep = keep


w = torch.randn(2, requires_grad=True)
config = Config(keep=True)
loss = (w * 2).sum()
for i in range(Config.STEPS):
    loss.backward(retain_graph=config.keep)
config.keep = False
loss.backward(retain_graph=config.keep)
