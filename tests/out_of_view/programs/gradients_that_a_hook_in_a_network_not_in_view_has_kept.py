
import torch
from models import resnet18

model = resnet18()
gradients = []
model.layer4.register_full_backward_hook(lambda module, grad_input, grad_output: gradients.append(grad_output[0]))
scores = model(torch.randn(2, 3, 32, 32))
for label in range(10):
    model.zero_grad()
    scores[0, label].backward(retain_graph=True)
    print(gradients[label].sum().item())
