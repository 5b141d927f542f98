"""Cells joined to one program: what magics become, how places map back, and which edits are let through."""

from __future__ import annotations

import ast
import pickle

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.fixing import fix
from autodetach.notebooks.cells import CellError, Cells
from autodetach.notebooks.magics import as_python
from autodetach.source import Edit


def python_of(text: str) -> str:
    return as_python(text).text


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("!pip install torch", "pass"),
        ("x?\nx.y??\n?x\n??x\n%time?\n%cd?", "print(x)\nprint(x.y)\nprint(x)\nprint(x)\npass\npass"),
        ("y = x.shape?", "pass"),
        (",f a b\n;f a b\n/f a", "pass\npass\npass"),
        ("pip install torch\npip = 1\nls", "pass\npip = 1\nls"),
        ("x = !ls\nx, y = !ls 'a\nx = %sql select", "x = get_ipython()\nx, y = get_ipython()\nx = get_ipython()"),
        ("%time f(x)\n%time y = f(x)\n%prun -s cumulative f()", "f(x)\ny = f(x)\nf()"),
        ("y = %time f(x)", "y =       f(x)"),
        ("%timeit -n 3 -r1 f(x)", "f(x)"),
        ("%timeit y = f(x)", "class __timeit__: y = f(x)"),
        ("y = %timeit -o f(x)", "y = get_ipython(f(x))"),
        ("y = %timeit -o f(x)  # c", "y = get_ipython()"),
        ("y = %time f(x)  # c\n%time f(x)  # noqa", "y =       f(x)  # c\nf(x)  # noqa"),
        ("for i in x:\n    %time f(i)\n    !echo {i}", "for i in x:\n    f(i)\n    print(i)"),
        ("!ls \\\n  -l \\\n  -a\nx = 1", "pass\n\n\nx = 1"),
        ("%time f(a, \\\n  b)", "f(a, b)\n"),
        ("%time it takes", "pass"),
        ("%run train.py --lr 1", "pass"),
        ("%%time\nx = 1", "pass\nx = 1"),
        ("\n%%capture out\n%%time\nx = 1", "\npass\npass\nx = 1"),
        ("%%bash\nls 'x\nif [ 1 ]", "\n\n"),
        ("%%writefile x.py\nx = 1", "\n"),
        ("%%unknown\nx = 1", "if get_ipython():\n x = 1\n pass"),
        ("%%unknown\nselect *", "\n"),
        ("%%timeit\nx = 1", "def __timeit__():\n x = 1\n pass\n__timeit__()"),
        ("%%timeit\n# nothing", "def __timeit__():\n # nothing\n pass\n__timeit__()"),
        ("  x = 1\n  if x:\n    y = 2\n", "x = 1\nif x:\n  y = 2\n"),
        # What commands read.
        ("!echo {x.item()} $y ${z} $y.shape.", "print(x.item(), y, z, y.shape)"),
        ("!awk '{print $1}' $$HOME {{x}}\n!echo {x\n!echo {} $1", "pass\npass\npass"),
        ("!f {x!r:>10} \\\n  {d['k']}", "print(x, d['k'])\n"),
        ("y = !echo {x}\n%cd {p}\ncd {p}", "y = get_ipython(print(x))\nprint(p)\nprint(p)"),
        ('%%bash -s {x} "$y"\necho $1 {z}', "print(x, y)\n"),
        ("%%sql {x}\nselect 1\n2 3", "print(x)\n\n"),
        ("%%time {x}\ny = 1", "pass\ny = 1"),
        ("%store x y\n%store x > f.txt\n%store -r x\n%store", "get_ipython(x, y)\nprint(x)\npass\npass"),
        ("%run -i f.py\n%run -ti f.py {x}\n%run f.py -i {x}", "exec(get_ipython())\nexec(get_ipython())\nprint(x)"),
        # What only looks like a magic.
        ("x = (a\n%b)", None),
        ("x = a \\\n%b", None),
        ("s = '''\n%time x\n!ls\nwhat?\n'''", None),
        ('s = f"""\n%%bash\n"""', None),
        ("print('a = %d' % a)  # why?", None),
        ("x = 'why?'", None),
        ("a = b == c != d", None),
        ("s = 'it\\\n!ls'", None),
        ("f(a=1)\nx[b] = {'k': '!'}", None),
        ("# %%\nx = 1", None),
    ],
)
def test_magics(text: str, python: str | None) -> None:
    assert python_of(text) == (text if python is None else python)
    ast.parse(python_of(text))


