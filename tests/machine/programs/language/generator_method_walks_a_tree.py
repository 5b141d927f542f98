import torch


class Tree:
    def __init__(self, value, children=()):
        self.value, self.children = value, children

    def walk(self):
        yield self.value
        for child in self.children:
            yield from child.walk()


w = torch.randn(2, requires_grad=True)
tree = Tree(w.exp(), [Tree(w.sin()), Tree(w.cos(), [Tree(w.tanh())])])
sum(value.sum() for value in tree.walk()).backward()
tree.children[1].children[0].value.sum().backward()
