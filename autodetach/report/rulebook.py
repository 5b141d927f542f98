"""What reports tell about a rule: parts of its page."""

from __future__ import annotations

import re
from collections.abc import Iterable

from autodetach.rules import Rule
from autodetach.settings.selection import RULES

_LINK = re.compile(r"https?://[^\s)>]+")


def known_rules() -> tuple[Rule, ...]:
    """All rules, in the order of their codes."""
    return tuple(sorted(RULES, key=lambda rule: rule.code))


def section(rule: Rule, heading: str) -> str:
    """The text below a heading of the rule page, its lines joined; empty if there is no such heading."""
    return " ".join(rule.page.partition(f"## {heading}\n")[2].partition("\n## ")[0].split())


def link(rule: Rule) -> str | None:
    """The first reference of the rule page."""
    found = _LINK.search(section(rule, "References"))
    return found[0] if found else None


def links(codes: Iterable[str]) -> dict[str, str]:
    """The link of every code that has one."""
    wanted = set(codes)
    found = ((rule.code, link(rule)) for rule in RULES if rule.code in wanted)
    return {code: url for code, url in found if url is not None}
