from concurrent.futures import ThreadPoolExecutor

import torch

w = torch.randn(3, requires_grad=True)
shared = torch.tanh(w)


def work(scale):
    loss = (shared * scale).sum()
    loss.backward()
    return loss.item()


with ThreadPoolExecutor(max_workers=1) as pool:
    futures = [pool.submit(work, k) for k in (1.0, 2.0)]
    for future in futures:
        print(future.result())
