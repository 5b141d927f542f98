"""A state of a model out of view that is cut part by part."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

TRAINING = """\
import torch
from torch import nn


def train(model, optimizer, data):
    state = model.start()
    for x, y in data:
        pred, state = model(x, state)
        loss = nn.functional.mse_loss(pred, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        {cut}
"""
CUT = {
    "by-index": "state[0].detach_(); state[1].detach_()",
    "in-a-loop": "for s in state: s.detach_()",
    "in-a-comprehension": "[s.detach_() for s in state]",
    "by-map": "list(map(lambda s: s.detach_(), state))",
    "unpacked": "h, c = state; h.detach_(); c.detach_()",
    "values": "for v in state.values(): v.detach_()",
    "keys": "for k in state: state[k] = state[k].detach()",
    "items": "for k, v in list(state.items()): state[k] = v.detach()",
    "places": "for i, s in enumerate(state): state[i] = s.detach()",
    "two-keys": "state['h'] = state['h'].detach(); state['c'] = state['c'].detach()",
    "slice": "state[:] = [s.detach() for s in state]",
    "attributes": "state.h, state.c = state.h.detach(), state.c.detach()",
    "data": "state.h = state.h.data; state.c = state.c.data",
    "attributes-in-place": "state.h.detach_(); state.c.detach_()",
    "table-of-an-object": "state.slots = {k: v.detach() for k, v in state.slots.items()}",
}
NOT_CUT = {
    "nothing": "pass",
    "result-dropped": "[s.detach() for s in state]",
    "under-another-name": "state.shown = state.h.detach()",
    "key-of-another": "state['shown'] = state['h'].detach()",
    "part-replaced": "state.h = state.h * 2",
    "one-of-two": "print(state.c.mean()); state.h = state.h.detach()",
    "row": "state[:, 0] = state[:, 0].detach()",
}


def codes(cut: str) -> list[str]:
    text = TRAINING.format(cut=cut)
    return [f.code for f in check(Source.from_bytes(text.encode(), "program.py"), CheckOptions(fixes=False)).findings]


@pytest.mark.parametrize("name", CUT)
def test_what_is_cut_in_its_parts_carries_nothing(name: str) -> None:
    assert codes(CUT[name]) == []


@pytest.mark.parametrize("name", NOT_CUT)
def test_what_is_not_cut_is_told(name: str) -> None:
    assert codes(NOT_CUT[name]) == ["AD302"]


@pytest.mark.parametrize("use", ["print(state.h.shape)", "print(state['h'].norm())", "h, c = state; print(h, c)"])
def test_what_has_parts_is_not_detached_as_a_whole(use: str) -> None:
    text = TRAINING.format(cut=use)
    (found,) = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions(alternatives=True)).findings
    assert found.fix is None or not any("state.detach()" in edit.replacement for edit in found.fix.edits)


def test_what_may_be_a_tensor_is_detached_as_a_whole() -> None:
    text = TRAINING.format(cut="print(state.shape, state[0].norm())")
    (found,) = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings
    assert found.fix is not None


RETAINING = """\
import torch
from torch import nn


def train(model, data):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        state = model.begin_state()
        for x, y in data:
            {cut}
            out, state = model(x, state)
            loss = nn.functional.mse_loss(out, y)
            optimizer.zero_grad()
            loss.backward(retain_graph=True)
            optimizer.step()
"""
SURELY = {
    "whole": "state.detach_()",
    "in-a-loop": "for s in state: s.detach_()",
    "in-a-comprehension": "[s.detach_() for s in state]",
    "values": "for v in state.values(): v.detach_()",
    "bound": "state = [s.detach() for s in state]",
}
PERHAPS = {
    "by-index": "state[0].detach_()",
    "unpacked": "h, c = state; h.detach_()",
    "first": "next(iter(state)).detach_()",
    "attribute": "state.h = state.h.detach()",
    "method-out-of-view": "state.reset()",
    "method-of-the-network": "model.reset(state)",
    "function-out-of-view": "reset_states(state)",
}
DROPPED = {
    "whole": "state.detach()",
    "by-index": "state[0].detach()",
    "in-a-loop": "for s in state: s.detach()",
}


def codes_where_retained(cut: str) -> list[str]:
    text = RETAINING.format(cut=cut)
    return [f.code for f in check(Source.from_bytes(text.encode(), "program.py"), CheckOptions(fixes=False)).findings]


@pytest.mark.parametrize("name", SURELY)
def test_no_graph_need_be_retained_behind_a_sure_cut(name: str) -> None:
    assert codes_where_retained(SURELY[name]) == ["AD103"]


@pytest.mark.parametrize("name", PERHAPS)
def test_what_is_perhaps_cut_may_be_walked_again(name: str) -> None:
    assert codes_where_retained(PERHAPS[name]) == []


@pytest.mark.parametrize("name", DROPPED)
def test_where_the_graph_is_retained_a_dropped_copy_cuts_nothing(name: str) -> None:
    assert codes_where_retained(DROPPED[name]) == ["AD402", "AD302"]
