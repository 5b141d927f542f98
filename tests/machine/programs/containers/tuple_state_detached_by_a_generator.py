import torch

lstm = torch.nn.LSTM(2, 3)
state = (torch.zeros(1, 1, 3), torch.zeros(1, 1, 3))
for _ in range(3):
    state = tuple(s.detach() for s in state)
    out, state = lstm(torch.randn(4, 1, 2), state)
    out.sum().backward()
