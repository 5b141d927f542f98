"""The machine never crashes and never hangs, whatever Python it is given.

Programs run in a worker process, which the operating system stops once the machine has used up its time: some hangs sit
in C code that no exception reaches.
"""

from __future__ import annotations

import ast
import gc
import importlib.util
import multiprocessing
import re
import signal
import sys
import sysconfig
import textwrap
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from autodetach.machine import functional, python_builtins, standard_library
from autodetach.machine.exploring import analyse
from autodetach.machine.oracle import Policy
from autodetach.machine.run import dissolve
from autodetach.machine.running import run_once

LIMIT = 3.0
"""Seconds of processor time for one program."""
PATIENCE = 60.0
"""Seconds of real time, on a machine that is busy with something else."""
MEMORY = 4 << 30

# ---- the worker


@dataclass(frozen=True, slots=True)
class Answer:
    """How the analysis of one program went; `error` is a traceback, or the words of a SyntaxError."""

    complete: bool = False
    error: str = ""
    syntax_error: bool = False


def serve(connection: Connection) -> None:
    """The worker's life: one source after the other."""
    limit_memory()
    while True:
        try:
            source = connection.recv()
        except EOFError:
            return
        connection.send(judge(source))


def judge(source: str | bytes) -> Answer:
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        return Answer(error=str(error), syntax_error=True)
    started = time.process_time()
    try:
        kill_after(LIMIT)
        analysis = analyse(tree)
    except BaseException:
        return Answer(error=traceback.format_exc(limit=-4))
    finally:
        kill_after(0)
    seconds = time.process_time() - started
    if seconds > LIMIT:  # where the operating system has no such alarm
        return Answer(error=f"took {seconds:.1f} s")
    return Answer(analysis.complete)


def kill_after(seconds: float) -> None:
    """Let the operating system end this process when it has used so much processor time; 0 takes it back."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


def limit_memory() -> None:
    """A program that wants more gets a MemoryError, which is a fault of the machine like any other."""
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class Worker:
    """A process that analyses programs; it is replaced when it dies."""

    def __init__(self) -> None:
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection | None = None

    def judge(self, source: str | bytes) -> Answer:
        connection = self._connection if self._connection is not None else self._start()
        connection.send(source)
        try:
            if connection.poll(PATIENCE):
                answer: Answer = connection.recv()
                return answer
        except EOFError:
            pass
        self.stop()
        return Answer(error=f"hangs: more than {LIMIT:g} s of processor time, or the process died")

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        return self._connection

    def stop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._connection = self._process = None


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    it = Worker()
    yield it
    it.stop()


def parameters(known: dict[str, str], names: Sequence[str]) -> list[Any]:
    """Names as parameters; those with a known fault of the machine are expected failures."""
    assert known.keys() <= set(names), "a known fault of something that is not tested"
    made = []
    for name in names:
        fault = pytest.mark.xfail(strict=True, raises=AssertionError, reason=known.get(name, ""))
        made.append(pytest.param(name, id=name, marks=[fault] if name in known else []))
    return made


# ---- functions of the library, called in ways that Python may refuse

LIBRARY = sorted(
    {*standard_library.HANDLERS, *functional.HANDLERS, *(f"builtins.{n}" for n in python_builtins.BUILTINS)}
)
ARGUMENTS = (
    "", "None", "-1", "x", "t", "f", "[]", "{'a': t}", "10**30", "*x", "**x", "f, t", "[1, t], x", "[1, t], -1",
    "t, t, t", "r=2", "n=-1", "key=f", "default=t", "start=x", "times=None", "maxlen=-1", "f, initial=t", "[t], r=2",
    "[t], n=0",
)  # fmt: skip
LATER = ("", "t", "x, r=2")
"""What is handed to the results, some of which are functions themselves."""
CALLING = """\
import torch, itertools, functools, collections, operator, dataclasses, copy, contextlib, random, math, numpy
def f(a=1): return a
t = torch.ones(3, requires_grad=True)
for i in range(2):
    y = {}
    z = [inner for inner in y]
