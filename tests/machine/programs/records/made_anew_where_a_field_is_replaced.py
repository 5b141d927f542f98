import dataclasses
from dataclasses import dataclass, field

import torch

w = torch.randn(2, 2, requires_grad=True)


@dataclass
class Kernel:
    raw: torch.Tensor
    kernel: torch.Tensor = field(init=False)

    def __post_init__(self):
        self.kernel = torch.softmax(self.raw, 0)


kernel = Kernel(w)
for step in range(3):
    kernel = dataclasses.replace(kernel)
    kernel.kernel[0].sum().backward()
