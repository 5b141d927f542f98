"""Which rules are meant by codes, prefixes and names."""

from __future__ import annotations

from collections.abc import Sequence

import fake_checker
import pytest

from autodetach.comments.suppress import means
from autodetach.settings.selection import Layer, UnknownRule, codes_of, enabled_codes, find_rule


@pytest.fixture(autouse=True)
def _fake_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autodetach.settings.selection.RULES", fake_checker.RULES)


def layer(select: str | None = None, ignore: str = "") -> Layer:
    return Layer(None if select is None else tuple(select.split()), tuple(ignore.split()))


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        ([], "AD101 AD102 AD201"),
        ([layer()], "AD101 AD102 AD201"),
        ([layer("AD1")], "AD101 AD102"),
        ([layer("ad1")], "AD101 AD102"),
        ([layer("walked-twice")], "AD201"),
        ([layer("ALL", "AD1")], "AD201"),
        ([layer(ignore="accumulated-loss")], "AD102 AD201"),
        ([layer("AD1", "AD101")], "AD102"),
        ([layer("AD101", "AD1")], "AD101"),
        ([layer("AD1", "AD1")], ""),
        ([layer("accumulated-loss", "AD10")], "AD101"),
        ([layer(""), layer()], ""),
        ([layer("AD1", "AD101"), layer(ignore="AD102")], ""),
        ([layer("AD1", "AD101"), layer("AD101 AD201")], "AD101 AD201"),
        ([layer(ignore="AD1"), layer("AD")], "AD101 AD102 AD201"),
    ],
)
def test_enabled_codes(layers: Sequence[Layer], expected: str) -> None:
    assert sorted(enabled_codes(layers)) == expected.split()


@pytest.mark.parametrize("text", ["AD101", "ad101", "accumulated-loss", "Accumulated-Loss", " AD101 "])
def test_find_rule(text: str) -> None:
    assert find_rule(text).code == "AD101"


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("AD1O1", "did you mean AD101 (accumulated-loss)?"),
        ("acumulated-los", "did you mean AD101 (accumulated-loss)?"),
        ("AD1", "did you mean AD101 (accumulated-loss)?"),
        ("zzz", "`autodetach rule` lists all"),
        ("", "`autodetach rule` lists all"),
    ],
)
def test_an_unknown_rule(text: str, suggestion: str) -> None:
    with pytest.raises(UnknownRule) as caught:
        find_rule(text)
    assert str(caught.value).startswith(f'there is no rule "{text}"; {suggestion}')


@pytest.mark.parametrize("selector", ["AD9", "XY", "", " ", "AD1011", "accumulated"])
def test_a_selector_that_means_nothing(selector: str) -> None:
    with pytest.raises(UnknownRule):
        codes_of(selector)
    with pytest.raises(UnknownRule):
        enabled_codes([Layer(ignore=(selector,))])


@pytest.mark.parametrize(
    "text", ["AD1", "ad101", "A", "accumulated-loss", "Accumulated-Loss", "accumulated", "AD1010", "AD9"]
)
def test_comments_and_settings_mean_the_same_rules(text: str) -> None:
    meant = {rule.code for rule in fake_checker.RULES if means(text, rule.code, rule.name)}
    try:
        assert codes_of(text) == meant
    except UnknownRule:
        assert not meant
