"""What can be done about findings: their repairs, a comment that silences them, the page of their rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lsprotocol import types

from autodetach.checks import Change
from autodetach.comments.add_ignore import NotSilenced, ignoring
from autodetach.finding import Applicability, Fix
from autodetach.lsp.documents import Documents
from autodetach.lsp.places import Places
from autodetach.report import Located
from autodetach.source import Edit, Source

FIX_ALL = "source.fixAll.autodetach"
SHOW_RULE = "autodetach.showRule"

ByFile = Mapping[str, tuple[Source, tuple[Edit, ...]]]


@dataclass(frozen=True, slots=True)
class Actions:
    """Makes code actions; `versioned`: the editor takes edits that say for which version they are."""

    documents: Documents
    places: Places
    may_edit: Callable[[str], bool]
    versioned: bool

    def of_finding(self, located: Located, diagnostic: types.Diagnostic) -> list[types.CodeAction]:
        """The repairs of a finding, the one to be preferred first; then what else can be done about it."""
        finding = located.finding
        fixes = (*((finding.fix,) if finding.fix is not None else ()), *finding.alternatives)
        actions = []
        for number, fix in enumerate(fixes):
            edit = self._workspace_edit(self._by_file(located, fix))
            if edit is not None:
                actions.append(
                    types.CodeAction(
                        self._title(located, fix),
                        kind=types.CodeActionKind.QuickFix,
                        diagnostics=[diagnostic],
                        # Editors apply what is preferred without showing it.
                        is_preferred=True if not number and fix.applicability is Applicability.SAFE else None,
                        edit=edit,
                    )
                )
        return [*actions, *self._others(located, diagnostic)]

    def fix_all(self, change: Change, *, unsafe: bool) -> types.CodeAction:
        """All that `autodetach fix` would do to a file at once."""
        return types.CodeAction(
            f"autodetach: fix all ({'unsafe ones too, as the settings say' if unsafe else 'safe ones'})",
            kind=FIX_ALL,
            edit=self._workspace_edit({change.path: (change.original, change.edits)}),
        )

    def _others(self, located: Located, diagnostic: types.Diagnostic) -> list[types.CodeAction]:
        finding = located.finding
        actions = []
        try:
            edits = ignoring(located.source, [finding])
        except NotSilenced:
            edits = ()
        edit = self._workspace_edit({located.path: (located.source, edits)})
        # A comment on a comment that nobody needs is no help: that finding has a fix.
        if edits and edit is not None and finding.code != "AD901":
            actions.append(
                types.CodeAction(
                    f"{finding.code}: ignore on this line",
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[diagnostic],
                    edit=edit,
                )
            )
        title = f"{finding.code}: show the page of {finding.name}"
        command = types.Command(title, SHOW_RULE, arguments=[finding.code])
        actions.append(
            types.CodeAction(title, kind=types.CodeActionKind.QuickFix, diagnostics=[diagnostic], command=command)
        )
        return actions

    def _title(self, located: Located, fix: Fix) -> str:
        title = f"{located.finding.code}: {fix.message}"
        if fix.applicability is Applicability.UNSAFE:
            title += f" (unsafe: {fix.why_unsafe})" if fix.why_unsafe else " (unsafe)"
        others = sorted({located.source_of(path).path for path, _ in fix.elsewhere})
        return f"{title} (edits {', '.join(others)})" if others else title

    def _by_file(self, located: Located, fix: Fix) -> ByFile:
        found = {located.path_of(path): (located.source_of(path), edits) for path, edits in fix.elsewhere}
        if fix.edits:
            found[located.path] = (located.source, fix.edits)
        return found

    def _workspace_edit(self, by_file: ByFile) -> types.WorkspaceEdit | None:
        """The edits, all or none: None where a file may not be edited, or the edits cannot be said in its terms."""
        changes: dict[str, Sequence[types.TextEdit]] = {}
        versions: dict[str, int | None] = {}
        for path, (source, edits) in by_file.items():
            if not self.may_edit(path):
                return None
            try:
                found = self.places.edits(path, source, edits)
            except (ValueError, IndexError):
                return None
            opened = self.documents.at(path)
            changes.update(found)
            versions.update((uri, None if opened is None else opened.version_of(uri)) for uri in found)
        if not changes:
            return None
        if not self.versioned:
            return types.WorkspaceEdit(changes=changes)
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, versions[uri]), edits)
                for uri, edits in changes.items()
            ]
        )
