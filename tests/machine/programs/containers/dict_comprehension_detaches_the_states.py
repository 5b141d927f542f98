import torch

w = torch.randn(2, 2, requires_grad=True)
state = {"h": torch.ones(2), "c": torch.zeros(2)}
for _ in range(3):
    state = {name: value.detach() for name, value in state.items()}
    state["c"] = state["c"] + torch.sigmoid(state["h"] @ w)
    state.update(h=state["c"].tanh())
    state["h"].sum().backward()
