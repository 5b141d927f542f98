"""Valid programs by the thousand: `python -m tests.trust.programs --programs 1000 --seed 1 [--grammar]`.

Programs that train something (`tests/generated`) are repaired as they are, and laid out in other ways: with tabs, other
line ends, comments, blank lines, a byte order mark, a longer encoding. What is promised of every file has to hold, and
the repair of the other layout has to be the same program. With `--grammar`, hypothesmith (`pip install hypothesmith`)
adds programs of the whole grammar, which train nothing and may hold anything.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from .promises import kept, parsed

PLACE = "/nowhere/generated.py"
BEGINNING = "import torch\nloss.backward()\n"
COMMENTS = ("  # why", "  # é: 'x' \"y\" (", "\t#")


def written(random: Random) -> str:
    """A program that trains something, from the neighbouring package, however that is called here."""
    around = (__package__ or "").rpartition(".")[0]
    write: Callable[[Random], str] = importlib.import_module(f"{around}.generated.grammar".lstrip(".")).write
    return write(random)


def laid_out(program: str, random: Random) -> bytes:
    """The same program as other people write it."""
    plain = _lines_for_themselves(program)
    lines = []
    for number, line in enumerate(program.splitlines(), start=1):
        if number in plain:
            if random.random() < 0.2:
                lines.append(
                    random.choice(("", "   ", "# between", line[: len(line) - len(line.lstrip())] + "# above"))
                )
            if line.strip() and random.random() < 0.2:
                line += random.choice(COMMENTS)
        lines.append(line)
    text = "\n".join(lines) + random.choice(("", "\n", "\n\n"))
    has_others = any(number not in plain for number in range(1, program.count("\n") + 1))
    if random.random() < 0.3 and not has_others:
        text = "\n".join(_tabbed(line) for line in text.split("\n"))
    newline = random.choice(("\n", "\n", "\r\n", "\r"))
    text = text.replace("\n", newline)
    if random.random() < 0.2:
        return f"# coding: latin-1{newline}{text}".encode("latin-1")
    return text.encode("utf-8-sig" if random.random() < 0.2 else "utf-8")


def _lines_for_themselves(program: str) -> set[int]:
    """Lines that begin a statement and end one, or a header: a comment may stand behind them."""
    tree = ast.parse(program)
    inner = {
        line
        for node in ast.walk(tree)
        if isinstance(node, (ast.stmt, ast.expr)) and node.end_lineno is not None
        for line in range(node.lineno, node.end_lineno)
        if not isinstance(node, ast.stmt) or not hasattr(node, "body")
    }
    over = {line + 1 for line in inner}
    return set(range(1, len(program.splitlines()) + 1)) - inner - over


def _tabbed(line: str) -> str:
    body = line.lstrip(" ")
    depth, rest = divmod(len(line) - len(body), 4)
    return "\t" * depth + " " * rest + body


def repaired(raw: bytes) -> tuple[bytes, list[str]]:
    """The program after all repairs, and what is wrong."""
    verdict = kept(PLACE, raw)
    source = verdict.fixed.source
    return (source.raw if source is not None and verdict.fixed.edits else raw), verdict.wrong


def look(seed: str) -> list[str]:
    """What is wrong with the repair of one program, and of another layout of it."""
    random = Random(seed)
    program = written(random)
    plain, wrong = repaired(program.encode())
    other = laid_out(program, random)
    laid, more = repaired(other)
    wrong += [f"laid out otherwise: {text}" for text in more]
    if ast.dump(parsed(laid)) != ast.dump(parsed(plain)):
        wrong.append("the repair of another layout is another program")
    return wrong


def from_grammar(count: int, seed: int) -> list[str]:
    """What is wrong with so many programs of the whole grammar."""
    import hypothesis
    from hypothesis import HealthCheck, Phase, given, settings

    hypothesmith = importlib.import_module("hypothesmith")
    wrong: list[str] = []

    @hypothesis.seed(seed)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(hypothesmith.from_node() | hypothesmith.from_grammar())
    def every(program: str) -> None:
        raw = f"{BEGINNING}{program}".encode("utf-8", "surrogatepass")
        found = kept(PLACE, raw).wrong
        if found:
            wrong.append(f"{found}: {raw!r}")

    every()
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what is wrong, and the figures. 1 if a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.trust.programs", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--grammar", action="store_true", help="of the whole grammar, with hypothesmith")
    parser.add_argument("--found", type=Path, help="a folder for programs that break a promise")
    options = parser.parse_args(arguments)
    begun = time.monotonic()
    broken = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if options.grammar:
            for text in from_grammar(options.programs, options.seed):
                broken += 1
                print(f"WRONG {text}", flush=True)
        for number in () if options.grammar else range(options.programs):
            wrong = look(f"{options.seed}/{number}")
            if wrong:
                broken += 1
                print(f"WRONG {options.seed}/{number}: {wrong}", flush=True)
    print(f"{options.programs} programs in {time.monotonic() - begun:.0f} s, {broken} break a promise")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
