import torch
from torch import nn


class Causal(nn.Conv1d):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.left = self.dilation[0] * (self.kernel_size[0] - self.stride[0])

    def forward(self, signal):
        padded = nn.functional.pad(signal, (self.left, 0))
        return self._conv_forward(padded, self.weight, self.bias)


conv = Causal(1, 2, 3, dilation=2)
optimizer = torch.optim.SGD(conv.parameters(), lr=0.1)
head = nn.Conv1d(2, 1, 3)
out = conv(torch.randn(1, 1, 9).requires_grad_())
out.mean().backward(retain_graph=True)
head(out).mean().backward(retain_graph=True)
optimizer.step()
head(out).mean().backward()
