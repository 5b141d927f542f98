"""What is open in the editor: files and notebooks, as the programs that they are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from lsprotocol import types
from pygls import uris

from autodetach.lsp.text import Text
from autodetach.notebooks.cells import Cells
from autodetach.source import Source

Stamp = tuple[object, ...]


class Document:
    """An open file of Python."""

    def __init__(self, item: types.TextDocumentItem, path: str, encoding: str) -> None:
        self.uri = item.uri
        self.path = path
        self.text = Text(item.text, encoding)
        self.version: int | None = item.version
        self.revision = 0
        self._source: Source | None = None

    @property
    def uris(self) -> tuple[str, ...]:
        """All that the editor shows of it."""
        return (self.uri,)

    def change(self, changes: Iterable[types.TextDocumentContentChangeEvent], version: int | None) -> None:
        self.text = self.text.changed(changes)
        self.version = version
        self.revision += 1
        self._source = None

    def source(self, shown: str) -> Source:
        """The text as the file that it would be. Raises SourceError."""
        if self._source is None:
            self._source = Source.from_text(self.text.text, shown)
        return self._source

    def uri_of(self, index: int) -> str:
        """The URI of a part, by its index as in `Place` and `Part`."""
        return self.uri

    def version_of(self, uri: str) -> int | None:
        return self.version

    def text_of(self, uri: str) -> str:
        return self.text.text


class Notebook:
    """An open notebook: its code cells of Python, in order, are one program."""

    def __init__(self, notebook: types.NotebookDocument, path: str, encoding: str) -> None:
        self.uri = notebook.uri
        self.path = path
        self.revision = 0
        self._encoding = encoding
        self._cells = list(notebook.cells)
        self._texts: dict[str, Text] = {}
        self._versions: dict[str, int] = {}
        self._source: Source | None = None

    @property
    def uris(self) -> tuple[str, ...]:
        """All that the editor shows of it."""
        return tuple(cell.document for cell in self._cells if cell.document in self._texts)

    def put(self, items: Iterable[types.TextDocumentItem]) -> None:
        """Take the texts of cells that were opened."""
        for item in items:
            if item.language_id == "python":
                self._texts[item.uri] = Text(item.text, self._encoding)
                self._versions[item.uri] = item.version
        self._touch()

    def drop(self, closed: Iterable[types.TextDocumentIdentifier]) -> None:
        """Forget the texts of cells that were closed."""
        for item in closed:
            self._texts.pop(item.uri, None)
            self._versions.pop(item.uri, None)
        self._touch()

    def splice(self, change: types.NotebookCellArrayChange) -> None:
        """Other cells in the place of some."""
        self._cells[change.start : change.start + change.delete_count] = change.cells or ()
        self._touch()

    def change_cell(self, uri: str, changes: Iterable[types.TextDocumentContentChangeEvent], version: int) -> None:
        """The text of a cell has changed."""
        if uri in self._texts:
            self._texts[uri] = self._texts[uri].changed(changes)
            self._versions[uri] = version
            self._touch()

    def source(self, shown: str) -> Source:
        """The program that the cells are. Raises SourceError."""
        if self._source is None:
            places = [n for n, cell in enumerate(self._cells) if cell.document in self._texts]
            texts = [self._texts[self._cells[n].document].text for n in places]
            self._source = Cells.of(texts, shown, [n + 1 for n in places])
        return self._source

    def uri_of_cell(self, number: int) -> str:
        """The URI of a cell by its number as in `CellError`."""
        return self._cells[number - 1].document

    def uri_of(self, index: int) -> str:
        """The URI of a cell, by its index among the code cells."""
        return self.uris[index]

    def version_of(self, uri: str) -> int | None:
        return self._versions.get(uri)

    def text_of(self, uri: str) -> str | None:
        text = self._texts.get(uri)
        return None if text is None else text.text

    def _touch(self) -> None:
        self.revision += 1
        self._source = None


class Documents:
    """All that is open, and the workspace folders around it."""

    def __init__(self) -> None:
        self.encoding = "utf-16"
        self.folders: dict[str, str] = {}
        self._by_path: dict[str, Document | Notebook] = {}
        self._by_uri: dict[str, Document | Notebook] = {}

    def __iter__(self) -> Iterator[Document | Notebook]:
        return iter(tuple(self._by_path.values()))

    def open(self, item: types.TextDocumentItem) -> Document | None:
        """Take a file that was opened; None if it is no Python."""
        path = self.path_of(item.uri)
        if item.language_id != "python" and not path.endswith(".py"):
            return None
        document = Document(item, path, self.encoding)
        self._add(document)
        return document

    def open_notebook(self, notebook: types.NotebookDocument, cells: Sequence[types.TextDocumentItem]) -> Notebook:
        opened = Notebook(notebook, self.path_of(notebook.uri), self.encoding)
        opened.put(cells)
        self._add(opened)
        return opened

    def close(self, uri: str) -> Document | Notebook | None:
        closed = self._by_uri.get(uri)
        if closed is not None:
            self._by_uri = {uri: one for uri, one in self._by_uri.items() if one is not closed}
            if self._by_path.get(closed.path) is closed:
                del self._by_path[closed.path]
        return closed

    def refresh(self, notebook: Notebook) -> None:
        """Know the cells of a notebook as they are now."""
        self._by_uri = {uri: one for uri, one in self._by_uri.items() if one is not notebook}
        self._by_uri.update(dict.fromkeys((notebook.uri, *notebook.uris), notebook))

    def get(self, uri: str) -> Document | Notebook | None:
        """What is open under a URI, that of a cell included."""
        return self._by_uri.get(uri)

    def at(self, path: str) -> Document | Notebook | None:
        """What is open at a path."""
        return self._by_path.get(path)

    def uri_at(self, path: str) -> str:
        """The URI of a file as the editor spells it."""
        opened = self._by_path.get(path)
        return opened.uri if opened is not None else uris.from_fs_path(path) or path

    def path_of(self, uri: str) -> str:
        """The absolute path of a URI; what has not been saved yet lies in the first folder."""
        path = uris.to_fs_path(uri) if uri.startswith("file:") else None
        if path:
            return os.path.abspath(path)
        name = uri.rpartition(":")[2].replace("/", "_") or "untitled"
        return os.path.join(self.root_of(None), name)

    def root_of(self, path: str | None) -> str:
        """The innermost workspace folder around a path; without one, the first, or the current folder."""
        around = [at for at in self.folders.values() if path is not None and is_below(path, at)]
        return max(around, key=len, default=next(iter(self.folders.values()), os.getcwd()))

    def is_inside(self, path: str) -> bool:
        """Whether a path lies in a workspace folder."""
        return any(is_below(path, at) for at in self.folders.values())

    def stamp(self, path: str) -> Stamp:
        """Something that changes whenever the text at a path does."""
        opened = self._by_path.get(path)
        if opened is not None:
            return (id(opened), opened.revision)
        try:
            status = os.stat(path)
        except OSError:
            return ()
        return (status.st_mtime_ns, status.st_size)

    def _add(self, opened: Document | Notebook) -> None:
        self._by_path[opened.path] = opened
        self._by_uri.update(dict.fromkeys((opened.uri, *opened.uris), opened))


def is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
