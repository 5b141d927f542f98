import dataclasses

import torch

w = torch.randn(2, 2, requires_grad=True)


Wide = dataclasses.make_dataclass("Wide", [f"f{i}" for i in range(12)])
state = Wide(*[torch.ones(2) for _ in range(12)])
for _ in range(2):
    state = Wide(*[torch.tanh(getattr(state, f.name) @ w) for f in dataclasses.fields(state)])
    sum(getattr(state, f.name).sum() for f in dataclasses.fields(state)).backward()
    for f in dataclasses.fields(state):
        setattr(state, f.name, getattr(state, f.name).detach())
