import torch


def repackage(h):
    if isinstance(h, list):
        return [v.detach() for v in h]
    return h


gru = torch.nn.GRU(2, 3)
hidden = torch.zeros(1, 1, 3)
for _ in range(2):
    hidden = repackage(hidden)
    out, hidden = gru(torch.randn(4, 1, 2), hidden)
    out.mean().backward()
