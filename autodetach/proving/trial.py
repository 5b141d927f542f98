"""An edited program on the paths of the first one, each run only when it is asked for, and once."""

from __future__ import annotations

from autodetach.kept import forget
from autodetach.machine.apart import Spoilt
from autodetach.machine.paths import Paths
from autodetach.machine.project import Project
from autodetach.machine.run import Analysis, Run, dissolve
from autodetach.machine.tensors import OF_LEAVES
from autodetach.proving.drawn import is_drawn_otherwise, is_told_otherwise
from autodetach.proving.faults import known_faults, new_faults
from autodetach.proving.gradients_read import GONE, loses_gradients
from autodetach.proving.proof import Verdict, compare, trained_by
from autodetach.suspect import Candidate
from autodetach.view.program import parents_in, place_text


class Trial:
    """What becomes of the paths of `before` in the edited program `project`. `cost` is the fuel that it took so far."""

    def __init__(self, before: Analysis, project: Project) -> None:
        self._before = before
        self._project = project
        self._tree = project.root.tree
        self._paths = Paths(self._tree, project, before.evidence, called=before.called)
        self._runs: dict[int, Run] = {}
        self._replays: list[Run] = []
        self.cost = 0
        self._known = known_faults(before)

    def run(self, number: int) -> Run:
        """The path with this number."""
        if number not in self._runs:
            first = self._before.runs[number]
            try:
                run = self._paths.run(first.policy, first.fuel)
            except Spoilt:
                # What the runs so far are asked for has been answered; they are done again where it is asked again.
                before = self._before
                self._paths = Paths(self._tree, self._project, before.evidence, called=before.called, apart=False)
                spent = self.cost
                numbers = list(self._runs)
                self._runs.clear()
                for other in numbers:
                    self.run(other)
                self.cost = spent
                return self.run(number)
            self._runs[number] = run
            self.cost += run.cost
        return self._runs[number]

    def one(self, number: int) -> Analysis:
        """That path alone."""
        return self._analysis([self.run(number)])

    def whole(self) -> Analysis:
        """All of the paths, beyond which no others were run of the program before either."""
        analysis = self._analysis([self.run(n) for n in range(len(self._before.runs))])
        analysis.ended = self._before.ended
        return analysis

    def asks_more(self, number: int) -> bool:
        """Whether `item()` or `detach()` is called on what may be no tensor, where the first program does not."""
        return len(self.run(number).unsure) > len(self._before.runs[number].unsure)

    def breaks_off(self, number: int) -> bool:
        """Whether both programs end by what Python refuses: what they would read behind that is not known."""
        old, new = (
            {(place_text(f.site.node), f.text) for f in run.machine.broken_off}
            for run in (self._before.runs[number], self.run(number))
        )
        return not old.isdisjoint(new)

    def dissolve(self) -> None:
        """Clear away all runs: nothing may be asked any more."""
        analysis = self._analysis(list(self._runs.values()))
        kept = {statement for tree in self._before.trees for statement in tree.body}
        for statement in (statement for tree in analysis.trees for statement in tree.body):
            if statement not in kept:
                forget(statement, parents_in)
        dissolve(analysis)

    def _analysis(self, runs: list[Run]) -> Analysis:
        evidence = self._before.evidence
        return Analysis(self._tree, runs, project=self._project, evidence=evidence, replays=self._replays)

    def verdict(self, first: int, meant: Candidate) -> Verdict:
        """Whether the edited program is as good on every path, as far as a candidate is not meant to change it.

        `first` is the path that is most likely to say that it is not.
        """
        numbers = meant.prefers == "item"
        equal, reason = True, ""
        known = self._before.distinct
        trained = trained_by(self.run(first)) if meant.cuts else {}
        for number in (first, *(n for n in range(len(self._before.runs)) if n != first)):
            fault = new_faults(self._known, self.one(number), numbers=numbers)
            if fault is not None:
                return Verdict(False, False, fault)
            if number == first and any(f.kind == OF_LEAVES for f in self.run(number).machine.type_faults):
                return Verdict(False, False, "PyTorch still raises where a flag is changed of what is no leaf")
            if self._before.runs[number] not in known:
                continue  # seen by another name
            if number != first and not self._before.runs[number].finished:
                continue  # the budget ended on this variation: where it would have led is not known of either program
            elsewhere = trained if number != first else {}
            verdict = compare(self._before.runs[number], self.run(number), meant, elsewhere)
            if not verdict.kept:
                return verdict
            if is_drawn_otherwise(self._before.runs[number], self.run(number)):
                return Verdict(False, False, "the graph that is read by way of `.grad_fn` is another one")
            if is_told_otherwise(self._before.runs[number], self.run(number)):
                return Verdict(False, False, "what a tensor is asked for, as whether it requires grad, is another")
            equal = equal and verdict.equal
            was = dict(meant.respelled)
            if not reason and loses_gradients(self._before.runs[number], self.run(number), was, self._before.trees):
                reason = GONE
        return Verdict(True, equal and not reason, reason)
