"""What a run has shown: how looks at a value are merged, how places are told, and what the machine makes of it."""

from __future__ import annotations

import ast
import itertools
from pathlib import Path
from random import Random

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.fixing import fix
from autodetach.machine.evidence import Evidence, Kept, Kind, Observed, Place, merge, normal, place_of
from autodetach.machine.exploring import analyse
from autodetach.machine.marks import OPTIMIZER, WEIGHTS
from autodetach.machine.told_of_values import is_number
from autodetach.machine.values import Opaque, Sequence, Tensor
from autodetach.source import Source

FIXTURES = Path(__file__).parents[2] / "fixtures"
HISTORY = Observed(Kind.HISTORY, scalar=True)
HERE = Place("")


def last(source: str, name: str, *, results: dict[str, Observed] | None = None, **bindings: Observed) -> object:
    """What a name of a module is bound to at its end."""
    evidence = Evidence(
        {(HERE, key): seen for key, seen in bindings.items()},
        results={(HERE, text): seen for text, seen in (results or {}).items()},
    )
    return analyse(ast.parse(source), evidence=evidence).runs[0].machine.globals.names[name]


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (HISTORY, HISTORY, HISTORY),
        (HISTORY, Observed(Kind.HISTORY, scalar=False), Observed(Kind.HISTORY)),
        (HISTORY, Observed(Kind.PLAIN, scalar=True), None),
        (HISTORY, None, None),
        (Observed(Kind.NUMBER), Observed(Kind.OTHER), None),
        # In its first pass a state carries nothing.
        (
            Observed(Kind.HISTORY, carries=False),
            Observed(Kind.HISTORY, carries=True, state="engine.state"),
            Observed(Kind.HISTORY, carries=True, state="engine.state"),
        ),
        (Observed(Kind.HISTORY, carries=False), Observed(Kind.HISTORY), Observed(Kind.HISTORY)),
        (Observed(Kind.HISTORY, state="a.h"), Observed(Kind.HISTORY, state="b.h"), Observed(Kind.HISTORY)),
        (Observed(Kind.HISTORY, saves=False), Observed(Kind.HISTORY, saves=True), Observed(Kind.HISTORY, saves=True)),
        (
            Observed(Kind.TUPLE, items=(HISTORY, HISTORY)),
            Observed(Kind.TUPLE, items=(HISTORY, Observed(Kind.PLAIN))),
            Observed(Kind.TUPLE, items=(HISTORY, Observed(Kind.OTHER))),
        ),
        (Observed(Kind.TUPLE, items=(HISTORY,)), Observed(Kind.TUPLE, items=(HISTORY,) * 2), Observed(Kind.TUPLE)),
        (Observed(Kind.TUPLE, items=(HISTORY,)), Observed(Kind.LIST, items=(HISTORY,)), None),
    ],
)
def test_two_looks_have_in_common_what_did_not_differ(
    one: Observed, other: Observed | None, both: Observed | None
) -> None:
    assert merge(one, other) == merge(other, one) == both


def test_the_order_of_looks_is_of_no_matter() -> None:
    looks = (
        Observed(Kind.HISTORY, scalar=True, carries=False),
        Observed(Kind.HISTORY, scalar=True, carries=True, saves=True),
        Observed(Kind.HISTORY, scalar=False, saves=False),
    )
    assert {merge(merge(one, two), three) for one, two, three in itertools.permutations(looks)} == {
        Observed(Kind.HISTORY, carries=True, saves=True)
    }


@pytest.mark.parametrize(
    ("qualname", "function"),
    [
        ("<module>", ""),
        ("Trainer.step", "Trainer.step"),
        ("outer.<locals>.inner", "outer.inner"),
        ("outer.<locals>.<listcomp>", "outer"),
        ("<genexpr>", ""),
    ],
)
def test_a_place_is_called_as_the_machine_calls_it(qualname: str, function: str) -> None:
    assert place_of("/a.py", qualname) == Place("/a.py", function)


def test_a_text_is_the_same_before_and_after_a_repair() -> None:
    assert normal('meter.add( loss.item(), "x" )') == normal("meter.add(loss.detach(),'x')") == "meter.add(loss, 'x')"
    assert normal("no ( text") == "no ( text"


