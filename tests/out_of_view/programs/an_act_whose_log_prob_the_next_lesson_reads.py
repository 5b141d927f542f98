import torch
from torch import nn, optim


class Agent:
    def __init__(self, size):
        self.policy = nn.Linear(size, 2)
        self.optimizer = optim.Adam(self.policy.parameters())

    def act(self, observation):
        chances = torch.distributions.Categorical(logits=self.policy(observation))
        action = chances.sample()
        self.log_prob = chances.log_prob(action)
        return action.item()

    def learn(self, reward):
        loss = (-self.log_prob * reward).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
