"""Inputs from inputs: changes that keep enough of their form to get past the first look."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

_TOKEN = re.compile(rb"\w+|[^\w\s]|[^\S\n]+|\n")
_ODD = (
    b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\r", b"\r\n", b"\n", b"\t", b"\f", b"\v",
    b"\x1b[31m", b"\xe2\x80\xa8", b"\xf0\x9f\x98\x80", b"e\xcc\x81", b"\\", b"\\\n", b";", b"#", b"'''", b'"""',
    b"((((((((((((((((", b"1" * 5000, b"-1", b"0", b"1e400", b"NaN", b"null", b"[]", b"{}", b'""', b"\\ud800",
)  # fmt: skip


def mutated(raw: bytes, random: Random, seeds: Sequence[bytes], words: Sequence[bytes], limit: int = 20_000) -> bytes:
    """One to eight changes of an input, most of them to whole lines and words."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5, 8))):
        raw = random.choice(_WAYS)(raw, random, seeds, words)
    return raw[:limit]


def _lines(raw: bytes, random: Random, seeds: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    lines = raw.splitlines(keepends=True)
    if not lines:
        return random.choice(seeds)
    at = random.randrange(len(lines))
    to = min(len(lines), at + random.choice((1, 1, 1, 2, 3, 5)))
    way = random.randrange(7)
    if way == 0:
        del lines[at:to]
    elif way == 1:
        other = random.randrange(len(lines) + 1)
        lines[other:other] = lines[at:to]
    elif way == 2:
        moved = lines[at:to]
        del lines[at:to]
        other = random.randrange(len(lines) + 1)
        lines[other:other] = moved
    elif way == 3:
        lines[at:to] = [random.choice((b"    ", b"\t", b" ")) + line for line in lines[at:to]]
    elif way == 4:
        lines[at:to] = [re.sub(rb"\A(    |\t| )", b"", line) for line in lines[at:to]]
    elif way == 5:
        theirs = random.choice(seeds).splitlines(keepends=True)
        start = random.randrange(len(theirs) + 1)
        lines[at:at] = theirs[start : start + random.choice((1, 2, 5, 20))]
    else:
        lines[at] = lines[at].rstrip(b"\r\n") + random.choice(
            (b"", b"\r", b"\r\n", b"\f\n", b";\n", b" \\\n", b"  # x\n")
        )
    return b"".join(lines)


def _words(raw: bytes, random: Random, seeds: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    tokens = _TOKEN.findall(raw)
    if not tokens:
        return raw + random.choice(words)
    at = random.randrange(len(tokens))
    way = random.randrange(5)
    if way == 0:
        tokens[at] = random.choice(words)
    elif way == 1:
        tokens.insert(at, random.choice(words))
    elif way == 2:
        tokens[at] = random.choice(tokens)
    elif way == 3:
        del tokens[at : at + random.choice((1, 1, 2, 4))]
    else:
        tokens[at] = (
            random.choice(((b"(", b")"), (b"[", b"]"), (b"f'{", b"}'"), (b"\xc3\xa9", b""), (b" ", b"\\\n")))[0]
            + tokens[at]
        )
    return b"".join(tokens)


def _bytes(raw: bytes, random: Random, seeds: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    at = random.randrange(len(raw) + 1)
    way = random.randrange(5)
    if way == 0:
        return raw[:at] + random.choice(_ODD) + raw[at:]
    if way == 1:
        return raw[:at] + bytes([random.randrange(256)]) + raw[at + 1 :]
    if way == 2:
        return raw[:at] + raw[at + random.choice((1, 2, 4, 16)) :]
    if way == 3:
        return raw[:at]
    to = min(len(raw), at + random.choice((1, 4, 16, 64)))
    return raw[:at] + raw[at:to] * random.choice((2, 2, 3, 50)) + raw[to:]


_WAYS: tuple[Callable[[bytes, Random, Sequence[bytes], Sequence[bytes]], bytes], ...] = (
    _lines, _lines, _lines, _words, _words, _words, _bytes,
)  # fmt: skip
