import torch


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad):
        return grad


def exp(x):
    return Exp.apply(x)


a = torch.randn(2, requires_grad=True)
h = exp(a)
h.sum().backward()
exp(a).sum().backward()