"""


@pytest.mark.parametrize("path", LIBRARY)
def test_functions_of_the_library(path: str) -> None:
    name = path.removeprefix("builtins.")
    for arguments in ARGUMENTS:
        for call in (f"{name}({arguments})", *(f"{name}({arguments})({later})" for later in LATER)):
            analyse(ast.parse(CALLING.format(call)))


def test_a_list_may_be_emptied_while_it_is_walked() -> None:
    program = (
        "import random\nsome = random.sample([1], 3)\nfor n, one in enumerate(some):\n    if n == 1: some.clear()\n"
    )
    assert analyse(ast.parse(program)).complete


def test_layers_that_are_put_in_before_the_base_is_made() -> None:
    program = (
        "from torch import nn\nclass Block(nn.Sequential):\n    def __init__(self): self.build()\n"
        "    def build(self): self.add_module('linear', nn.Linear(2, 2))\nBlock()(nn.Parameter())\n"
    )
    assert analyse(ast.parse(program)).complete


ABANDONED = """\
import torch
class C:
    def __enter__(self): return self
    def __exit__(self, *error):
        for i in range(9): self.x = i
        raise ValueError
def g():
    with C():
        yield 1
        yield 2
w = torch.ones(1, requires_grad=True)
for x in g():
    (w * 2).backward()
    break
class K:
    def __init__(self):
        self.it, self.me = g(), self
        next(self.it)
    def run(self):
        for i in range(3): (w * 1).backward()
K()
"""
LEFT_IN_THE_MIDDLE = """
import torch
w = torch.ones(2, requires_grad=True)
class K:
    def __init__(self):
        self.it, self.me = iter([(w * 2).sum() for _ in range(int(input()))]), self
        next(self.it).backward()
K()
"""


@pytest.mark.parametrize("program", [ABANDONED, LEFT_IN_THE_MIDDLE])
def test_generators_that_nobody_asks_any_more_are_no_noise(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """They end when Python clears away what they are part of, which tells the user what is raised then."""
    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    for fuel in range(0, 400, 7):
        run_once(ast.parse(program), Policy(), fuel)
    dissolve(analyse(ast.parse(program)))
    gc.collect()
    assert not told


# ---- files that others wrote

SHARES = (
    ("", 80),
    ("torch.nn", 35),
    ("torch.optim", 20),
    ("torch.distributions", 45),
    ("torch.testing", 15),
    ("torch.utils", 20),
    ("torch.autograd", 6),
    ("libcst", 12),
    ("hypothesis", 10),
    ("_pytest", 8),
    ("typer", 6),
)
"""How many files of which package; "" is the standard library."""
LARGEST = 40_000
"""Bytes. What is larger takes long to read, and has the same statements."""
NOT_PYTHON = re.compile(r"(^|/)(tests?|lib2to3|idle_test|site-packages|__pycache__)/|(^|/)py3\d+_")


def files_of(package: str) -> list[Path]:
    if not package:
        root = Path(sysconfig.get_paths()["stdlib"])
    else:  # the parents are not imported: PyTorch takes long
        top, *inner = package.split(".")
        spec = importlib.util.find_spec(top)
        assert spec is not None
        assert spec.origin is not None
        root = Path(spec.origin).parent.joinpath(*inner)
    found = (p for p in root.rglob("*.py") if not NOT_PYTHON.search(p.relative_to(root).as_posix()))
    return sorted(p for p in found if 0 < p.stat().st_size < LARGEST)


def spread(files: list[Path], count: int) -> list[Path]:
    """As many files, evenly spread over all of them."""
    return [files[i * len(files) // count] for i in range(count)] if len(files) > count else files


SAMPLE = {
    f"{package or 'stdlib'}-{number:02}-{path.stem}": path
    for package, count in SHARES
    for number, path in enumerate(spread(files_of(package), count))
}


def test_the_sample_is_large_enough() -> None:
    assert len(SAMPLE) > 200


@pytest.mark.parametrize("name", list(SAMPLE))
def test_files_of_others(worker: Worker, name: str) -> None:
    answer = worker.judge(SAMPLE[name].read_bytes())
    assert answer.error == ""


# ---- the whole grammar

STATEMENTS = """\
x = y = a
x, (y, *z), [u, v] = a, (b, *c), [d, e]
x.y = a[b] = a[1:2, ..., ::3] = c
x: int = a
x.y: int = a
x[0]: "str"
(y): float
a += b; a -= b; a *= b; a /= b; a //= b; a %= b; a **= b
a @= b; a &= b; a |= b; a ^= b; a <<= b; a >>= b
a.b += c
a[b] -= c
del x, x.y, x[0], (y, [z])
pass
assert a
assert a, f"{b}"
import p
import p.q as r, s.t
from p import q, r as s
from . import q
from ..p.q import r as s
from p import *
global g1, g2
raise_ = a
if a:
    pass
