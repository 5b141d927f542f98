import threading

import torch

w = torch.randn(3, requires_grad=True)
results = []


def work(scale):
    loss = (w * scale).exp().sum()
    loss.backward()
    results.append(loss)


threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
results[0].backward()
