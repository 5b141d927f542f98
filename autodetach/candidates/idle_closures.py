"""Closures that give an optimizer which calls them again and again the loss of before: they compute nothing anew."""

from __future__ import annotations

import ast

from autodetach.finding import Severity, StoryStep
from autodetach.machine.events import OldLoss
from autodetach.suspect import Suspect
from autodetach.view.program import Program, line, observed_of, text


def _given(closure: ast.AST) -> ast.expr | None:
    """What a closure returns."""
    if isinstance(closure, ast.Lambda):
        return closure.body
    return next((n.value for n in ast.walk(closure) if isinstance(n, ast.Return)), None)


def gives_old_loss(program: Program, event: OldLoss) -> Suspect:
    """What `torch.optim.LBFGS` is given so; no repair: which statements are to move into it, only its author knows."""
    call, loss = text(event.site.node), text(_given(event.closure))
    story = (
        StoryStep(line(event.node.site), f"builds the graph of `{loss}`, once"),
        StoryStep(line(event.first.call), "walks it: the gradient is that of the parameters as they are now"),
        StoryStep(line(event.site), "the optimizer calls its closure, and changes the parameters"),
        StoryStep(line(event.site), "and calls it again: it gives the old loss, and leaves the old gradient"),
    )
    return Suspect(
        ("AD301", event.site.scope, program.spot(event.site.node)),
        event.site.node,
        f"the closure of `{call}` computes nothing: LBFGS calls it several times, and each time gets the `{loss}` of"
        " before its step; it has to clear gradients, compute the loss and differentiate it itself",
        Severity.WARNING,
        story,
        not event.node.assumed,
        (),
        lambda: iter(()),
        observed=observed_of(program, (event.node,)),
    )
