import torch
from torch import nn


class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.register_buffer("state", torch.zeros(2))

    def forward(self, x):
        self.state = torch.tanh(self.layer(x) + self.state)
        return self.state


memory = Memory()
for _ in range(3):
    for name, buffer in list(memory.named_buffers()):
        setattr(memory, name, buffer.detach())
    memory(torch.randn(2)).sum().backward()
