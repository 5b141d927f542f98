import torch
from torch import nn


class Agent:
    def __init__(self):
        self.critic = nn.Linear(3, 1)
        self.optimizer = torch.optim.Adam(self.critic.parameters())

    def update(self, states, rewards):
        '''The runner explores, and evaluates, without gradients.'''
        values = self.critic(states).squeeze(1)
        returns = rewards - values
        torch.set_grad_enabled(True)
        for _ in range(8):
            indices = torch.randint(64, size=(16,))
            loss = (self.critic(states[indices]).squeeze(1) - returns[indices]).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        torch.set_grad_enabled(False)
