"""What is found out about a syntax node is found out once, until it is forgotten."""

from __future__ import annotations

import ast

from autodetach.kept import forget, keep, kept

asked: list[str] = []


@kept
def name_of(node: ast.Name) -> str | None:
    """The name, and None for `nothing`."""
    asked.append(node.id)
    return None if node.id == "nothing" else node.id


@kept
def length_of(node: ast.Name) -> int:
    return len(node.id)


def test_each_node_is_asked_once() -> None:
    asked.clear()
    one, other, nothing = ast.Name("a"), ast.Name("a"), ast.Name("nothing")
    assert [name_of(node) for node in (one, one, other, nothing, nothing)] == ["a", "a", "a", None, None]
    assert asked == ["a", "a", "nothing"]


def test_a_function_is_known_by_its_name_and_says_what_it_did() -> None:
    assert name_of.__name__ == "name_of"
    assert name_of.__doc__ == "The name, and None for `nothing`."


def test_what_is_forgotten_is_asked_anew() -> None:
    node = ast.Name("a")
    assert (name_of(node), length_of(node)) == ("a", 1)
    node.id = "long"
    assert (name_of(node), length_of(node)) == ("a", 1)
    forget(node, name_of)
    assert (name_of(node), length_of(node)) == ("long", 1)
    forget(node)
    assert (name_of(node), length_of(node)) == ("long", 4)


def test_an_answer_that_is_known_already_is_kept_unless_there_is_one() -> None:
    node = ast.Name("a")
    keep(length_of, node, 7)
    keep(length_of, node, 8)
    assert length_of(node) == 7
