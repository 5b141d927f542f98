import torch

w = torch.randn(2, 2, requires_grad=True)
state = {"h": torch.ones(2), "steps": 0}
while state["steps"] < 2:
    state["h"] = torch.tanh(state["h"] @ w)
    state["h"].sum().backward()
    state["steps"] += 1
