import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

rnn = nn.GRU(2, 3, batch_first=True)
x = pad_sequence([torch.randn(3, 2), torch.randn(2, 2)], batch_first=True)
h = None
for _ in range(2):
    packed, h = rnn(pack_padded_sequence(x, [3, 2], batch_first=True), h)
    out, lengths = pad_packed_sequence(packed, batch_first=True)
    out.sum().backward()
