import dataclasses
from dataclasses import dataclass

import torch

w = torch.randn(2, 2, requires_grad=True)


@dataclass(frozen=True)
class State:
    h: torch.Tensor
    c: torch.Tensor


@dataclass
class Pack:
    inner: State
    tensors: list


pack = Pack(State(w, w * 1), [torch.ones(2)])
pack = dataclasses.replace(pack, inner=State(w, torch.ones(2)))
for _ in range(2):
    copied = dataclasses.asdict(pack)
    (copied["inner"]["h"] * copied["tensors"][0]).sum().backward()
loss = (pack.inner.h * 2).exp().sum()
for _ in range(2):
    loss.backward()
