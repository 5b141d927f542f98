import torch

lstm = torch.nn.LSTM(2, 3)
state = None
for _ in range(3):
    if state is not None:
        state = tuple(map(lambda s: s.detach(), state))
    out, state = lstm(torch.randn(4, 1, 2), state)
    out.sum().backward()
