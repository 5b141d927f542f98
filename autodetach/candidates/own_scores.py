"""The loss of a discriminator gets scores of its own: of the detached fake, that it gives the generator no gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from autodetach.candidates.called_again import called_again
from autodetach.suspect import Candidate
from autodetach.view.opposed import Opposed
from autodetach.view.program import Program, listed, without_retain

TRAINS = "it trains less than it did: what is cut off may have been meant to be trained by both losses"


def own_scores(program: Program, opposed: Opposed) -> Iterator[Candidate]:
    """`D(fake.detach())` for `D(fake)` where the second loss has that for itself; else `D` is called once more."""
    from autodetach.codemods.append_method import AppendMethod

    first, second, _, shared, judged, fakes = opposed
    given: list[ast.expr] = list(dict.fromkeys(e for _, e in fakes))
    if not any(n in shared for n, _ in fakes):
        cut = tuple(AppendMethod(e, "detach") for e in given)
        shown, flags = listed(given), without_retain(first.walked, of=first.call)
        yield Candidate(f"detach {shown}, and retain no graph", (*cut, *flags), TRAINS, cuts=True)
        yield Candidate(f"detach {shown}", cut, TRAINS, cuts=True)
        return
    own = [n for n in second.walked if n not in shared and not n.leaf]
    for candidate in called_again(program, second, judged, own, given):
        yield replace(candidate, doubt=TRAINS, cuts=True)
