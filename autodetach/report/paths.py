"""Files as reports name them: relative to one folder, with slashes, wherever the report is read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from autodetach.disk.files import below
from autodetach.fingerprint import Mark, fingerprints, marked_text
from autodetach.report import Located
from autodetach.settings.config import posix


@dataclass(frozen=True, slots=True)
class Paths:
    """Names relative to the absolute path `folder`; `cwd` is where the names in problems start."""

    folder: str
    cwd: str

    @classmethod
    def of(cls, cwd: str, checkout: str) -> Paths:
        """Relative to the checkout if there is one and the current folder lies in it, else to the current folder."""
        checkout = os.path.abspath(checkout) if checkout else cwd
        inside = cwd == checkout or cwd.startswith(checkout.rstrip(os.sep) + os.sep)
        return cls(checkout if inside else cwd, cwd)

    def name(self, path: str) -> str:
        """An absolute path, relative to the folder if it lies below it."""
        return posix(below(path, self.folder))

    def name_of_shown(self, shown: str) -> str:
        """What problems call a file, which is relative to the current folder, as a name."""
        return self.name(self.absolute(shown))

    def absolute(self, shown: str) -> str:
        """The absolute path of what problems call a file."""
        return os.path.normpath(os.path.join(self.cwd, shown))

    def is_inside(self, path: str) -> bool:
        """Whether an absolute path lies below the folder."""
        return below(path, self.folder) != path

    def uri(self, path: str) -> str:
        """An absolute path as a reference relative to `folder_uri`, or as a file URI where it lies elsewhere."""
        if self.is_inside(path):
            return quote(os.fsencode(self.name(path)))
        return file_uri(path)

    @property
    def folder_uri(self) -> str:
        return file_uri(self.folder).rstrip("/") + "/"


def file_uri(path: str) -> str:
    """An absolute path as a URI."""
    quoted = quote(os.fsencode(posix(path)), safe="/:" if os.sep != "/" else "/")
    return f"file://{quoted}" if quoted.startswith("/") else f"file:///{quoted}"


def fingerprints_of(findings: Sequence[Located], paths: Paths) -> list[str]:
    """A fingerprint for each finding, as the report names its file."""
    marks = [
        Mark(paths.name(located.path), located.finding.code, marked_text(located.source, located.finding.span))
        for located in findings
    ]
    return fingerprints(marks)
