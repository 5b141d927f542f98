"""Where several repairs are right, the first is what an expert would take, and the others are offered beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Finding, Fix
from autodetach.source import Source

FIXTURES = Path(__file__).parent.parent / "fixtures"


def finding_of(name: str, options: CheckOptions) -> Finding:
    path = FIXTURES / f"{name}.before.py"
    return check(Source.from_bytes(path.read_bytes(), path.name), options).findings[0]


def messages(fixes: tuple[Fix, ...]) -> list[str]:
    return [f"{fix.applicability.value}: {fix.message}" for fix in fixes]


@pytest.mark.parametrize(
    ("name", "first", "others"),
    [
        (
            "accumulated-loss/textbook_script",
            "safe: accumulate the number: `.item()` on `loss`",
            ["safe: accumulate the value without its graph: `.detach()` on `loss`"],
        ),
        (
            "attached-fake/gan_script",
            "unsafe: detach `fake`",
            [
                "unsafe: keep the graph until the last backward over it",
                "unsafe: compute `fake` again before `errG.backward()`, from the same `torch.randn(16, 4)`",
            ],
        ),
        (
            "carried-state/cell_script",
            "unsafe: detach `h` where it enters the next pass",
            ["unsafe: detach `h` where it is read"],
        ),
        (
            "carried-state/rnn_starts_with_none",
            "unsafe: detach `h_state` where it enters the next pass",
            ["unsafe: detach `h_state` where it is read, if there is one"],
        ),
        (
            "shared-graph/students_of_each_other",
            "unsafe: keep the graph in every pass",
            [],
        ),
        (
            "carried-state/sum_not_begun_anew",
            "unsafe: begin the sum anew: `loss = 0` before `for output, target in zip(net(x), targets)`",
            ["unsafe: detach `loss` where it enters the next pass"],
        ),
        (
            "step-between-backwards/actor_behind_critics",
            "unsafe: move `policy_loss.backward()` and what belongs to it before `q1_opt.zero_grad()`",
            ["unsafe: compute `new_actions`, `q_new`, `policy_loss` again before `policy_loss.backward()`"],
        ),
    ],
)
def test_the_first_and_the_others(name: str, first: str, others: list[str]) -> None:
    finding = finding_of(name, CheckOptions(alternatives=True))
    assert finding.fix is not None
    assert messages((finding.fix,)) == [first]
    assert messages(finding.alternatives) == others


def test_they_cost_time_and_must_be_asked_for() -> None:
    assert finding_of("attached-fake/gan_script", CheckOptions()).alternatives == ()


def test_the_preferred_one_is_first() -> None:
    finding = finding_of(
        "accumulated-loss/textbook_script", CheckOptions(prefer_accumulate="detach", alternatives=True)
    )
    assert finding.fix is not None
    assert ".detach()" in finding.fix.message
    assert [".item()" in fix.message for fix in finding.alternatives] == [True]


@pytest.mark.parametrize(
    "name",
    ["carried-state/cell_script", "attached-fake/gan_script", "step-between-backwards/actor_behind_critics"],
)
def test_where_only_one_is_shown_nothing_is_tried_that_cannot_be_better(name: str) -> None:
    path = FIXTURES / f"{name}.before.py"
    source = Source.from_bytes(path.read_bytes(), path.name)
    one, all_of_them = (check(source, CheckOptions(alternatives=others)) for others in (False, True))
    assert [f.fix for f in one.findings] == [f.fix for f in all_of_them.findings]
    assert one.cost < all_of_them.cost
