import torch


def tensor_or_parts(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(tensor_or_parts(v) for v in h)


def parts_or_tensor(h):
    if isinstance(h, tuple):
        return tuple(parts_or_tensor(v) for v in h)
    return h.detach()


def by_its_type(h):
    if type(h) == torch.Tensor:
        return h.detach()
    else:
        return tuple([by_its_type(v) for v in h])


def nested(h):
    if isinstance(h, dict):
        return {k: nested(v) for k, v in h.items()}
    if isinstance(h, list):
        return [nested(v) for v in h]
    return h.detach()


def train(model, batches, criterion):
    opt = torch.optim.Adam(model.parameters())
    h, g, s, t = (model.init_hidden(4) for _ in range(4))
    for x, y in batches:
        h = tensor_or_parts(h)
        g = parts_or_tensor(g)
        s = by_its_type(s)
        t = nested(t)
        output, h, g, s, t = model(x, h, g, s, t)
        loss = criterion(output, y.view(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