TEXTS = (
    "%matplotlib inline\nimport torch\n!nvidia-smi\n",
    "%%time\nmodel = torch.nn.Linear(2, 2)\nopt = torch.optim.SGD(model.parameters(), 0.1)\ntotal = 0",
    "%%bash\nls 'x",
    "# é €\r\nfor i in range(10):\r\n    %time out = model(torch.ones(1, 2))\r\n    loss = out.exp().sum()\r\n"
    "    opt.zero_grad()\r\n    loss.backward()\r\n    opt.step()\r\n    total = total + loss;",
    "print(total / 10)",
)


def test_a_fault_between_cells_is_found_and_repaired_in_its_cell() -> None:
    cells = Cells.of(TEXTS, "a.ipynb", (1, 3, 4, 6, 9))
    (finding,) = check(cells, CheckOptions()).findings
    place = cells.place(finding.span.start)
    assert (finding.code, place.shown, place.line, place.column) == ("AD101", "a.ipynb:cell 6", 8, 4)
    assert place.source.text[place.source.text.index("total") :].startswith("total = total + loss;")
    result = fix(cells, CheckOptions(), unsafe=False)
    (part,) = cells.parts(result.edits)
    assert (part.cell, part.index) == (6, 3)
    new = TEXTS[3].replace("+ loss", "+ loss.item()")
    assert part.source.apply(part.edits).decode() == new
    assert isinstance(result.source, Cells)
    assert result.source.texts == (*TEXTS[:3], new, TEXTS[4])
    assert not result.remaining


def test_what_is_said_names_cells_too() -> None:
    texts = ["import torch\nw = torch.ones(2, requires_grad=True)\n!ls", "loss = (w * w).sum()\n\nloss.backward()"]
    (finding,) = check(Cells.of([*texts, "loss.backward()"], "a.ipynb", (1, 3, 8)), CheckOptions()).findings
    assert "`loss.backward()` in cell 3, line 3" in finding.message


def test_nothing_behind_a_magic_is_edited() -> None:
    cells = Cells.of([*TEXTS[:3], "%time total = total + model(torch.ones(2)).exp().sum()", TEXTS[4]], "a.ipynb")
    for line in range(1, cells.line_count + 1):
        span, place = cells.line_span(line), cells.place_of_line(line)
        text = place.source.line_text(place.line)
        if text.startswith(("%", "!")) and span.end - span.start > 2:
            with pytest.raises(ValueError, match="not inside"):
                cells.with_edits([Edit(span.start + 1, span.end - 1, "x")])


def test_a_finding_behind_time_is_shown_where_it_stands() -> None:
    cells = Cells.of(["%%time\nx = 1", "for i in x:\n    %time f(i)"], "a.ipynb")
    place = cells.place(cells.raw.index(b"f(i)"))
    assert (place.cell, place.line, place.column) == (2, 2, 10)
    assert place.source.raw[place.offset :] == b"f(i)"


SUMMED = (
    "import torch\nmodel = torch.nn.Linear(2, 1)\nopt = torch.optim.SGD(model.parameters(), 0.1)\n"
    "penalty = sum(p.pow(2).sum() for p in model.parameters())",
    "total = 0\nfor i in range(4):\n    loss = model(torch.ones(1, 2)).sum()\n    opt.zero_grad()\n"
    "    loss.backward()\n    opt.step()\n    total += loss",
)


