import torch

lstm = torch.nn.LSTM(2, 3)
state = (torch.zeros(1, 1, 3), torch.zeros(1, 1, 3))
for _ in range(2):
    out, state = lstm(torch.randn(4, 1, 2), state)
    out.sum().backward()
