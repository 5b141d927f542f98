"""Activations of one function, and objects of one class, take turns: what each of them holds is followed by itself."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from types import FrameType

import pytest

from autodetach.doctor.activations import activation, forget
from autodetach.doctor.diagnosis import Kind

from .test_growth import TRAINING
from .watching import watch

LEAKS = {
    "two trainers in turn": (
        {"a.losses", "b.losses"},
        """
        class Trainer:
            def __init__(self):
                self.losses = []
            def step(self):
                loss = batch()
                step(loss)
                self.losses.append(loss)
        a, b = Trainer(), Trainer()
        for i in range(20):
            a.step()
            b.step()
        """,
    ),
    "two generators in turn": (
        {"first.<local losses>", "second.<local losses>"},
        """
        def train():
            losses = []
            for i in range(20):
                loss = batch()
                step(loss)
                losses.append(loss)
                yield
        first, second = train(), train()
        for pair in zip(first, second):
            pass
        """,
    ),
    "a list that is handed to each call": (
        {"losses"},
        """
        def once(losses):
            loss = batch()
            step(loss)
            losses.append(loss)
        def train():
            losses = []
            for i in range(20):
                once(losses)
            return losses
        kept = train()
        """,
    ),
    "an object that is made anew in each pass": (
        {"state.h"},
        """
        class State:
            def __init__(self, h):
                self.h = h
        state = State(torch.zeros(4, 3))
        for i in range(20):
            step(batch())
            state = State(model(torch.rand(4, 3)) + state.h)
        """,
    ),
    "a sum in two runs over one state that goes on": (
        {"total", "model_state"},
        """
        cell = nn.RNNCell(3, 3)
        model_state = torch.zeros(1, 3)
        def evaluate(passes):
            global model_state
            total = 0
            for i in range(passes):
                model_state = cell(torch.rand(1, 3), model_state)
                total = total + model_state.pow(2).mean().exp()
            return float(total.detach())
        evaluate(20)
        evaluate(12)
        """,
    ),
    "the second of two runs": (
        {"losses"},
        """
        def train(keep):
            losses = []
            for i in range(30):
                loss = batch()
                step(loss)
                if keep:
                    losses.append(loss)
            return losses
        train(False)
        kept = train(True)
        """,
    ),
}


@pytest.mark.parametrize("name", LEAKS)
def test_what_leaks_beside_another(name: str, tmp_path: Path) -> None:
    names, program = LEAKS[name]
    seen = watch(TRAINING + textwrap.dedent(program), tmp_path)
    assert seen.error is None
    assert {each.kind for each in seen.diagnoses} == {Kind.GROWTH}
    assert {each.binding.path for each in seen.diagnoses if each.binding is not None} == names
    assert seen.diagnoses[0].nodes >= 20


HEALTHY = {
    "a recursion, each of whose calls keeps one loss": """
        def descend(depth):
            loss = batch()
            kept = [loss]
            step(loss)
            if depth:
                descend(depth - 1)
            return float(kept[0].detach())
        for i in range(8):
            descend(3)
        """,
    "short runs, one after another": """
        def train():
            losses = []
            for i in range(3):
                loss = batch()
                step(loss)
                losses.append(loss)
            return sum(float(each.detach()) for each in losses)
        for i in range(12):
            train()
        """,
    "objects that take turns, each with its last loss": """
        class Trainer:
            def step(self):
                self.last = batch()
                step(self.last)
        several = [Trainer() for i in range(5)]
        for i in range(6):
            for each in several:
                each.step()
        """,
}


@pytest.mark.parametrize("name", HEALTHY)
def test_what_several_hold_is_no_growth(name: str, tmp_path: Path) -> None:
    seen = watch(TRAINING + textwrap.dedent(HEALTHY[name]), tmp_path)
    assert (seen.error, seen.diagnoses) == (None, ())


def own_frame() -> FrameType:
    return sys._getframe(1)


@pytest.mark.skipif(sys.gettrace() is not None, reason="a tracer has the place of the mark")
def test_an_activation_has_a_number_of_its_own() -> None:
    numbers = []

    def call() -> None:
        frame = own_frame()
        numbers.append(activation(frame))
        numbers.append(activation(frame))

    call()
    call()
    assert numbers[0] == numbers[1] != numbers[2] == numbers[3] is not None
    frame = own_frame()
    assert activation(frame) is not None and frame.f_trace is not None
    forget(frame)
    assert frame.f_trace is None


def test_a_debugger_keeps_its_place() -> None:
    frame = own_frame()
    before = frame.f_trace

    def trace(*args: object) -> None:
        return None

    frame.f_trace = trace
    try:
        assert activation(frame) is None
        forget(frame)
        assert frame.f_trace is trace
    finally:
        frame.f_trace = before


def test_a_tracer_that_begins_later_is_not_disturbed(tmp_path: Path) -> None:
    seen = watch(
        """
        import sys
        w = nn.Parameter(torch.ones(3))
        events = []
        def tracer(frame, event, arg):
            events.append((event, frame.f_code.co_name))
            return tracer
        def work():
            return 1
        def train():
            (w * 2).sum().backward()
            sys.settrace(tracer)
            work()
            sys.settrace(None)
        before = sys.gettrace()
        train()
        sys.settrace(before)
        """,
        tmp_path,
    )
    assert seen.error is None
    events = seen.variables["events"]
    assert isinstance(events, list)
    assert [event for event, name in events if name == "work"] == ["call", "line", "return"]
    assert [event for event, name in events if name == "train"] == []