elif b:
    x
else:
    y
while a:
    if b:
        break
    if c:
        continue
else:
    pass
for x in a:
    break
for x, *y in a:
    continue
else:
    pass
for x.y in a:
    pass
for x[0] in a:
    pass
with a:
    pass
with a as x, b as (y, *z), c as x.y, d as x[0]:
    pass
with (a as x, b):
    pass
try:
    raise a
except b:
    pass
except (b, c.d) as e:
    raise
except:
    raise a from b
else:
    pass
finally:
    pass
try:
    a.backward()
finally:
    a.backward()
match a:
    case 1 | -2 | 3.5 | 1 + 2j | "s" | b"b" | None | True:
        pass
    case x.y | p.q.r:
        pass
    case [1, x, *rest] | (1, x, *rest) if x:
        pass
    case [*_, 3]:
        pass
    case {"k": y, x.k: [1, 2], **others}:
        pass
    case C(1, y, key=C(z=None), other=_) as whole:
        pass
    case (1 as n) | n:
        pass
    case {}:
        pass
    case []:
        pass
    case _:
        pass
def f1(a, b: int, /, c, d=1, *args: int, e, f: str = "s", **kwargs) -> list[int]:
    '''A docstring.'''
    nonlocal_ = a
    def inner():
        nonlocal nonlocal_
        nonlocal_ += 1
        return
    return inner() or (a, *args)
f1(a, b, c, e=1)
def f2(a=lambda: 0, *, b):
    received = yield
    received = yield a
    yield from f2(b=1)
    return (yield a), (yield from b)
for x in f2(b=2):
    x.backward()
@a
@a.b
@a.b(c)
@(lambda function: function)
def f3():
    return a
f3()
async def f4(a):
    await a
    async for x in a:
        await x
    else:
        pass
    async with a as b, c:
        return [x async for x in a if await x], {await y: z async for y, z in a}
async def f5(a):
    yield await a
    yield (x async for x in a)
f4(a), f5(a)
@a
class C1(b, C0 := object, metaclass=c, **d):
    '''A docstring.'''
    x: int = 1
    y = [x for _ in range(3)]
    def method(self, a):
        super().method(a)
        return __class__, self.x
    @property
    def p(self):
        return self._p
    @p.setter
    def p(self, value):
        self._p = value
    @p.deleter
    def p(self):
        del self._p
    @staticmethod
    def s(a):
        return a
    @classmethod
    def c(cls):
        return cls()
    class Inner:
        pass
