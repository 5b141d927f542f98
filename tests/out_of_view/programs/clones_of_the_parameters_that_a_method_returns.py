
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        sizes = config.get_layer_sizes()
        self.layers = nn.ModuleList(nn.LayerNorm(size) for size in sizes)

    def forward(self, x, params):
        layers = {}
        for name, param in params.items():
            index = int(name.split(".")[1])
            if index not in layers:
                layers[index] = {}
            layers[index][name.split(".")[-1]] = param
        for index in sorted(layers.keys()):
            weight, bias = layers[index]["weight"], layers[index]["bias"]
            x = F.layer_norm(x, weight.shape, weight, bias)
        return x

    def clone_parameters(self):
        params = {}
        for name, param in self.named_parameters():
            if "_mu" not in name:
                params[name] = param.clone()
        return params

    def adapt(self, task):
        adapted = self.clone_parameters()
        loss = F.mse_loss(self.forward(task["x"], adapted), task["y"])
        return adapted
