import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

rnn = nn.LSTM(2, 3, batch_first=True)
state = None
for _ in range(2):
    packed, state = rnn(pack_padded_sequence(torch.randn(2, 3, 2), [3, 2], batch_first=True), state)
    state = tuple(s.detach() for s in state)
    out, lengths = pad_packed_sequence(packed, batch_first=True)
    out.sum().backward()
packed.data.sum().backward()
