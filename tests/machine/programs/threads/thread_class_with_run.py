import threading

import torch


class Worker(threading.Thread):
    def __init__(self, w):
        super().__init__()
        self.w = w
        self.out = None

    def run(self):
        self.out = torch.tanh(self.w).sum()


w = torch.randn(3, requires_grad=True)
workers = [Worker(w), Worker(w)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
    worker.out.backward()
workers[1].out.backward()