C1().method(a)
a; b; c
...
'text'
"""
"""Every statement but those that only some versions have."""

EXPRESSIONS = """\
{} and a or {}
not {}
-{} + +{} - ~{}
{} * b / {} // c % d @ {}
({}) ** ({})
{} << a >> {} & b | {} ^ c
{} < a <= {} != b == c > d >= {}
{} is a is not {} in b not in {}
{} if {} else {}
lambda: {}
(lambda a, /, b={}, *c, d, e=1, **f: {})(a)
(name := {})
[{}, *a, {}]
({}, *a, b)
{{{}, *a, {}}}
{{{}: a, **b, 'k': {}}}
{{}}
[{} for x in {} if {} if x]
[{} for x in a for y in {} if y]
{{{} for x in {}}}
{{x: {} for x, *y in {}}}
list({} for x in {})
f({}, *{}, k={}, **a)
f()({})
({}).attribute
({}).method({}, k=a)
({}).backward(retain_graph={})
({})[{}]
({})[{}:a:{}]
({})[..., {}, 1:2, ::3]
f"{{a!r:>{{b}}}} {{a!s}} {{a!a}} {{a=}} {{a:.2f}}" "text" f"{{(a)}}"
b"bytes" if {} else 'text'
1 + 2.5 + 3j + True + {}
None is {} or ... is {}
"""
"""Expressions with holes, in which they are nested."""

VERSIONS = [
    (
        (3, 11),
        """\
try:
    pass
except* a as b:
    pass
except* (a, b):
    a.backward()
x[a, *b]
def g1(*args: *a):
    return args
for x in *a, b:
    pass
""",
    ),
    (
        (3, 12),
        """\
type A1 = int
type A2[T: int, *Ts, **P] = list[T]
def g2[T: (int, str), *Ts, **P](a: T) -> T:
    return a
class G3[T](list[T]):
    pass
f"{f'{f"{a}"}'}"
""",
    ),
    ((3, 13), "def g4[T = int](a: T): return a\n"),
    ((3, 14), 't"{a!r:>{b}} text {a + b}"\n'),
]
"""Statements that only some versions have, with the first that has them."""

HEADERS = {
    "if": "if a:",
    "else": "if a: pass\nelse:",
    "while": "while a:",
    "while-else": "while a: break\nelse:",
    "for": "for {name} in a:",
    "for-else": "for {name} in a: pass\nelse:",
    "with": "with a as {name}:",
    "try": "try:",
    "except": "try:\n    raise a\nexcept a as {name}:",
    "else-of-try": "try:\n    a\nexcept a: pass\nelse:",
    "finally": "try:\n    raise a\nfinally:",
    "match": "match a:\n  case {name}:",
    "function": "def {name}(a, *b):",
    "method": "class {name}(a):\n  def method(self, a):",
    "coroutine": "async def {name}(a):\n async with a:",
    "generator": "def {name}(a):\n  yield a\n  for x in a:",
    "class": "class {name}:",
}
"""What a block can stand in."""


def grammar() -> str:
    return STATEMENTS + "".join(source for version, source in VERSIONS if sys.version_info >= version)


def nested(source: str, headers: Sequence[str]) -> str:
    """A block in compound statements, the first outermost."""
    for number, key in reversed(list(enumerate(headers))):
        header = HEADERS[key].format(name=f"n{number}")
        ending = "\nexcept a:\n    pass\n" if key == "try" else "\n"
        source = header + "\n" + textwrap.indent(source, "    ") + ending
    return source


def holes_filled(templates: Sequence[str], innermost: str) -> str:
    """An expression in another, the first outermost; all holes but the first hold a name."""
    expression = innermost
    for template in reversed(templates):
        holes = template.count("{}") - template.count("{{}}")
        filling = [f"({expression})", "a", "b", "c"][:holes]
        expression = template.format(*filling)
    return expression


def expressions() -> str:
    """Each expression five deep in itself, and in a chain of its neighbours."""
    templates = EXPRESSIONS.splitlines()
    lines = [holes_filled([t] * 5, "a") for t in templates]
    for i in range(len(templates)):
        lines.append(holes_filled([templates[(i * k + k) % len(templates)] for k in range(1, 6)], "a.backward()"))
    return "\n".join(lines) + "\n"


def test_the_grammar_is_whole() -> None:
    """Every statement, expression and pattern of the running Python occurs in what is tested below."""
    old = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis", "Index", "ExtSlice"}
    kinds = {
        kind.__name__
        for base in (
            ast.stmt,
            ast.expr,
            ast.pattern,
            ast.operator,
            ast.unaryop,
            ast.boolop,
            ast.cmpop,
            ast.excepthandler,
        )
        for kind in base.__subclasses__()
    }
    used = {type(node).__name__ for source in (grammar(), expressions()) for node in ast.walk(ast.parse(source))}
    assert kinds - old - used == set()


HOLDING_ITSELF = {
    "list": "held = []\nheld.append(held)",
    "numbers": "held = [1]\nheld.insert(0, held)",
    "dict": "held = {}\nheld['a'] = held",
    "tuple": "inner = []\nheld = (inner, 1)\ninner.append(held)",
    "object": "class Node:\n    pass\nheld = Node()\nheld.self, held.all = held, [held]",
    "tree": "class Node:\n    def __init__(self, above):\n        self.above, self.below = above, []\n"
    "        if above: above.below.append(self)\nheld = Node(None)\nNode(Node(held))",
}
USES = (
    "torch.tensor(held)", "torch.as_tensor(held)", "torch.stack(held)", "torch.cat(held)", "numpy.array(held)",
    "sum(held)", "max(held)", "sorted(held)", "float(held)", "str(held)", "f'{held}'", "held == held", "loss in held",
    "copy.deepcopy(held)", "json.dumps(held)", "list(itertools.chain(*held))", "kept.append((held, loss))",
    "held.append(loss)", "held.extend(held)", "held['a'] = loss", "held.loss = loss", "net(held)",
    "torch.save(held, 'file')", "torch.utils.data.default_collate(held)", "torch.optim.SGD(held, 0.1)",
    "torch.autograd.grad(loss, held)", "torch.utils._pytree.tree_map(abs, held)", "held * 2", "held + held",
)  # fmt: skip
LOOP = """
import copy, itertools, json, numpy, torch
net = torch.nn.Linear(4, 2)
{held}
kept = []
for step in range(5):
    loss = net(torch.randn(1, 4)).sum()
    loss.backward()
    kept.append(loss)
    {use}
