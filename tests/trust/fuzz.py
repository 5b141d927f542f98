"""One target for a while: `python -m tests.trust.fuzz TARGET --seed N --seconds S [--corpus FOLDER]`.

What breaks a promise is kept in the folder `--found`, one file for each place in the code, and the run goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, NoReturn

TARGETS = ("sources", "notebooks", "settings", "baselines", "caches", "logs", "patches", "texts", "messages")
PATIENCE = 100
"""Seconds for one input."""


class Hanging(BaseException):
    """An input has taken too long; no `except Exception` stops it."""


def _too_long(number: int, frame: FrameType | None) -> NoReturn:
    raise Hanging(f"more than {PATIENCE} s")


class Hunt:
    """Tries inputs on a target, counts them, and keeps those that break a promise."""

    def __init__(self, name: str, seconds: float, found: Path) -> None:
        self._name = name
        self._one: Callable[[bytes], None] = import_module(f".targets.{name}", __package__).one
        self._found = found
        self._begun = time.monotonic()
        self._end = self._begun + seconds
        self.inputs = 0
        self.slowest = 0.0
        self.broken: dict[str, Path] = {}

    def try_one(self, raw: bytes) -> None:
        """Try one input; at the end of the time, end the process."""
        if time.monotonic() > self._end:
            self.leave()
        self.inputs += 1
        begun = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        try:
            self._one(raw)
        except (Exception, Hanging, AssertionError) as error:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self._keep(raw, error)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        self.slowest = max(self.slowest, time.monotonic() - begun)

    def _keep(self, raw: bytes, error: BaseException) -> None:
        frames = traceback.extract_tb(error.__traceback__)
        inner = [frame for frame in frames if "autodetach" in frame.filename] or frames
        place = f"{type(error).__name__} at {os.path.basename(inner[-1].filename)}:{inner[-1].lineno}"
        if isinstance(error, AssertionError):
            place += f" {str(error)[:40]}"
        known = self.broken.get(place)
        if known is not None and known.stat().st_size <= len(raw):
            return
        self._found.mkdir(parents=True, exist_ok=True)
        file = self._found / f"{self._name}-{hashlib.sha1(place.encode()).hexdigest()[:8]}"
        file.write_bytes(raw)
        if known is None:
            print(f"BROKEN {place}\n   {file}\n   {' '.join(str(error).split())[:300]}", flush=True)
        self.broken[place] = file

    def leave(self) -> NoReturn:
        """Print the figures, and end."""
        seconds = time.monotonic() - self._begun
        print(
            f"{self._name}: {self.inputs} inputs in {seconds:.0f} s, the slowest {self.slowest:.1f} s, "
            f"{len(self.broken)} broken promises",
            flush=True,
        )
        from .command import folder

        shutil.rmtree(folder(), ignore_errors=True)
        os._exit(int(bool(self.broken)))


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Hunt until the time is over. The process ends with 1 if a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.trust.fuzz", description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--corpus", type=Path, help="inputs to begin with, and where to keep those that reach more")
    parser.add_argument("--found", type=Path, default=Path(tempfile.gettempdir()) / "autodetach-fuzz")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGALRM, _too_long)
    atheris = _atheris()
    if atheris is not None:
        # Never left: most modules are loaded when they are needed.
        atheris.instrument_imports(
            include=["autodetach"], exclude=["autodetach.machine"], enable_loader_override=False
        ).__enter__()
    hunt = Hunt(options.target, options.seconds, options.found)
    target = import_module(f".targets.{options.target}", __package__)
    seeds, words = tuple(target.SEEDS), tuple(target.WORDS)
    # What is needed is loaded, and instrumented, before anything is timed.
    target.one(seeds[0])
    if atheris is None:
        print("no atheris here: inputs are changed at random, and nothing leads them", flush=True)
        _at_random(hunt, seeds, words, options.seed)
    _led(atheris, hunt, seeds, words, options)


def _atheris() -> Any:
    """The package, None where it is not installed: it has wheels for some Pythons only."""
    try:
        return import_module("atheris")
    except ImportError:
        return None


def _at_random(hunt: Hunt, seeds: Sequence[bytes], words: Sequence[bytes], seed: int) -> NoReturn:
    from .mutations import mutated

    random = Random(seed)
    for raw in seeds:
        hunt.try_one(raw)
    while True:
        hunt.try_one(mutated(random.choice(seeds), random, seeds, words))


def _led(atheris: Any, hunt: Hunt, seeds: Sequence[bytes], words: Sequence[bytes], options: Any) -> NoReturn:
    from .mutations import mutated

    corpus = options.corpus or Path(tempfile.mkdtemp(prefix="autodetach-corpus-"))
    corpus.mkdir(parents=True, exist_ok=True)
    for raw in seeds:
        (corpus / hashlib.sha1(raw).hexdigest()).write_bytes(raw)

    def mutator(raw: bytes, most: int, seed: int) -> bytes:
        random = Random(seed)
        if random.random() < 0.2:
            return bytes(atheris.Mutate(raw, most))
        return mutated(raw, random, seeds, words, most)

    flags = [f"-seed={options.seed}", "-rss_limit_mb=4096", "-timeout=600", "-verbosity=0", "-max_len=20000"]
    atheris.Setup(["tests.trust.fuzz", *flags, str(corpus)], hunt.try_one, custom_mutator=mutator)
    atheris.Fuzz()
    hunt.leave()


if __name__ == "__main__":
    main()