@pytest.mark.parametrize(
    ("command", "method"),
    [
        ("!nvidia-smi", "item"),
        ("!echo {total} $total", "item"),
        ("total?", "item"),
        ("!awk '{print $1}' total.txt", "item"),
        ("!echo {total.tolist()}", "detach"),
        ("out = !echo {total.detach().numpy()}", "detach"),
        ("%%bash -s {total.tolist()}\necho $1", "detach"),
        ("%store total", "detach"),
        ("%run -i plot.py", "detach"),
    ],
)
def test_what_a_command_reads_of_a_sum(command: str, method: str) -> None:
    cells = Cells.of((*SUMMED, command), "n.ipynb")
    fixed = fix(cells, CheckOptions(), unsafe=False).source
    assert isinstance(fixed, Cells)
    assert fixed.texts == (SUMMED[0], SUMMED[1].replace("+= loss", f"+= loss.{method}()"), command)


@pytest.mark.parametrize("command", ["!echo {penalty.item()}", "!echo $penalty", "penalty?", "%store penalty"])
def test_nothing_is_moved_past_a_command_that_reads_it(command: str) -> None:
    trained = SUMMED[1].replace(".sum()", ".sum() + penalty").replace("\n    total += loss", "")
    for between, stays in ((command, True), ("!nvidia-smi", False)):
        fixed = fix(Cells.of((SUMMED[0], between, trained), "n.ipynb"), CheckOptions(), unsafe=True)
        assert isinstance(fixed.source, Cells)
        assert fixed.edits
        assert ("penalty" in fixed.source.texts[0]) == stays


def test_a_cell_that_expects_an_exception_is_left_alone() -> None:
    texts = ["import torch\nw = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\nloss.backward()"]
    again = [*texts, "loss.backward()"]
    assert [f.code for f in check(Cells.of(again, "a.ipynb"), CheckOptions()).findings]
    cells = Cells.of(again, "a.ipynb", expected={2})
    assert not check(cells, CheckOptions()).findings
    assert cells.place(cells.raw.rindex(b"loss")).line == 1


def test_where_lines_are_put_at_the_borders_of_cells() -> None:
    cells = Cells.of(["a = 1\nb = 2", "%time c = 3", "d = 4\n"], "a.ipynb")

    def texts(start: bytes, new: str, *, line_end: bool = False, deleted: bool = False) -> tuple[str, ...]:
        at = cells.raw.index(start)
        end = cells.raw.index(b"\n", at) + 1
        edit = Edit(at, end, new) if deleted else Edit(end, end, new) if line_end else Edit(at, at, new)
        return cells.with_edits([edit]).texts

    assert texts(b"b", "x\n", line_end=True) == ("a = 1\nb = 2\nx", "%time c = 3", "d = 4\n")
    assert texts(b"c", "x\n") == ("a = 1\nb = 2", "x\n%time c = 3", "d = 4\n")
    assert texts(b"c", "x\n", line_end=True) == ("a = 1\nb = 2", "%time c = 3\nx", "d = 4\n")
    assert texts(b"d", "x\n") == ("a = 1\nb = 2", "%time c = 3", "x\nd = 4\n")
    assert texts(b"d", "x\n", line_end=True) == ("a = 1\nb = 2", "%time c = 3", "d = 4\nx\n")
    assert texts(b"b", "", deleted=True) == ("a = 1", "%time c = 3", "d = 4\n")
    assert texts(b"b", "x\n", deleted=True) == ("a = 1\nx", "%time c = 3", "d = 4\n")
    with pytest.raises(ValueError, match="not inside"):
        texts(b"c", "", deleted=True)


def test_no_line_is_drawn_up_to_a_magic() -> None:
    cells = Cells.of(["%time c = 3\n\n# d", "e"], "a.ipynb")
    at = cells.raw.index(b"\n")
    with pytest.raises(ValueError, match="not inside"):
        cells.with_edits([Edit(at, at + 2, "")])
    assert cells.with_edits([Edit(at, at + 1, "")]).texts == ("%time c = 3\n# d", "e")


def test_two_lines_at_the_end_of_a_cell_may_go_one_by_one() -> None:
    cells = Cells.of(["a\nb\nc", "d"], "a.ipynb")
    assert cells.with_edits([Edit(2, 4, ""), Edit(4, 6, "")]).texts == ("a", "d")
    assert cells.with_edits([Edit(0, 2, ""), Edit(2, 4, ""), Edit(4, 6, "")]).texts == ("", "d")


