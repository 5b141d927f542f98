import torch


def repackage(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage(v) for v in h)


lstm = torch.nn.LSTM(2, 3)
hidden = (torch.zeros(1, 1, 3), torch.zeros(1, 1, 3))
for _ in range(3):
    hidden = repackage(hidden)
    out, hidden = lstm(torch.randn(4, 1, 2), hidden)
    out.mean().backward()
