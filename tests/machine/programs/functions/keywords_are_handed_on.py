import torch

w = torch.randn(2, requires_grad=True)


def differentiate(loss, *args, **options):
    loss.backward(*args, **options)


loss = (w * 2).sum()
differentiate(loss, None, True)
differentiate(loss, retain_graph=True)
differentiate(loss)