@pytest.mark.parametrize(
    ("texts", "message", "line", "cell"),
    [
        (["y =\n", "x = 1", "z ="], "syntax error", 1, 4),
        (["if x:", ""], "syntax error", 1, 4),
        (["x\0"], "null bytes", None, 4),
        (["x = 1\n'\ud800'"], "surrogate", 2, 4),
        (["\ufeffx = 1"], "byte order mark", 1, 4),
    ],
)
def test_a_cell_that_is_no_python(texts: list[str], message: str, line: int | None, cell: int) -> None:
    with pytest.raises(CellError, match=message) as caught:
        Cells.of(texts, "a.ipynb", range(4, 4 + len(texts)))
    assert (caught.value.cell, caught.value.line) == (cell, line) if line else caught.value.cell == cell


def test_cells_survive_the_way_between_processes() -> None:
    cells = Cells.of(TEXTS, "a.ipynb", (1, 3, 4, 6, 9))
    copy = pickle.loads(pickle.dumps(cells))
    assert (copy.raw, copy.texts, copy.numbers) == (cells.raw, cells.texts, cells.numbers)
    assert copy.place(40) == cells.place(40) or copy.place(40).line == cells.place(40).line


# How long a try takes says more about the machine than about the code.
SLOWLY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

LINES = st.sampled_from(
    ["x = 1", "é = '€𝄞'", "%time x = 1", "!ls", "x?", "", "# c", "y = !ls", "for i in x:\n    %time f(i)\n    g(i)"]
)
FIRST = st.sampled_from(["", "%%time\n", "%%bash\n", "%%timeit\n", "%%odd\n", "  a = 1\n", "\n%%capture\n"])
CELL = st.builds(
    lambda first, lines, newline: first + newline.join(lines), FIRST, st.lists(LINES, max_size=5), st.just("\n")
)


@SLOWLY
@given(
    st.lists(CELL, min_size=1, max_size=4),
    st.lists(
        st.tuples(st.integers(0), st.integers(0, 12), st.sampled_from(["", "z", "z = 2\n", "\n", "\nz", "é\n"])),
        max_size=8,
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_edits_of_the_program_are_edits_of_cells_or_refused(
    texts: list[str], places: list[tuple[int, int, str]], newline: str
) -> None:
    cells = Cells.of([text.replace("\n", newline) for text in texts], "a.ipynb")
    assert len(cells.text.split("\n")) - 1 == sum(1 for _ in cells.text.splitlines())
    for start, length, new in places:
        start %= len(cells.raw) + 1
        try:
            edited = cells.with_edits([Edit(start, min(start + length, len(cells.raw)), new)])
        except ValueError:
            continue
        changed = [i for i, (old, now) in enumerate(zip(cells.texts, edited.texts, strict=True)) if old != now]
        assert len(changed) <= 1
        for i in changed:
            assert not cells.texts[i].startswith(("%%bash", "%%timeit", "%%odd", " "))
            magic = [
                line for line in cells.texts[i].splitlines() if line.lstrip().startswith(("%", "!")) or "?" in line
            ]
            left = [
                line for line in edited.texts[i].splitlines() if line.lstrip().startswith(("%", "!")) or "?" in line
            ]
            assert magic == left
            assert edited.cell_source(i).newline in (newline, "\n")
        cells = edited


@SLOWLY
@given(st.lists(CELL, min_size=1, max_size=4), st.integers(0))
def test_every_place_of_the_program_is_one_of_a_cell(texts: list[str], number: int) -> None:
    cells = Cells.of(texts, "a.ipynb")
    offset = number % (len(cells.raw) + 1)
    while offset < len(cells.raw) and cells.raw[offset] & 0xC0 == 0x80:
        offset += 1
    place = cells.place(offset)
    position = place.source.position(place.offset)
    assert (position.line, position.character) == (place.line, place.column)
    assert place.source.text == texts[place.index]
