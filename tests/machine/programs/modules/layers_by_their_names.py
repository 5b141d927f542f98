import torch

net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
x = torch.randn(4, 3)
kept = {}
for name, layer in net._modules.items():
    x = layer(x)
    kept[name] = x
kept["1"].sum().backward()
kept["2"].sum().backward()
