"""Whatever holds a tensor with history is named as a person would write it, and where it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from autodetach.doctor.diagnosis import Kind

from .watching import watch

# A state `h` that carries its graph into the next pass, held in every way that a program holds things.
HOLDERS = {
    "a variable of the module": ("h", "h = torch.ones(3)", "h", "h = {}"),
    "an element of a list": ("states[0]", "states = [torch.ones(3)]", "states[0]", "states[0] = {}"),
    "a value of a dict": ("d['h']", "d = {'h': torch.ones(3)}", "d['h']", "d['h'] = {}"),
    "a value of a dict with keys of its own kind": ("d[...]", "d = {(1, 2): torch.ones(3)}", "d[1, 2]", "d[1, 2] = {}"),
    "a list in a dict": ("d['h'][1]", "d = {'h': [0, torch.ones(3)]}", "d['h'][1]", "d['h'][1] = {}"),
    "an attribute": ("o.h", "class O: pass\no = O()\no.h = torch.ones(3)", "o.h", "o.h = {}"),
    "a class attribute": ("O.h", "class O:\n    h = torch.ones(3)", "O.h", "O.h = {}"),
    "a slot": ("o.h", "class O:\n    __slots__ = ('h',)\no = O()\no.h = torch.ones(3)", "o.h", "o.h = {}"),
    "a slot of a base class": (
        "o.h",
        "class B:\n    __slots__ = 'h'\nclass O(B): pass\no = O()\no.h = torch.ones(3)",
        "o.h",
        "o.h = {}",
    ),
    "a dataclass": (
        "o.h",
        "import dataclasses\n@dataclasses.dataclass\nclass O:\n    h: object\no = O(torch.ones(3))",
        "o.h",
        "o.h = {}",
    ),
    "a dataclass with slots": (
        "o.h",
        "import dataclasses\n@dataclasses.dataclass(slots=True)\nclass O:\n    h: object\no = O(torch.ones(3))",
        "o.h",
        "o.h = {}",
    ),
    "a field of a namedtuple": (
        "o.h",
        "import collections\nO = collections.namedtuple('O', 'h n')\no = O(torch.ones(3), 1)",
        "o.h",
        "o = O({}, 1)",
    ),
    "a buffer of a module": (
        "m.h",
        "m = nn.Module()\nm.register_buffer('h', torch.ones(3))",
        "m.h",
        "m.h = {}",
    ),
    "a plain attribute of a module": ("m.h", "m = nn.Identity()\nm.h = torch.ones(3)", "m.h", "m.h = {}"),
    "an attribute of an inner module": (
        "m.0.h",
        "m = nn.Sequential(nn.Identity())\nm[0].h = torch.ones(3)",
        "m[0].h",
        "m[0].h = {}",
    ),
    "a deque": (
        "q[0]",
        "from collections import deque\nq = deque([0, torch.ones(3)], maxlen=2)",
        "q[-1]",
        "q.append({})",
    ),
    "a set": ("s{...}", "s = {torch.ones(3)}", "next(iter(s))", "s = {{{}}}"),
    "a default argument": ("f.<default h>[0]", "def f(h=[torch.ones(3)]): return h", "f()[0]", "f()[0] = {}"),
    "a cell of a closure": (
        "get.<closure h>",
        "def make():\n    h = torch.ones(3)\n    def get(): return h\n"
        "    def put(x):\n        nonlocal h\n        h = x\n    return get, put\nget, put = make()",
        "get()",
        "put({})",
    ),
    "an attribute of a function": ("f.h", "def f(): pass\nf.h = torch.ones(3)", "f.h", "f.h = {}"),
    "a partial": (
        "p.args[0][0]",
        "import functools\np = functools.partial(print, [torch.ones(3)])",
        "p.args[0][0]",
        "p.args[0][0] = {}",
    ),
    "a bound method": (
        "get.__self__.h",
        "class O:\n    h = 0\n    def get(self): return self.h\nget = O().get\nget.__self__.h = torch.ones(3)",
        "get()",
        "get.__self__.h = {}",
    ),
    "an array of objects": (
        "a[0]",
        "import numpy as np\na = np.empty(1, dtype=object)\na[0] = torch.ones(3)",
        "a[0]",
        "a[0] = {}",
    ),
    "the state of an optimizer": (
        "other.state[...]['h']",
        "q = nn.Parameter(torch.ones(1))\nother = torch.optim.SGD([q])\nother.state[q]['h'] = torch.ones(3)",
        "other.state[q]['h']",
        "other.state[q]['h'] = {}",
    ),
}


@pytest.mark.parametrize("name", HOLDERS)
def test_the_holder_of_a_carried_state(name: str, tmp_path: Path) -> None:
    path, setup, read, write = HOLDERS[name]
    program = f"{setup}\nw = nn.Parameter(torch.ones(3))\nfor i in range(2):\n    "
    program += write.format(f"(({read}) * w).tanh()").replace("{{", "{").replace("}}", "}")
    program += f"\n    ({read}).sum().backward()"
    seen = watch(program, tmp_path)
    diagnosis = seen.only(Kind.FREED)
    assert diagnosis.binding is not None
    assert diagnosis.binding.path.replace(".func", "") == path
    assert diagnosis.binding.file == str(tmp_path / "program.py")
    assert seen.error is not None


def test_a_local_variable_and_its_function(tmp_path: Path) -> None:
    seen = watch(
        """
        w = nn.Parameter(torch.ones(3))
        class Trainer:
            def fit(self):
                h = torch.ones(3)
                for i in range(2):
                    h = (h * w).tanh()
                    h.sum().backward()
        Trainer().fit()
        """,
        tmp_path,
    )
    binding = seen.only(Kind.FREED).binding
    assert binding is not None
    assert (binding.path, binding.root, binding.where) == ("h", "h", "in `Trainer.fit`")


def test_a_gradient_with_history(tmp_path: Path) -> None:
    seen = watch(
        """
        import warnings
        warnings.simplefilter("ignore")
        w = nn.Parameter(torch.ones(3))
        w.exp().sum().backward(create_graph=True)
        for i in range(2):
            (w.grad * 2).pow(2).sum().backward(inputs=[w])
        """,
        tmp_path,
    )
    assert seen.error is not None
    assert "grad" in seen.name()


def test_what_has_hostile_attributes_is_passed_over(tmp_path: Path) -> None:
    seen = watch(
        """
        class Hostile:
            __slots__ = ("x",)
            def __getattr__(self, name): raise ValueError("no")
            def __eq__(self, other): raise ValueError("no")
            __hash__ = None
        class Keys(dict):
            def __getitem__(self, key): raise ValueError("no")
            def items(self): raise ValueError("no")
        hostile, keys = Hostile(), Keys(a=1)
        w = nn.Parameter(torch.ones(3))
        h = torch.ones(3)
        for i in range(2):
            h = (h * w).tanh()
            h.sum().backward()
        """,
        tmp_path,
    )
    assert seen.name() == "h"


def test_objects_that_refer_to_each_other(tmp_path: Path) -> None:
    seen = watch(
        """
        class O: pass
        a, b = O(), O()
        a.b, b.a = b, a
        ring = []
        ring.append(ring)
        w = nn.Parameter(torch.ones(3))
        b.h = torch.ones(3)
        for i in range(2):
            b.h = (b.h * w).tanh()
            b.h.sum().backward()
        """,
        tmp_path,
    )
    assert seen.name() in ("b.h", "a.b.h")
