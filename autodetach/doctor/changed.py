"""An error of PyTorch: a differentiation needs a tensor as it was before it was changed in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autodetach.doctor.crossing import Crossing, crossing_to
from autodetach.doctor.diagnosis import Diagnosis, Kind, Step
from autodetach.doctor.journal import Call
from autodetach.doctor.names import Names
from autodetach.doctor.nodes import Node, changed_since, reachable
from autodetach.doctor.records import Records
from autodetach.doctor.telling import built, called, described, node_words, nth, quoted, quoted_call


class Changed:
    """Tells of one call that has failed."""

    def __init__(self, seen: Records, call: Call, roots: list[Node], names: Names) -> None:
        self._seen = seen
        self._call = call
        self._roots = roots
        self._names = names

    def diagnosis(self) -> Diagnosis:
        """Which tensor was changed, and by which line."""
        journal = self._seen.journal
        for node in reachable(iter(self._roots)):
            for tensor in changed_since(node):
                if len(journal.threads) < 2 and journal.walker(node._sequence_nr()) is not None:
                    crossing = crossing_to(node, self._roots, self._call, journal)
                    return self._carried(crossing, node, tensor)
                return self._tensor(node, tensor, self._roots)
        text = "a tensor that this call needs was changed in place since; which one, this PyTorch does not show"
        return Diagnosis(Kind.CHANGED, text, self._call.site)

    def _carried(self, crossing: Crossing, node: Node, tensor: Any) -> Diagnosis:
        """A graph that was walked before, and retained, is walked again after a step: the cause is what carries it."""
        _, names = self._names.of_first(crossing.below)
        binding = names[0] if names else None
        name = called(binding)
        changed = self._tensor(node, tensor)
        story = [built(self._seen, crossing.carried, f"builds {name} ({node_words(crossing.carried)})")]
        if crossing.walker is not None:
            story.append(Step(crossing.walker.site, f"{nth(crossing.walker)}: backward walks its graph, which is kept"))
        story += changed.story[1:-1]
        if crossing.reader is not None:
            story.append(built(self._seen, crossing.reader, f"reads {name} again ({node_words(crossing.reader)})"))
        story.append(changed.story[-1])
        message = f"{described(binding)} carries a graph of an earlier pass, and {changed.message}"
        return Diagnosis(Kind.CHANGED, message, self._call.site, binding, tuple(story))

    def _tensor(self, node: Node, tensor: Any, roots: Sequence[Node] = ()) -> Diagnosis:
        binding = self._names.of_tensor(tensor)
        stepped = self._seen.stepped_by(tensor)
        site = self._seen.lines.changed(tensor) or stepped
        name = quoted(binding) if binding is not None else f"a tensor of shape {list(tensor.shape)}"
        how = "the optimizer's step changes it in place" if site is stepped else f"changes {name} in place"
        story = (
            built(self._seen, node, f"uses {name}, and keeps it for its backward ({node_words(node)})"),
            Step(site, how),
            Step(self._call.site, f"{nth(self._call)}: backward needs {name} as it was: PyTorch raises"),
        )
        root = self._names.nearest(list(roots))
        graph = f"the graph of `{root.path}`" if root is not None else "the graph"
        by = f" by {quoted_call(site)}," if site is not None else ""
        message = f"{name} was changed in place{by} after {graph} had kept it"
        return Diagnosis(Kind.CHANGED, message, self._call.site, binding, story)
