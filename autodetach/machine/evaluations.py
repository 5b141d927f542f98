"""Functions that evaluate a network, and train nothing: what they hand to metrics, these do not differentiate."""

from __future__ import annotations

import ast

from autodetach.machine.activations import Activation
from autodetach.machine.program_values import Frame
from autodetach.machine.walking import WALKING

TRAINING = WALKING | {"step", "train", "zero_grad", "requires_grad_"}


def only_evaluates(loop: Activation) -> bool:
    """Whether a loop stands in a function that puts a network in `eval()` mode before, and names nothing of training.

    An attack evaluates a network, too, but differentiates, or asks for gradient.
    """
    frame = loop.frame
    function = frame.function if isinstance(frame, Frame) else None
    if function is None or loop.node is None:
        return False
    asked = [n for n in ast.walk(function.node) if isinstance(n, ast.Attribute)]
    first = getattr(loop.node, "lineno", 0)
    is_set = any(n.attr == "eval" and isinstance(n.ctx, ast.Load) and n.lineno < first for n in asked)
    return is_set and TRAINING.isdisjoint(n.attr for n in asked)
