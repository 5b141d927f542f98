import random
from collections import deque

import torch
from torch import nn

net, target = nn.Linear(2, 2), nn.Linear(2, 2)
target.load_state_dict(net.state_dict())
optimizer = torch.optim.Adam(net.parameters())
memory = deque(maxlen=20)
state = torch.randn(2)
for step in range(30):
    with torch.no_grad():
        action = net(state).argmax().item()
    following = torch.randn(2)
    memory.append((state, action, random.random(), following))
    state = following
    if len(memory) < 8:
        continue
    states, actions, rewards, followings = zip(*random.sample(list(memory), 4))
    q = net(torch.stack(states)).gather(1, torch.tensor(actions).unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        goal = torch.tensor(rewards) + 0.9 * target(torch.stack(followings)).max(1).values
    loss = nn.functional.smooth_l1_loss(q, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        target.load_state_dict(net.state_dict())
