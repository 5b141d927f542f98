"""Which rules are meant by codes, prefixes of codes, and names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autodetach import rules
from autodetach.comments import unused
from autodetach.comments.suppress import means
from autodetach.rules import Rule

# All that can be chosen: the rules for programs, and the one for the comments that silence them.
RULES: tuple[Rule, ...] = (*rules.RULES, unused.RULE)


class UnknownRule(Exception):
    """No rule is called that; the text is a whole sentence, with a suggestion if there is one."""


@dataclass(frozen=True, slots=True)
class Layer:
    """What one place (a configuration file, the command line) says about the rules; None for `select`: nothing."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()


def find_rule(text: str) -> Rule:
    """The rule with this code or name, in any case. Raises UnknownRule."""
    for rule in RULES:
        if text.strip().casefold() in (rule.code.casefold(), rule.name.casefold()):
            return rule
    raise UnknownRule(f'there is no rule "{text}"{_suggestion(text)}')


def codes_of(selector: str) -> frozenset[str]:
    """The codes that a code, a prefix of codes, a name or `ALL` stands for. Raises UnknownRule if there are none."""
    found = frozenset(rule.code for rule in RULES if _weight(selector, rule) is not None)
    if not found:
        raise UnknownRule(f'there is no rule "{selector}"{_suggestion(selector)}')
    return found


def enabled_codes(layers: Sequence[Layer]) -> frozenset[str]:
    """The codes that are on when later layers speak over earlier ones.

    A `select` forgets all that came before it. Within a layer the longer of two selectors wins, so that
    `select = ["AD101"], ignore = ["AD1"]` leaves AD101 on; between two of one length it is `ignore` that wins.
    Raises UnknownRule.
    """
    enabled = frozenset(rule.code for rule in RULES)
    for layer in layers:
        for selector in (*(layer.select or ()), *layer.ignore):
            codes_of(selector)
        enabled = frozenset(rule.code for rule in RULES if _is_on(rule, layer, before=rule.code in enabled))
    return enabled


def _is_on(rule: Rule, layer: Layer, *, before: bool) -> bool:
    ignored = _heaviest(layer.ignore, rule)
    if layer.select is None:
        return before and ignored is None
    selected = _heaviest(layer.select, rule)
    return selected is not None and (ignored is None or selected > ignored)


def _heaviest(selectors: Iterable[str], rule: Rule) -> int | None:
    return max((weight for selector in selectors if (weight := _weight(selector, rule)) is not None), default=None)


def _weight(selector: str, rule: Rule) -> int | None:
    """How closely a selector names a rule; None if it does not."""
    selector = selector.strip()
    if selector.upper() == "ALL":
        return 0
    if not means(selector, rule.code, rule.name):
        return None
    return len(rule.code) if selector.casefold() == rule.name.casefold() else len(selector)


def _suggestion(text: str) -> str:
    text = text.strip()
    codes = {rule.code: rule for rule in RULES}
    names = {rule.name: rule for rule in RULES}
    near = (
        [code for code in codes if text and code.startswith(text.upper())]
        or difflib.get_close_matches(text.upper(), codes, n=1)
        or difflib.get_close_matches(text.lower(), names, n=1)
    )
    if not near:
        return "; `autodetach rule` lists all"
    rule = codes.get(near[0]) or names[near[0]]
    return f"; did you mean {rule.code} ({rule.name})?"
