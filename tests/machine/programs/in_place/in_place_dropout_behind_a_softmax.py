import torch
import torch.nn.functional as F

w = torch.randn(3, 3, requires_grad=True)
attention = torch.softmax(w, dim=1)
F.dropout(attention, 0.5, inplace=True).sum().backward()