"""


@pytest.mark.parametrize("holder", list(HOLDING_ITSELF))
def test_what_holds_itself(worker: Worker, holder: str) -> None:
    for use in USES:
        answer = worker.judge(LOOP.format(held=HOLDING_ITSELF[holder], use=use))
        assert answer.error == "", use


@pytest.mark.parametrize("key", list(HEADERS))
def test_grammar_nested_in_itself(worker: Worker, key: str) -> None:
    for depth in range(6):
        answer = worker.judge(nested(grammar(), [key] * depth))
        assert answer.error == "", f"depth {depth}"


@pytest.mark.parametrize("first", range(len(HEADERS)))
def test_grammar_nested_in_others(worker: Worker, first: int) -> None:
    keys = list(HEADERS)
    headers = [keys[(first + k * (first + 2)) % len(keys)] for k in range(5)]
    answer = worker.judge(nested(grammar() + expressions(), headers))
    assert answer.error == "", headers


def test_expressions_nested_in_each_other(worker: Worker) -> None:
    for source in (expressions(), *expressions().splitlines()):
        answer = worker.judge(source)
        assert answer.error == "", source


def test_what_only_the_compiler_refuses(worker: Worker) -> None:
    """The parser lets it pass, and editors ask while people type."""
    source = """\
return a
break
continue
nonlocal x
x = *a
*b
await a
yield a
x = yield a
[(yield y) for y in a]
def f(a, a):
    break
    continue
    nonlocal nowhere
f(1, 2)
class C:
    return 1
    yield 2
    await a
lambda: (yield)
async def g():
    yield 1
    return 2
del f()
"""
    answer = worker.judge(source.replace("del f()\n", ""))
    assert answer.error == ""
    assert worker.judge(source).syntax_error
