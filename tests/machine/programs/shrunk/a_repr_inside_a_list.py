import torch


class Report:
    def __init__(self, loss):
        self.loss = loss

    def __repr__(self):
        self.loss.backward()
        return "report"


w = torch.ones(3, requires_grad=True)
reports = {"first": [Report((w * w).sum())]}
print(reports)
"{0[first]}".format(reports)
