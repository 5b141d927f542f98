"""The abstract machine: runs training code on abstract values and keeps a heap of abstract autograd nodes.

Knows no rule, no codemod and does no input or output.
"""
