import torch
from torch import nn

cell, head = nn.GRUCell(2, 2), nn.Linear(2, 3)
for _ in range(3):
    beams = [(0.0, torch.zeros(1, 2))]
    for t in range(5):
        grown = []
        for score, state in beams:
            state = cell(torch.ones(1, 2), state)
            log_probs = head(state).log_softmax(-1)[0]
            grown += [(score + log_probs[k], state) for k in range(2)]
        beams = sorted(grown, key=lambda beam: float(beam[0].detach()), reverse=True)[:2]
    (-beams[0][0]).backward()
