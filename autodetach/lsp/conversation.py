"""The conversation with an editor: what it tells, asks and orders, and who answers."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Sequence
from typing import Any

from lsprotocol import types

from autodetach.lsp.actions import FIX_ALL, SHOW_RULE
from autodetach.lsp.board import result_id
from autodetach.lsp.documents import Notebook
from autodetach.lsp.hover import hover_text
from autodetach.lsp.server import Server

FIX_ALL_COMMAND = "autodetach.fixAll"
CHECK_WORKSPACE = "autodetach.checkWorkspace"
SHOW_TEXT = "autodetach.text"


def make_server() -> Server:
    """A server that knows how to answer."""
    server = Server()
    _add_sync(server)
    _add_questions(server)
    _add_commands(server)
    return server


def _add_sync(server: Server) -> None:
    documents, desk = server.documents, server.desk

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.begin(params)

    @server.feature(types.INITIALIZED)
    def initialized(_: types.InitializedParams) -> None:
        server.watch()

    @server.feature(types.SHUTDOWN)
    def shutdown(_: None) -> None:
        server.end()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        opened = documents.open(params.text_document)
        if opened is not None:
            desk.edited(opened.path, opened=True)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        opened = documents.get(params.text_document.uri)
        if opened is not None and not isinstance(opened, Notebook):
            opened.change(params.content_changes, params.text_document.version)
            desk.edited(opened.path)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        _close(params.text_document.uri)

    def _close(uri: str) -> None:
        closed = documents.close(uri)
        if closed is not None:
            desk.closed(closed.path)
            if not server.pulls:
                server.publish()

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def notebook_did_open(params: types.DidOpenNotebookDocumentParams) -> None:
        opened = documents.open_notebook(params.notebook_document, params.cell_text_documents)
        desk.edited(opened.path, opened=True)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def notebook_did_change(params: types.DidChangeNotebookDocumentParams) -> None:
        opened = documents.get(params.notebook_document.uri)
        cells = params.change.cells
        if not isinstance(opened, Notebook) or cells is None:
            return
        if cells.structure is not None:
            opened.splice(cells.structure.array)
            opened.put(cells.structure.did_open or ())
            opened.drop(cells.structure.did_close or ())
            documents.refresh(opened)
        for change in cells.text_content or ():
            opened.change_cell(change.document.uri, change.changes, change.document.version)
        desk.edited(opened.path)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def notebook_did_close(params: types.DidCloseNotebookDocumentParams) -> None:
        _close(params.notebook_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(params: types.DidChangeWatchedFilesParams) -> None:
        paths = [documents.path_of(event.uri) for event in params.changes]
        other = any(event.type != types.FileChangeType.Changed for event in params.changes)
        if desk.changed_on_disk(paths, everything=other or not all(path.endswith(".py") for path in paths)):
            server.refresh()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def did_change_workspace_folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.removed:
            documents.folders.pop(folder.uri, None)
        for folder in params.event.added:
            documents.folders[folder.uri] = documents.path_of(folder.uri)
        desk.changed_on_disk((), everything=True)
        server.refresh()


def _add_questions(server: Server) -> None:
    documents, desk = server.documents, server.desk

    options = types.DiagnosticOptions(
        inter_file_dependencies=True, workspace_diagnostics=True, identifier="autodetach", work_done_progress=True
    )

    @server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)
    async def diagnostic(params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        items = await server.pulled(params.text_document.uri)
        name = result_id(items)
        if name == params.previous_result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(name)
        return types.RelatedFullDocumentDiagnosticReport(items, result_id=name)

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def workspace_diagnostic(params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
        paths = await server.scan(params.work_done_token)
        shown = server.board.diagnostics()
        before = {one.uri: one.value for one in params.previous_result_ids}
        wanted = {documents.uri_at(path) for path in paths} | set(shown) | set(before)
        reports: list[types.WorkspaceDocumentDiagnosticReport] = []
        for uri in sorted(wanted):
            items, opened = shown.get(uri, []), documents.get(uri)
            version = None if opened is None else opened.version_of(uri)
            name = result_id(items)
            if before.get(uri) == name:
                reports.append(types.WorkspaceUnchangedDocumentDiagnosticReport(uri, name, version=version))
            else:
                reports.append(types.WorkspaceFullDocumentDiagnosticReport(uri, items, version=version, result_id=name))
        return types.WorkspaceDiagnosticReport(reports)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        uri, at = params.text_document.uri, params.position
        opened = documents.get(uri)
        if opened is None:
            return None
        await desk.settled(opened.path)
        found = server.at(uri, types.Range(at, at), desk.findings().get(opened.path, ()))
        if not found:
            return None
        text = types.MarkupContent(types.MarkupKind.Markdown, hover_text(found, server.places))
        return types.Hover(text, server.board.place(found[0]).range)

    kinds = types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL], resolve_provider=True)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, kinds)
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri, only = params.text_document.uri, params.context.only
        opened = documents.get(uri)
        if opened is None:
            return []
        await desk.settled(opened.path)
        found = desk.findings().get(opened.path, [])
        actions: list[types.CodeAction] = []
        if _is_wanted(types.CodeActionKind.QuickFix, only) and server.at(uri, params.range, found):
            maker = server.actions()
            for located in server.at(uri, params.range, await desk.repaired(opened.path)):
                actions += maker.of_finding(located, _shown(server.board.diagnostic(located), params.context))
        if found and _is_wanted(FIX_ALL, only):
            actions += [action] if (action := await _fix_all(uri, asked=only is not None)) is not None else []
        return actions

    async def _fix_all(uri: str, *, asked: bool) -> types.CodeAction | None:
        if asked:
            return await server.fix_all(uri)
        title = "autodetach: fix all that is safe"
        if server.resolves():
            return types.CodeAction(title, kind=FIX_ALL, data={"uri": uri})
        return types.CodeAction(title, kind=FIX_ALL, command=types.Command(title, FIX_ALL_COMMAND, arguments=[uri]))

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(action: types.CodeAction) -> types.CodeAction:
        if action.edit is None and isinstance(action.data, dict) and "uri" in action.data:
            resolved = await server.fix_all(action.data["uri"])
            action.edit = types.WorkspaceEdit() if resolved is None else resolved.edit
        return action


def _add_commands(server: Server) -> None:
    @server.command(SHOW_RULE)
    def show_rule(code: str) -> None:
        server.show(code)

    @server.command(FIX_ALL_COMMAND)
    async def fix_all(uri: str) -> None:
        action = await server.fix_all(uri)
        if action is not None and action.edit is not None:
            await server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(action.edit, action.title))

    @server.command(CHECK_WORKSPACE)
    async def check_workspace() -> None:
        window = server.client_capabilities.window
        token = None
        if window is not None and window.work_done_progress:
            token = str(uuid.uuid4())
            await server.work_done_progress.create_async(token)
        with contextlib.suppress(asyncio.CancelledError):
            await server.scan(token)
        server.refresh()

    @server.command(SHOW_TEXT)
    def text(uri: str) -> str | None:
        """What the server takes the text to be, for tests and reports of faults."""
        opened = server.documents.get(uri)
        return None if opened is None else opened.text_of(uri)


def _is_wanted(kind: str, only: Sequence[str] | None) -> bool:
    """Whether a kind of actions is among those asked for, or below one."""
    return only is None or any(kind == one or kind.startswith(f"{one}.") for one in map(_value, only))


def _value(kind: Any) -> str:
    return str(getattr(kind, "value", kind))


def _shown(diagnostic: types.Diagnostic, context: types.CodeActionContext) -> types.Diagnostic:
    """The diagnostic as the editor has it, if it has it."""
    same = (one for one in context.diagnostics if one.code == diagnostic.code and one.range == diagnostic.range)
    return next(same, diagnostic)
