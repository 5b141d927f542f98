"""What is known of which text, and what is being found out: a new edit ends the analysis of the old text."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass

from autodetach.adoption.adopt import Adoption
from autodetach.checks import Change
from autodetach.decoding import SourceError
from autodetach.disk.files import NOTEBOOK_SUFFIX, FoundFile, find_files, left_out, relative
from autodetach.finding import Problem
from autodetach.gather import gather
from autodetach.lsp.documents import Documents, Stamp
from autodetach.lsp.foreseen import Seen, foreseen, seen
from autodetach.lsp.work import fix, look, repair
from autodetach.lsp.workers import WorkerDied, Workers
from autodetach.perform import internal_error
from autodetach.report import Located
from autodetach.settings.config import ConfigError, Configuration, Overrides, posix
from autodetach.source import Source
from autodetach.task import Outcome, Task

WAIT = 0.001
"""Seconds for which the text has to stay as it is."""
WAIT_OF_OTHERS = 0.2
"""Seconds before what imports an edited text is looked at again."""


@dataclass(slots=True, eq=False)
class Known:
    """What an analysis gave, and the texts that it rests on."""

    outcome: Outcome
    stamps: dict[str, Stamp]
    repairs: asyncio.Future[Outcome] | None = None


class Desk:
    """The analyses of what is open, or was scanned.

    `told` hears of every one that ends, by the path of its root, and of what it will probably give, if that is clear
    earlier; with True where nothing has been said of this text before.
    """

    def __init__(
        self, documents: Documents, workers: Workers, told: Callable[[str, bool], None], complain: Callable[[str], None]
    ) -> None:
        self._documents = documents
        self._workers = workers
        self._told = told
        self._complain = complain
        self._complaint = ""
        self._known: dict[str, Known] = {}
        self._pending: dict[str, asyncio.Task[None]] = {}
        self._early: dict[str, Outcome] = {}
        self._seen: dict[str, Seen] = {}

    def edited(self, path: str, *, opened: bool = False) -> None:
        """The text at a path is another one, or is open now."""
        self._drop_repairs()
        self._begin(path, 0.0 if opened else WAIT)
        for root in self._importers(path):
            self._begin(root, WAIT_OF_OTHERS)

    def closed(self, path: str) -> None:
        """A text is not open any more: what is on disk counts again, for those that import it."""
        self._end(path)
        self._drop_repairs()
        self._known.pop(path, None)
        self._seen.pop(path, None)
        for root in self._importers(path):
            self._begin(root, WAIT_OF_OTHERS)

    def changed_on_disk(self, paths: Iterable[str], *, everything: bool = False) -> bool:
        """Files have changed; with `everything`, settings have, or files have come or gone. Whether it matters."""
        self._drop_repairs()
        # What is open counts as it is in the editor.
        changed = {path for path in paths if self._documents.at(path) is None}
        stale = {
            root for root, known in self._known.items() if everything or changed & {root, *known.outcome.imported}
        } | {opened.path for opened in self._documents if everything}
        for root in stale:
            if self._documents.at(root) is not None:
                self._begin(root, WAIT)
            else:
                self._known.pop(root, None)
        return bool(stale)

    def is_pending(self, path: str) -> bool:
        """Whether nothing is known of the text at a path yet."""
        return path in self._pending and path not in self._early

    def problems(self, path: str) -> tuple[Problem, ...]:
        """What kept the text at a path from being analysed whole."""
        known = self._known.get(path)
        return known.outcome.problems if known is not None and self._is_current(known, path) else ()

    def source(self, path: str) -> Source | None:
        """The text at a path if it is open and readable."""
        opened = self._documents.at(path)
        if opened is None:
            return None
        try:
            return opened.source(self._shown(path))
        except SourceError:
            return None

    def findings(self) -> dict[str, list[Located]]:
        """By path, what the settings want to hear of, in texts that are still those which were analysed."""
        by_path: dict[str, list[Located]] = defaultdict(list)
        outcomes = [known.outcome for known in self._known.values()]
        with self._settings() as configuration:
            for located in gather(outcomes, configuration):
                if self._is_current(self._known[located.root], located.path):
                    by_path[located.path].append(located)
        return by_path

    async def settled(self, path: str) -> None:
        """Wait until the text at a path, and what imports it, has been looked at."""
        while waiting := {self._pending[root] for root in (path, *self._importers(path)) if root in self._pending}:
            await asyncio.wait(waiting)

    async def repaired(self, path: str) -> list[Located]:
        """The findings in the text at a path with all their repairs."""
        await self.settled(path)
        roots = {located.root for located in self.findings().get(path, ())}
        outcomes = [outcome for root in roots if (outcome := await self._repairs(root)) is not None]
        with self._settings() as configuration:
            return [
                located
                for located in gather(outcomes, configuration)
                if located.path == path
                and located.root in self._known
                and self._is_current(self._known[located.root], path)
            ]
        return []

    def has_elsewhere(self, root: str) -> bool:
        """Whether the analysis of a program says something about other texts than its own."""
        known = self._known.get(root)
        return known is not None and any(finding.path for finding in known.outcome.findings)

    async def fixed(self, path: str) -> tuple[Change, bool] | None:
        """What `autodetach fix` makes of the text at a path, and whether with unsafe fixes; None if nothing."""
        with self._settings() as configuration, contextlib.suppress(SourceError, WorkerDied):
            unsafe = configuration.settings_for(os.path.dirname(path)).unsafe_fixes
            before = self._documents.stamp(path)
            task = self._task(path, configuration)._replace(unsafe=unsafe)
            change = await self._workers.run(fix, task, about=path)
            return (change, unsafe) if change is not None and before == self._documents.stamp(path) else None
        return None

    async def scan(self, each: Callable[[int, int, str], Awaitable[None]]) -> list[str]:
        """Look at all files of the workspace folders that are not known yet; their paths. `each` hears of every one.

        Of a notebook that is not open, nobody knows under which URIs an editor would show its cells.
        """
        paths: list[str] = []
        with self._settings() as configuration:
            for folder in self._documents.folders.values():
                found = await asyncio.to_thread(find_files, [folder], configuration, folder)
                paths += (file.path for file in found.files if not file.path.endswith(NOTEBOOK_SUFFIX))
        paths = list(dict.fromkeys(paths))
        waiting = list(enumerate(paths))[::-1]

        async def work() -> None:
            while waiting:
                number, path = waiting.pop()
                if self._documents.at(path) is not None:
                    await self.settled(path)
                elif path not in self._known or not self._is_current(self._known[path]):
                    with contextlib.suppress(ConfigError):
                        self._known[path] = await self._look(path)
                await each(number, len(paths), path)

        # One process is left to what is being edited.
        workers = [asyncio.ensure_future(work()) for _ in range(max(1, self._workers.size - 1))]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
        return paths

    def close(self) -> None:
        for path in tuple(self._pending):
            self._end(path)

    def baselines(self) -> set[str]:
        """The files of known findings that the settings of the workspace folders name."""
        with self._settings() as configuration:
            named = {configuration.settings_for(folder).baseline for folder in self._documents.folders.values()}
            return {path for path in named if path is not None}
        return set()

    def may_edit(self, path: str) -> bool:
        """Whether a repair may change the file at a path: it is open, or lies in a workspace folder."""
        return self._documents.at(path) is not None or self._documents.is_inside(path)

    def _begin(self, root: str, wait: float) -> None:
        self._end(root)
        self._pending[root] = asyncio.ensure_future(self._analyse(root, wait))

    def _end(self, root: str) -> None:
        task = self._pending.pop(root, None)
        self._early.pop(root, None)
        if task is not None:
            task.cancel()
        self._drop_repairs(root)

    def _drop_repairs(self, *roots: str) -> None:
        """Forget the repairs in some programs, by default in all: any text may say what is right for what it uses."""
        for root in roots or tuple(self._known):
            known = self._known.get(root)
            if known is not None and known.repairs is not None:
                known.repairs.cancel()
                known.repairs = None

    async def _analyse(self, root: str, wait: float) -> None:
        await asyncio.sleep(wait)
        try:
            known = await self._look(root, early=root in self._seen)
            self._complaint = ""
        except ConfigError as error:
            self._wrong(error)
            known = Known(Outcome(self._file(root)), {})
        finally:
            if self._pending.get(root) is asyncio.current_task():
                del self._pending[root]
        self._known[root] = known
        if any(self._documents.at(path) is not None and not self._is_current(known, path) for path in known.stamps):
            self._begin(root, WAIT_OF_OTHERS)  # something that it imports was edited meanwhile
        first = self._early.pop(root, None)
        self._told(root, first is None)
        source = self.source(root)
        if source is not None and not any(not problem.partial for problem in known.outcome.problems):
            whole = first if first is not None and first.about is None else None
            self._seen[root] = seen(self._seen.get(root), whole, known.outcome, source)

    async def _look(self, root: str, *, early: bool = False) -> Known:
        """Analyse without repairs. Raises ConfigError."""
        opened = {document.path: self._documents.stamp(document.path) for document in self._documents}
        configuration = self._configuration(root)

        def known(outcome: Outcome) -> Known:
            paths = (root, *outcome.imported)
            return Known(outcome, {path: opened.get(path) or self._documents.stamp(path) for path in paths})

        def heard(first: Outcome) -> None:
            source = self.source(root)
            if self._documents.stamp(root) == opened[root] and source is not None:
                is_new = root not in self._early
                self._early[root] = first
                self._known[root] = known(foreseen(self._seen[root], first, source))
                self._told(root, is_new)

        try:
            if root in opened and self._is_left_out(root, configuration):
                outcome = Outcome(self._file(root))
            else:
                task = self._task(root, configuration)
                task = task._replace(options=task.options._replace(fixes=False))
                outcome = await self._workers.run(look, task, early, about=root, heard=heard if early else None)
        except SourceError as error:
            outcome = Outcome(self._file(root), problems=(Problem(self._shown(root), error.message, error.line),))
        except WorkerDied as error:
            outcome = Outcome(self._file(root), problems=(Problem(self._shown(root), str(error)),))
        except ConfigError:
            raise
        # A text about which nothing can be said must not be waited for.
        except Exception as error:
            outcome = Outcome(self._file(root), problems=(Problem(self._shown(root), internal_error(error)),))
        return known(outcome)

    async def _repairs(self, root: str) -> Outcome | None:
        known = self._known.get(root)
        if known is None:
            return None
        if known.repairs is None:
            with self._settings() as configuration:
                task = self._task(root, configuration)
                task = task._replace(options=task.options._replace(alternatives=True))
                known.repairs = asyncio.ensure_future(self._workers.run(repair, task, about=root))
        if known.repairs is None:
            return None
        try:
            return await asyncio.shield(known.repairs)
        except WorkerDied:
            return None
        except asyncio.CancelledError:
            if known.repairs is None:
                return None  # the text has changed: what was asked for is not there any more
            raise

    def _task(self, path: str, configuration: Configuration) -> Task:
        """Raises ConfigError, and SourceError where the text of the file itself cannot be read."""
        changed: dict[str, Source] = {}
        for opened in self._documents:
            try:
                changed[opened.path] = opened.source(self._shown(opened.path))
            except SourceError:
                if opened.path == path:
                    raise
        settings, cwd = configuration.settings_for(os.path.dirname(path)), self._documents.root_of(path)
        known = Adoption(cwd, None, uses_baseline=True).filter_for(settings)
        return Task(self._file(path), settings.options_for(posix(path)), changed=changed, cwd=cwd, wanted=known)

    def _importers(self, path: str) -> list[str]:
        return [root for root, known in self._known.items() if root != path and path in known.outcome.imported]

    def _is_current(self, known: Known, path: str | None = None) -> bool:
        """Whether the text at a path, or all texts, are those that were analysed."""
        if path is not None:
            return known.stamps.get(path) == self._documents.stamp(path)
        return all(stamp == self._documents.stamp(at) for at, stamp in known.stamps.items())

    def _is_left_out(self, path: str, configuration: Configuration) -> bool:
        """Whether a walk of the workspace would not come here."""
        return self._documents.is_inside(path) and left_out(path, self._documents.root_of(path), configuration)

    def _configuration(self, path: str) -> Configuration:
        # Made anew each time: it only reads a file or two, and so it never is an old one.
        return Configuration(self._documents.root_of(path), Overrides())

    @contextlib.contextmanager
    def _settings(self) -> Iterator[Configuration]:
        """Settings for several files; what is wrong with them is said once, and ends the block."""
        try:
            yield Configuration(self._documents.root_of(None), Overrides())
        except ConfigError as error:
            self._wrong(error)

    def _wrong(self, error: ConfigError) -> None:
        if str(error) != self._complaint:
            self._complaint = str(error)
            self._complain(str(error))

    def _file(self, path: str) -> FoundFile:
        return FoundFile(path, self._shown(path))

    def _shown(self, path: str) -> str:
        return relative(path, self._documents.root_of(path))
