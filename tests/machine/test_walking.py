"""What looks like a differentiation, and what leads to one, is told by the names of what is called."""

from __future__ import annotations

import ast

from autodetach.machine.spelling import names_called
from autodetach.machine.walking import backward_calls, callers_of, differentiates


def test_what_is_called_goes_by_the_last_word_of_its_name() -> None:
    assert names_called(ast.parse("f(g.h(1))\ntable[0]()")) == {"f", "h", ""}


def test_a_gradient_that_is_asked_for_is_a_differentiation_but_no_backward() -> None:
    asked = ast.parse("torch.autograd.grad(loss, x)")
    assert differentiates(asked)
    assert not backward_calls(asked)


def test_only_what_is_called_differentiates() -> None:
    assert not differentiates(ast.parse("step = loss.backward"))
    assert [ast.unparse(call) for call in backward_calls(ast.parse("step(loss.backward())"))] == ["loss.backward()"]


def test_callers_are_found_by_way_of_others_and_end_where_functions_call_each_other() -> None:
    functions = [("one", {"two"}), ("two", {"one", "backward"}), ("three", {"one"}), ("idle", {"print"})]
    assert callers_of({"backward"}, functions) == {"one", "two", "three"}


def test_one_of_several_functions_of_a_name_is_enough() -> None:
    assert callers_of({"backward"}, [("train", {"print"}), ("train", {"backward"})]) == {"train"}
