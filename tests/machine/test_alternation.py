"""What tests of one counter's remainder tell of each other."""

from __future__ import annotations

import ast

import pytest

from autodetach.machine.alternation import Alternation
from autodetach.machine.remainders import remainder_asked


@pytest.mark.parametrize(
    ("test", "value", "another"),
    [
        ("i % k == 0", 0, False),
        ("0 == i % k", 0, False),
        ("not i % k", 0, False),
        ("i % k", 0, True),
        ("i % k != 0", 0, True),
        ("(i + 1) % k == 0", -1, False),
        ("i % k == k - 1", -1, False),
        ("i > 0 and i % 4 == 3", 3, False),
        ("rest == 2", 2, False),
        ("not rest", 0, False),
        ("is_first", 1, False),
    ],
)
def test_what_is_asked(test: str, value: int, another: bool) -> None:
    loop = ast.parse(f"for i in range(x):\n _, rest = divmod(i, k)\n is_first = i % k == 1\n if {test}: pass").body[0]
    assert isinstance(loop, ast.For) and isinstance(loop.body[-1], ast.If)
    asked = remainder_asked(loop.body[-1].test, loop)
    assert asked is not None
    assert (asked.counter, asked.value, asked.another) == ("i", value, another)


def test_a_counter_that_is_behind_its_step_is_ahead() -> None:
    loop = ast.parse("while x:\n if n % k == 0: pass\n n += 1\n if n % k == 0: pass").body[0]
    tests = [n.test for n in ast.walk(loop) if isinstance(n, ast.If)]
    found = [asked.value for test in tests if (asked := remainder_asked(test, loop)) is not None]
    assert found == [0, -1]


@pytest.mark.parametrize(
    "text",
    [
        "n = draw()",
        "n += 2",
        "for n in range(0, x, 2): pass",
        "for n in reversed(range(x)): pass",
        "for n in torch.randperm(x).tolist(): pass",
        "for _, (n, y) in enumerate(rows): pass",
        "for n in range(x): pass\nfor n in order: pass",
    ],
)
def test_what_does_not_count_by_one_is_no_counter(text: str) -> None:
    tree = ast.parse(f"{text}\nif n % k == 0: pass")
    branch = tree.body[-1]
    assert isinstance(branch, ast.If)
    assert remainder_asked(branch.test, tree) is None


@pytest.mark.parametrize(
    "loop",
    [
        "for n in range(3, x)",
        "for n in range(0, x, 1)",
        "for n, y in tqdm.tqdm(enumerate(rows, 1), total=9)",
        "for n, (y, z) in enumerate(tqdm(zip(rows, others)))",
        "for n, y in zip(range(x), rows)",
    ],
)
def test_what_counts_by_one(loop: str) -> None:
    tree = ast.parse(f"{loop}:\n if n % k == 0: pass")
    branch = next(n for n in ast.walk(tree) if isinstance(n, ast.If))
    assert remainder_asked(branch.test, tree) is not None


def test_what_is_ended_has_begun_since() -> None:
    known = Alternation()
    went: list[tuple[bool, bool]] = []
    for number in range(4):  # a path on which nothing begins of itself
        known.enter(number)
        begins = known.must_be(0, 3) or False
        known.note(0, found=begins)
        ends = known.must_be(3, 2)
        ends = True if ends is None else ends
        known.note(3, found=ends)
        went.append((begins, ends))
    assert went == [(False, True), (True, False), (False, True), (True, False)]


def test_where_all_are_found_the_divisor_may_be_one() -> None:
    known = Alternation()
    for number in range(3):
        known.enter(number)
        assert known.must_be(0, -1) is None
        known.note(0, found=True)
        assert known.must_be(-1, -2) is None
        known.note(-1, found=True)
