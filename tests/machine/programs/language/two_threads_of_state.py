import torch

cell = torch.nn.GRUCell(2, 2)
states = {"a": torch.zeros(1, 2), "b": torch.zeros(1, 2)}
for t, key in enumerate(["a", "b", "a"]):
    states[key] = cell(torch.ones(1, 2), states[key])
    states[key].sum().backward()
