import torch

w = torch.randn(2, 2, requires_grad=True)
for phase in ["train", "val", "train"]:
    with torch.set_grad_enabled(phase == "train"):
        loss = torch.tanh(torch.ones(2) @ w).sum()
    if phase == "train":
        loss.backward()
    print(torch.is_grad_enabled(), loss.requires_grad)