@pytest.mark.parametrize("by", ["results", "bindings"])
def test_a_result_is_what_was_seen(by: str) -> None:
    source = "from lib import f\nx = f(1)\n"

    def seen(what: Observed) -> object:
        return last(source, "x", results={"f(1)": what}) if by == "results" else last(source, "x", x=what)

    loss, plain, leaf = seen(HISTORY), seen(Observed(Kind.PLAIN, scalar=True)), seen(Observed(Kind.LEAF))
    assert isinstance(loss, Tensor)
    assert loss.node is not None
    assert not loss.node.assumed
    assert loss.shape == ()
    assert isinstance(plain, Tensor)
    assert plain.node is None
    assert plain.shape == ()
    assert isinstance(leaf, Tensor)
    assert leaf.node is not None
    assert leaf.node.leaf
    assert is_number(seen(Observed(Kind.NUMBER)))
    pair = seen(Observed(Kind.TUPLE, items=(HISTORY, Observed(Kind.NUMBER))))
    assert isinstance(pair, Sequence)
    assert pair.kind == "tuple"
    assert isinstance(pair.items[0], Tensor)
    assert is_number(pair.items[1])
    module, optimizer = seen(Observed(Kind.MODULE)), seen(Observed(Kind.OPTIMIZER))
    assert isinstance(module, Opaque)
    assert WEIGHTS in module.attrs
    assert isinstance(optimizer, Opaque)
    assert OPTIMIZER in optimizer.attrs


def test_a_part_of_a_result_may_be_what_has_a_name() -> None:
    loss = last("from lib import f\nout = f(1)\nloss = out.loss\n", "loss", loss=HISTORY)
    assert isinstance(loss, Tensor)
    assert loss.node is not None
    assert not loss.node.assumed


def test_what_is_detached_stays_detached() -> None:
    """A repair puts a detach behind the call of which the run has said that its result has history."""
    for source in ("from lib import f\nx = f(1).detach()\n", "from lib import f\ny = f(1)\nx = y.detach()\n"):
        x = last(source, "x", results={"f(1)": HISTORY}, x=HISTORY)
        assert isinstance(x, Tensor)
        assert x.node is None


def test_nothing_has_history_without_grad() -> None:
    x = last("import torch\nfrom lib import f\nwith torch.no_grad():\n    x = f(1)\n", "x", results={"f(1)": HISTORY})
    assert isinstance(x, Tensor)
    assert x.node is None


def test_what_the_machine_knows_is_not_replaced() -> None:
    source = "import torch\ndef f(x):\n    return x.detach()\nw = torch.ones(2, requires_grad=True)\nx = f(w * 2)\n"
    x = last(source, "x", results={"f(w * 2)": HISTORY}, x=HISTORY)
    assert isinstance(x, Tensor)
    assert x.node is None


def test_a_contradiction_is_told_and_breaks_nothing() -> None:
    source = Source.from_bytes(b"import torch\nx = torch.ones(2, requires_grad=True) * 2\nn = len([1])\n", "a.py")
    place = Place("/a.py")
    evidence = Evidence({(place, "x"): Observed(Kind.PLAIN), (place, "n"): HISTORY})
    result = check(source, CheckOptions(), path="/a.py", evidence=evidence)
    assert [(p.line, p.message, p.partial) for p in result.problems] == [
        (2, "`x` was a tensor without history in the run, and is a tensor with history here", True),
        (3, "`n` was a tensor with history in the run, and is a number here", True),
    ]


def test_places_of_other_functions_and_files_say_nothing() -> None:
    source = Source.from_bytes(
        b"import torch\nfrom lib import f\ntotal = 0\nfor i in range(100):\n    total += f(i)\n", "a.py"
    )
    for place, count in ((Place("/a.py"), 1), (Place("/b.py"), 0), (Place("/a.py", "g"), 0)):
        evidence = Evidence(results={(place, "f(i)"): HISTORY})
        assert len(check(source, CheckOptions(), path="/a.py", evidence=evidence).findings) == count


def test_what_an_argument_brings_is_not_what_the_callee_keeps() -> None:
    """Else the detach of the argument, which repairs it, would seem to be of no use."""
    text = (
        "import torch\nfrom lib import cell\nopt = torch.optim.SGD(cell.parameters(), 0.1)\nh = torch.zeros(4)\n"
        "for x in torch.randn(100, 4):\n    h = cell(x, h)\n    h.sum().backward()\n    opt.step()\n"
    )
    evidence = Evidence(results={(Place("/a.py"), "cell(x, h)"): Observed(Kind.HISTORY, carries=True)})
    source = Source.from_bytes(text.encode(), "a.py")
    fixed = fix(source, CheckOptions(), path="/a.py", evidence=evidence, unsafe=True)
    assert fixed.source.text == text + "    h = h.detach()\n"
    assert fixed.remaining == ()


def test_what_the_callee_keeps_has_no_repair_where_it_has_no_name() -> None:
    text = (
        "import torch\nfrom lib import cell\nopt = torch.optim.SGD(cell.parameters(), 0.1)\n"
        "for x in torch.randn(100, 4):\n    h = cell(x)\n    h.sum().backward()\n    opt.step()\n"
    )
    evidence = Evidence(results={(Place("/a.py"), "cell(x)"): Observed(Kind.HISTORY, carries=True)})
    (finding,) = check(
        Source.from_bytes(text.encode(), "a.py"), CheckOptions(), path="/a.py", evidence=evidence
    ).findings
    assert (finding.code, finding.fix) == ("AD302", None)


