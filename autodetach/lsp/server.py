"""One editor's server: what it knows, and what it can tell."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

from autodetach import __version__
from autodetach.lsp.actions import Actions
from autodetach.lsp.board import Board
from autodetach.lsp.desk import Desk
from autodetach.lsp.documents import Documents
from autodetach.lsp.pages import link_to, page_of
from autodetach.lsp.places import Places, overlap
from autodetach.lsp.protocol import Protocol
from autodetach.lsp.workers import Workers
from autodetach.report import Located

WATCHED = ("**/*.py", "**/pyproject.toml", "**/.gitignore")
MAX_PROCESSES = 4


class Server(LanguageServer):
    """One editor's server, with all that it knows."""

    def __init__(self) -> None:
        cells = types.NotebookDocumentFilterWithCells(cells=[types.NotebookCellLanguage("python")])
        super().__init__(
            "autodetach",
            __version__,
            notebook_document_sync=types.NotebookDocumentSyncOptions([cells]),
            protocol_cls=Protocol,
        )
        self.documents = Documents()
        self.workers = Workers(max(2, min(MAX_PROCESSES, os.cpu_count() or 1)))
        self.desk = Desk(self.documents, self.workers, self._told, self._complain)
        self.places = Places(self.documents)
        self.board = Board(self.documents, self.desk, self.places, story=True)
        self.pulls = False
        self._published: dict[str, list[types.Diagnostic]] = {}

    def begin(self, params: types.InitializeParams) -> None:
        """Take what the editor says about itself."""
        documents, can = self.documents, params.capabilities.text_document
        documents.encoding = str(getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding))
        for folder in params.workspace_folders or ():
            documents.folders[folder.uri] = documents.path_of(folder.uri)
        if not documents.folders and params.root_uri:
            documents.folders[params.root_uri] = documents.path_of(params.root_uri)
        elif not documents.folders and params.root_path:
            documents.folders[uris.from_fs_path(params.root_path) or ""] = params.root_path
        self.pulls = can is not None and can.diagnostic is not None
        shows = can is None or can.publish_diagnostics is None or bool(can.publish_diagnostics.related_information)
        story = shows or bool(can and can.diagnostic and can.diagnostic.related_information)
        self.board = Board(documents, self.desk, self.places, story=story)
        self.workers.warm_up()

    def watch(self) -> None:
        """Ask to be told of changes on disk."""
        can = self.client_capabilities.workspace
        if can is not None and can.did_change_watched_files and can.did_change_watched_files.dynamic_registration:
            baselines = (f"**/{os.path.basename(path)}" for path in sorted(self.desk.baselines()))
            watchers = [types.FileSystemWatcher(glob) for glob in (*WATCHED, *baselines)]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            registration = types.Registration("watched-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            self.client_register_capability(types.RegistrationParams([registration]))

    def end(self) -> None:
        """Stop all work."""
        self.desk.close()
        self.workers.close()

    def publish(self, path: str | None = None) -> None:
        """Send the diagnostics that have changed, and those at `path` in any case, since they are of a new version."""
        shown = self.board.diagnostics()
        for uri in (*self._published, *(uri for uri in shown if uri not in self._published)):
            opened = self.documents.get(uri)
            if opened is not None and self.desk.is_pending(opened.path):
                continue
            diagnostics = shown.get(uri, [])
            is_new = opened is not None and opened.path == path
            if is_new or diagnostics != self._published.get(uri, []):
                version = None if opened is None else opened.version_of(uri)
                self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics, version))
        self._published = {
            uri: self._published.get(uri, []) if self._is_pending(uri) else shown.get(uri, [])
            for uri in {*self._published, *shown}
            if uri in shown or self._is_pending(uri)
        }

    def refresh(self) -> None:
        """Have the editor ask again, or tell it."""
        if not self.pulls:
            self.publish()
            return
        can = self.client_capabilities.workspace
        if can is not None and can.diagnostics is not None and can.diagnostics.refresh_support:
            self.workspace_diagnostic_refresh(None)

    async def pulled(self, uri: str) -> list[types.Diagnostic]:
        """The diagnostics of what is open under a URI, once it has been looked at."""
        opened = self.documents.get(uri)
        if opened is None:
            return []
        await self.desk.settled(opened.path)
        return self.board.diagnostics().get(uri, [])

    async def scan(self, token: types.ProgressToken | None) -> list[str]:
        """Look at all files of the workspace, and say how far it is."""
        progress = self.work_done_progress
        if token is not None:
            begin = types.WorkDoneProgressBegin("autodetach: checking the workspace", cancellable=True, percentage=0)
            progress.begin(token, begin)
        done = 0

        async def each(number: int, count: int, path: str) -> None:
            nonlocal done
            done += 1
            if token is not None:
                if progress.tokens[token].cancelled():
                    raise asyncio.CancelledError
                shown = f"{done}/{count} {os.path.basename(path)}"
                progress.report(
                    token, types.WorkDoneProgressReport(cancellable=True, message=shown, percentage=100 * done // count)
                )

        try:
            return await self.desk.scan(each)
        finally:
            if token is not None:
                progress.end(token, types.WorkDoneProgressEnd())
                progress.tokens.pop(token, None)

    def actions(self) -> Actions:
        can = self.client_capabilities.workspace
        versioned = bool(can and can.workspace_edit and can.workspace_edit.document_changes)
        return Actions(self.documents, self.places, self.desk.may_edit, versioned)

    def resolves(self) -> bool:
        """Whether the editor asks for the edit of a code action when it is chosen."""
        can = self.client_capabilities.text_document
        support = can.code_action.resolve_support if can is not None and can.code_action is not None else None
        return support is not None and "edit" in support.properties

    async def fix_all(self, uri: str) -> types.CodeAction | None:
        """The action that does all that `autodetach fix` would do."""
        opened = self.documents.get(uri)
        if opened is None:
            return None
        fixed = await self.desk.fixed(opened.path)
        return None if fixed is None else self.actions().fix_all(fixed[0], unsafe=fixed[1])

    def at(self, uri: str, where: types.Range, found: Sequence[Located]) -> list[Located]:
        """Those of the findings that touch a range."""
        places = ((located, self.board.place(located)) for located in found)
        return [located for located, place in places if place.uri == uri and overlap(place.range, where)]

    def show(self, code: str) -> None:
        """Show the page of a rule."""
        page, link = page_of(code), link_to(code)
        window = self.client_capabilities.window
        if page is None:
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"there is no rule {code}"))
        elif link is not None and window is not None and window.show_document and window.show_document.support:
            self.window_show_document(types.ShowDocumentParams(link, take_focus=True))
        else:
            self.window_show_message(types.ShowMessageParams(types.MessageType.Info, page))

    def _told(self, root: str, is_new: bool) -> None:
        if not self.pulls:
            self.publish(root if is_new else None)
        elif self.desk.has_elsewhere(root):
            self.refresh()

    def _is_pending(self, uri: str) -> bool:
        opened = self.documents.get(uri)
        return opened is not None and self.desk.is_pending(opened.path)

    def _complain(self, message: str) -> None:
        self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"autodetach: {message}"))
