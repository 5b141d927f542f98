import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

rnn = nn.LSTM(2, 3, batch_first=True)
for _ in range(2):
    packed = pack_padded_sequence(torch.randn(2, 4, 2), [4, 3], batch_first=True)
    out, (h, c) = rnn(packed)
    padded, lengths = pad_packed_sequence(out, batch_first=True)
    padded.sum().backward()
h.sum().backward()
