"""Programs under observation inside this process: quick, and all that was seen can be asked."""

from __future__ import annotations

import sys
import textwrap
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import torch

from autodetach.doctor.diagnosis import Diagnosis, Kind
from autodetach.doctor.frames import Territory
from autodetach.doctor.observer import Observer, Options

PRELUDE = "import torch\nfrom torch import nn\ntorch.manual_seed(0)\n"


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of a program: its diagnoses, the error that ended it, its variables, and the lines with each mark."""

    diagnoses: tuple[Diagnosis, ...]
    error: Exception | None
    variables: dict[str, object]
    marks: dict[str, list[int]]
    observer: Observer

    def only(self, kind: Kind) -> Diagnosis:
        """The one diagnosis."""
        assert [each.kind for each in self.diagnoses] == [kind], self.diagnoses
        return self.diagnoses[0]

    def name(self) -> str:
        """What the one diagnosis accuses."""
        assert len(self.diagnoses) == 1, self.diagnoses
        binding = self.diagnoses[0].binding
        return binding.path if binding is not None else ""


def source_of(text: str) -> str:
    """A program from the text of a test."""
    return PRELUDE + textwrap.dedent(text)


def watch(text: str, folder: Path, *, trace: bool = False) -> Seen:
    """Run a program under an observer. A line that ends in `# word` is marked with that word."""
    source = source_of(text)
    path = folder / "program.py"
    path.write_text(source)
    heard: list[Diagnosis] = []
    territory = Territory()
    territory.add(str(path))
    observer = Observer(Options(trace=trace), territory, heard.append)
    # Looks that are left out since this machine is busy would be another test.
    observer.budget._share = None
    module = ModuleType("watched")
    module.__file__ = str(path)
    error: Exception | None = None
    sys.modules["watched"] = module  # classes find their module there
    observer.attach(torch)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns of parts of its own
            exec(compile(source, str(path), "exec"), vars(module))
    except Exception as raised:
        error = raised
    heard += observer.results()
    observer.detach()
    del sys.modules["watched"]
    assert observer.blind == [] or "torch.compile" in source, observer.blind
    marks: dict[str, list[int]] = {}
    for number, line in enumerate(source.splitlines(), 1):
        word = line.rpartition("# ")[2]
        if "# " in line and word.isalpha():
            marks.setdefault(word, []).append(number)
    return Seen(tuple(heard), error, vars(module), marks, observer)


def lines(diagnosis: Diagnosis) -> list[int]:
    """The lines of the story, in its order."""
    return [step.site.line for step in diagnosis.story if step.site is not None]
