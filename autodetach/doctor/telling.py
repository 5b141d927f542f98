"""The words for the parts of a story."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autodetach.doctor.diagnosis import Step
from autodetach.doctor.frames import Site
from autodetach.doctor.holders import Binding
from autodetach.doctor.journal import Call
from autodetach.doctor.nodes import Node
from autodetach.doctor.reading import statement_at
from autodetach.doctor.records import Records
from autodetach.doctor.stores import stores
from autodetach.machine.spelling import spelled

MAX_QUOTE = 60
"""Characters of a statement that is quoted in a sentence."""


def quoted(binding: Binding | None) -> str:
    """A name in a sentence."""
    return f"`{binding.path}`" if binding is not None else "a tensor without a name"


def called(binding: Binding | None) -> str:
    """What carries a graph."""
    return f"`{binding.path}`" if binding is not None else "a tensor that no name holds any more"


def described(binding: Binding | None, other: Binding | None = None) -> str:
    """A name in a headline: with the class of what it is an attribute of, where the name does not tell, and with
    another name of the same tensor."""
    if binding is None:
        return called(None)
    more = []
    if binding.owner and binding.path.count(".") > 1:
        more.append(f"of {_article(binding.owner)} `{binding.owner}`")
    if other is not None:
        more.append(f"`{other.path}` {other.where}" if other.function != binding.function else f"`{other.path}`")
    return f"`{binding.path}` ({', '.join(more)})" if more else f"`{binding.path}`"


def nth(call: Call) -> str:
    """Which call of its line it is."""
    return f"call {call.count} of this line"


def node_words(node: Node) -> str:
    """What PyTorch calls a node."""
    return node.name().rsplit("::", 1)[-1]


def size(count: int) -> str:
    """Bytes in words."""
    amount = float(count)
    for unit in ("bytes", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"


def built(seen: Records, node: Node, text: str, binding: Binding | None = None) -> Step:
    """The step of the line that built a node, or else of the one statement that stores it."""
    sites = seen.lines.built(node._sequence_nr()) if len(seen.journal.threads) < 2 else ()
    if sites:
        return Step.at(sites, text)
    stored = stores(binding, seen.search.files()) if binding is not None else ()
    return Step(stored[0] if len(stored) == 1 else None, text)


def sites_of(story: Iterable[Step]) -> Iterator[Site]:
    """All lines of a story, in its order."""
    for step in story:
        yield from (site for site in (step.site, *step.calls) if site is not None)


def quoted_call(site: Site) -> str:
    """The line and, where that is one, the call of which it uses the result: "line 12 (`optimizer.step()`)"."""
    value = getattr(statement_at(site), "value", None)
    if isinstance(value, ast.Call):
        text = spelled(value)
        if len(text) <= MAX_QUOTE:
            return f"line {site.line} (`{text}`)"
    return f"line {site.line}"


def _article(word: str) -> str:
    return "an" if word[:1] in "AEIOaeio" else "a"