@pytest.mark.parametrize(
    ("argument", "walked", "found"), [(0, None, 1), (0, True, 0), (1, None, 0), ("loss", None, 0), (5, None, 0)]
)
def test_what_is_kept(argument: int | str, walked: bool | None, found: int) -> None:
    text = (
        "import torch\nfrom lib import meter\nmodel = torch.nn.Linear(2, 1)\n"
        "for x in torch.randn(100, 4, 2):\n    loss = model(x).mean()\n    loss.backward()\n    meter.add(loss, 1)\n"
    )
    evidence = Evidence(kept=(Kept(Place("/a.py"), "meter.add(loss, 1)", argument, "meter.values[3]", walked),))
    source = Source.from_bytes(text.encode(), "a.py")
    assert len(check(source, CheckOptions(), path="/a.py", evidence=evidence).findings) == found


def test_a_list_in_view_needs_no_run_to_tell_what_it_keeps() -> None:
    text = (
        "import torch\nmodel = torch.nn.Linear(2, 1)\nkept = []\n"
        "for x in torch.randn(100, 4, 2):\n    kept.append(model(x).mean())\n    kept.clear()\n"
    )
    evidence = Evidence(kept=(Kept(Place("/a.py"), "kept.append(model(x).mean())", 0, "kept[3]"),))
    source = Source.from_bytes(text.encode(), "a.py")
    assert check(source, CheckOptions(), path="/a.py", evidence=evidence).findings == ()


def guess(random: Random, depth: int = 0) -> Observed:
    """Anything that an observer could say, true or not."""
    some = (None, True, False)
    kind = random.choice(list(Kind))
    items = tuple(guess(random, 1) for _ in range(2)) if kind in (Kind.TUPLE, Kind.LIST) and not depth else None
    state = random.choice(["", "self.state", "model.h", "no text", "None.a", "unknown.h"])
    return Observed(kind, random.choice(some), items, random.choice(some), random.choice(some), state)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    "name",
    [
        "accumulated-loss/moving_average_from_none",
        "carried-state/cell_class",
        "stored-history/append_script",
    ],
)
def test_wrong_evidence_breaks_nothing(name: str, seed: int) -> None:
    random = Random(seed)
    raw = (FIXTURES / f"{name}.before.py").read_bytes()
    nodes = list(ast.walk(ast.parse(raw)))
    calls = [ast.unparse(n) for n in nodes if isinstance(n, ast.Call)]
    names = {ast.unparse(n) for n in nodes if isinstance(n, (ast.Name, ast.Attribute))}
    functions = [n.name for n in nodes if isinstance(n, ast.FunctionDef)]
    methods = [f"{c.name}.{name}" for c in nodes if isinstance(c, ast.ClassDef) for name in functions]
    places = [Place("/a.py", function) for function in ("", *functions, *methods)]
    evidence = Evidence(
        {(place, name): guess(random) for place in places for name in sorted(names)},
        tuple(Kept(place, call, 0, "", random.choice([None, False])) for place in places for call in calls),
        {(place, call): guess(random) for place in places for call in calls},
    )
    for text in (raw, raw.replace(b"from torch import", b"from elsewhere import")):
        result = check(Source.from_bytes(text, "a.py"), CheckOptions(), path="/a.py", evidence=evidence)
        assert all(problem.partial for problem in result.problems)


class Lib:
    """Finds one other file."""

    def find(self, name: str, importer: str) -> str | None:
        return "/p/helpers.py" if name == "helpers" else None

    def read(self, path: str) -> Source:
        text = (
            "import torch\nfrom lib import step\nclass Runner:\n    def run(self, batches):\n        total = 0\n"
            "        for batch in batches:\n            total += step(batch)\n        return float(total)\n"
        )
        return Source.from_bytes(text.encode(), path)

    def peek(self, path: str) -> bytes | None:
        return self.read(path).raw


def test_a_method_of_an_imported_file_has_its_place_there() -> None:
    source = Source.from_bytes(
        b"import torch\nfrom helpers import Runner\nRunner().run(torch.ones(99, 4, 2))\n", "m.py"
    )
    evidence = Evidence(results={(Place("/p/helpers.py", "Runner.run"), "step(batch)"): HISTORY})
    (finding,) = check(source, CheckOptions(), path="/p/m.py", finder=Lib(), evidence=evidence).findings
    assert (finding.path, finding.code) == ("/p/helpers.py", "AD101")
    assert finding.observed == ("line 7 of helpers.py: `step(batch)` returned a tensor with history",)
