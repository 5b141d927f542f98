import torch

lstm = torch.nn.LSTM(2, 3)
h, c = torch.zeros(1, 1, 3), torch.zeros(1, 1, 3)
for _ in range(2):
    h = h.detach()
    out, (h, c) = lstm(torch.randn(4, 1, 2), (h, c))
    out.sum().backward()
