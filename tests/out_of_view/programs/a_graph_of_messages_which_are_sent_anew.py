
import dgl
import dgl.function as fn
import torch
import torch.nn.functional as F
from torch import nn

class Predictor(nn.Module):
    def forward(self, graph, h):
        with graph.local_scope():
            graph.ndata["h"] = h
            graph.apply_edges(fn.u_dot_v("h", "h", "score"))
            return graph.edata["score"]

g = dgl.graph((torch.randint(0, 100, (500,)), torch.randint(0, 100, (500,))), num_nodes=100)
g.ndata["feat"] = torch.randn(100, 10)
g.edata["label"] = torch.randn(500)
label = g.edata["label"]
model, predictor = nn.Linear(10, 5), Predictor()
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(30):
    loss = F.mse_loss(predictor(g, model(g.ndata["feat"]))[:, 0], label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
