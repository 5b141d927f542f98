import torch

trunk = torch.nn.Linear(4, 4)
heads = [torch.nn.Linear(4, 1) for _ in range(3)]
features = torch.tanh(trunk(torch.randn(8, 4)))
losses = [head(features).mean() for head in heads]
sum(losses).backward()
