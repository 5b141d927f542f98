import torch
from torch import nn

teacher, student = nn.Linear(2, 3), nn.Linear(2, 3)
teacher.eval()
x = torch.randn(4, 2)
soft = teacher(x).softmax(-1)
for _ in range(3):
    loss = nn.functional.kl_div(student(x).log_softmax(-1), soft, reduction="batchmean")
    loss.backward()
