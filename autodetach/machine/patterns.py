"""The patterns of `match`: what they take apart, and whether they fit."""

from __future__ import annotations

import ast

from autodetach.machine.expressions import Expressions
from autodetach.machine.graph import Site
from autodetach.machine.marks import ITEMS
from autodetach.machine.number_readers import asked_for_type
from autodetach.machine.object_builtins import is_instance, tells_tensors
from autodetach.machine.operators import compare
from autodetach.machine.program_values import Class, External, Frame, Instance
from autodetach.machine.records import fields_of
from autodetach.machine.state import MISSING
from autodetach.machine.told_of_values import is_constant
from autodetach.machine.values import Mapping, Opaque, Sequence, Sym, Tensor, Value

Verdict = Value
"""True, False, or a Sym where it is not known."""


def matches(m: Expressions, pattern: ast.pattern, subject: Value, frame: Frame, site: Site) -> Verdict:
    """Whether `subject` fits; names of the pattern are bound on the way."""
    if isinstance(pattern, ast.MatchAs):
        inner = True if pattern.pattern is None else matches(m, pattern.pattern, subject, frame, site)
        if pattern.name is not None and inner is not False:
            m.store_name(pattern.name, subject, frame)
        return inner
    if isinstance(pattern, ast.MatchValue):
        return compare(m, "Eq", subject, m.eval(pattern.value, frame), site)
    if isinstance(pattern, ast.MatchSingleton):
        return compare(m, "Is", subject, pattern.value, site)
    if isinstance(pattern, ast.MatchOr):
        return _any(m, pattern, subject, frame, site)
    if isinstance(pattern, ast.MatchSequence):
        return _sequence(m, pattern, subject, frame, site)
    if isinstance(pattern, ast.MatchMapping):
        return _mapping(m, pattern, subject, frame, site)
    if isinstance(pattern, ast.MatchClass):
        return _class(m, pattern, subject, frame, site)
    return _unknown(m, pattern, frame)


def _unknown(m: Expressions, pattern: ast.pattern, frame: Frame) -> Verdict:
    for node in ast.walk(pattern):
        name = node.rest if isinstance(node, ast.MatchMapping) else getattr(node, "name", None)
        if isinstance(name, str):
            m.store_name(name, m.opaque(name), frame)
    return m.fresh("bool")


def _all(verdicts: list[Verdict]) -> Verdict:
    if any(v is False for v in verdicts):
        return False
    return next((v for v in verdicts if v is not True), True)


def _any(m: Expressions, pattern: ast.MatchOr, subject: Value, frame: Frame, site: Site) -> Verdict:
    result: Verdict = False
    for option in pattern.patterns:
        verdict = matches(m, option, subject, frame, site)
        if verdict is True:
            return True
        if verdict is not False:
            result = verdict
    return result


def _sequence(m: Expressions, pattern: ast.MatchSequence, subject: Value, frame: Frame, site: Site) -> Verdict:
    m.note_read(subject)
    if isinstance(subject, Instance) and isinstance(subject.attrs.get(ITEMS), Sequence):
        subject = subject.attrs[ITEMS]
    if is_constant(subject) or isinstance(subject, (Tensor, Mapping, Instance)):
        return False
    if not isinstance(subject, Sequence):
        return _unknown(m, pattern, frame)
    if subject.kind == "set":
        return False
    items, parts = subject.items, pattern.patterns
    star = next((i for i, p in enumerate(parts) if isinstance(p, ast.MatchStar)), None)
    if not subject.exact:
        if len(items) < len(parts):
            return _unknown(m, pattern, frame)
        known = Sequence("list", items if star is not None else items[: len(parts)], m.clock)
        return m.fresh("bool") if _sequence(m, pattern, known, frame, site) is True else _unknown(m, pattern, frame)
    if star is None:
        if len(items) != len(parts):
            return False
        return _parts(m, parts, items, frame, site)
    after = len(parts) - star - 1
    if len(items) < star + after:
        return False
    end = len(items) - after
    rest = parts[star]
    verdict = _parts(m, [*parts[:star], *parts[star + 1 :]], [*items[:star], *items[end:]], frame, site)
    if isinstance(rest, ast.MatchStar) and rest.name is not None and verdict is not False:
        m.store_name(rest.name, Sequence("list", items[star:end], m.clock), frame)
    return verdict


def _parts(m: Expressions, patterns: list[ast.pattern], values: list[Value], frame: Frame, site: Site) -> Verdict:
    verdicts = []
    for pattern, value in zip(patterns, values, strict=True):
        verdicts.append(matches(m, pattern, value, frame, site))
        if verdicts[-1] is False:
            return False
    return _all(verdicts)


def _mapping(m: Expressions, pattern: ast.MatchMapping, subject: Value, frame: Frame, site: Site) -> Verdict:
    if is_constant(subject) or isinstance(subject, (Tensor, Sequence, Instance)):
        return False
    if not isinstance(subject, Mapping):
        return _unknown(m, pattern, frame)
    m.note_read(subject)
    keys = [m.key(m.eval(k, frame)) for k in pattern.keys]
    if any(k not in subject.items for k in keys):
        return False if subject.exact else _unknown(m, pattern, frame)
    verdict = _parts(m, pattern.patterns, [subject.items[k][1] for k in keys], frame, site)
    if pattern.rest is not None and verdict is not False:
        rest = Mapping(m.clock, subject.exact)
        rest.items.update({k: pair for k, pair in subject.items.items() if k not in keys})
        m.store_name(pattern.rest, rest, frame)
    return verdict


def _class(m: Expressions, pattern: ast.MatchClass, subject: Value, frame: Frame, site: Site) -> Verdict:
    cls = m.eval(pattern.cls, frame)
    if tells_tensors(subject, cls):
        asked_for_type(m, subject, site)
    verdict: Verdict = is_instance(subject, cls)
    if verdict is False:
        return False
    if verdict is None or isinstance(subject, (Opaque, Sym)):
        return _unknown(m, pattern, frame)
    positional = pattern.patterns
    if isinstance(cls, External):
        if len(positional) == 1 and not pattern.kwd_attrs:  # `int(n)`, `list(xs)`: the subject itself
            return matches(m, positional[0], subject, frame, site)
        names: list[str] = []
    else:
        names = _match_args(m, cls)
    if len(names) < len(positional):
        return _unknown(m, pattern, frame) if positional else True
    values = []
    for name in [*names[: len(positional)], *pattern.kwd_attrs]:
        value = m.lookup(subject, name, site)
        if value is MISSING:
            return False
        values.append(value)
    return _parts(m, [*positional, *pattern.kwd_patterns], values, frame, site)


def _match_args(m: Expressions, cls: Value) -> list[str]:
    if not isinstance(cls, Class):
        return []
    given = m.class_attribute(cls, "__match_args__")
    if isinstance(given, Sequence):
        return [n for n in given.items if isinstance(n, str)]
    return [field.name for field in fields_of(cls)]
