"""One observed run, from the import of PyTorch to the last word."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable

from autodetach.doctor import program as programs
from autodetach.doctor.children import at_end_of_child, at_end_of_forked, call_in_children
from autodetach.doctor.diagnosis import Diagnosis
from autodetach.doctor.frames import Territory
from autodetach.doctor.hooking import when_imported
from autodetach.doctor.observer import Observer, Options
from autodetach.doctor.scalars import indexed_scalar
from autodetach.doctor.words import tell
from autodetach.machine.evidence import Evidence


class Session:
    """An observer and what it has said. `tell` hears of each fault once, of an error before it leaves PyTorch."""

    def __init__(self, options: Options, tell: Callable[[Diagnosis], None]) -> None:
        self.territory = Territory()
        self.diagnoses: list[Diagnosis] = []
        self.observer = Observer(options, self.territory, self._heard)
        self._options = options
        self._tell = tell
        self._ended = False
        self.evidence: Evidence | None = None

    def run(self, program: programs.Program) -> programs.Ending:
        """Run a program under observation, to its end and that of its threads."""
        self.territory.add(program.file)
        restore = call_in_children(_begin_in_child, self._options.trace, self._options.steps)
        self.begin()
        try:
            ending = programs.run(program)
            self._look_at(ending.error)
            return ending
        finally:
            restore()
            _wait_for_threads()
            self.finish()

    def _look_at(self, error: BaseException | None) -> None:
        """What ended the program may be an error that no differentiation has raised."""
        if error is not None and self.observer.attached:
            with self.observer.careful():
                diagnosis = indexed_scalar(error, self.territory)
                if diagnosis is not None:
                    self.observer.failed = True
                    self._heard(diagnosis)

    def begin(self) -> None:
        """Observe PyTorch from its import on."""
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)
            at_end_of_forked(self, Session.finish)
        when_imported("torch", self.observer.attach)

    def finish(self) -> None:
        """The last word: what showed no error."""
        if self._ended or not self.observer.attached:
            return
        self._ended = True
        self.evidence = self.observer.evidence()
        for diagnosis in self.observer.results():
            self._heard(diagnosis)
        self.observer.detach()

    def _forked(self) -> None:
        """A forked child goes on, with what is its own: the parent tells what it has seen itself."""
        if not self._ended:
            self.observer.begin_anew()

    def _heard(self, diagnosis: Diagnosis) -> None:
        if any(known.lines == diagnosis.lines and known.kind is diagnosis.kind for known in self.diagnoses):
            return
        self.diagnoses.append(diagnosis)
        self._tell(diagnosis)


def _begin_in_child(trace: bool, steps: int | None) -> None:
    try:
        session = Session(Options(trace, steps), tell)
        session.begin()
        at_end_of_child(session.finish)
    except Exception as error:  # the child has work to do, with the doctor or without
        print(f"autodetach: process {os.getpid()} is not observed: {error}", file=sys.stderr)


def _wait_for_threads() -> None:
    """As the interpreter does at its end: threads that are no daemons may still train."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
