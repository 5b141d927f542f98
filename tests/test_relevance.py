"""Which files need not be run: none of those in which the machine finds anything."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from autodetach import checker, relevance
from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.machine import torch_modules, words
from autodetach.machine.exploring import analyse
from autodetach.machine.interpreter import Machine
from autodetach.machine.oracle import Policy
from autodetach.projects.imports import Imports
from autodetach.projects.project import Files, parse
from autodetach.relevance import imports_in, in_bytes, in_tree, is_idle
from autodetach.source import Source

ROOT = Path(__file__).parent.parent
PROGRAMS = sorted({*(ROOT / "fixtures").rglob("*.py"), *(ROOT / "autodetach").rglob("*.py")})


def never(*_: object) -> bool:
    return False


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_finding_is_lost(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is idle has no finding if it is run all the same, nor any history, nor a differentiation."""
    source = Source.from_bytes(path.read_bytes(), path.name)
    finder = Imports(str(path), str(ROOT))
    tree = parse(source)
    by_bytes = is_idle(source.raw, str(path), finder, {})
    by_tree = is_idle(source.raw, str(path), finder, {}, tree)
    assert by_tree or not by_bytes
    if not by_tree or not relevance.may_matter(source.raw):
        return
    monkeypatch.setattr(checker, "is_idle", never)
    assert check(source, CheckOptions(), path=str(path), finder=finder).findings == ()
    for run in analyse(tree, project=Files(str(path), source, tree, finder)).runs:
        assert run.machine.differentiations == []
        assert [node for node in run.machine.nodes if not node.weak] == []


@pytest.mark.parametrize(
    "code",
    [
        "loss.backward()",
        "accelerator.backward(loss)",
        "self.manual_backward(loss)",
        "getattr(loss, 'backward')()",
        "pool.map(loss.backward, xs)",
        "torch.autograd.grad(y, x)",
        "from torch.autograd import grad as derivative\nderivative(y, x)",
        "from torch import autograd\ngetattr(autograd, 'grad')(y, x)",
        "from torch import autograd as A\nA.grad(y, x)",
        "import torch.autograd as A\nask = A.grad",
        "derive = torch.autograd\nderive.grad(y, x)",
        "from torch.autograd import backward as go",
        "class A:\n    def training_step(self, x):\n        return x",
        "torch.zeros(3, requires_grad=True)",
        "torch.zeros(3, requires_grad=flag)",
        "torch.zeros(3, **{'requires_grad': True})",
        "options['requires_grad'] = True\ntorch.zeros(3, **options)",
        "def zeros(requires_grad=True):\n    return torch.zeros(3, requires_grad=requires_grad)",
        "x.requires_grad = True",
        "x.requires_grad_()",
        "setattr(x, 'requires_grad', True)",
        "nn.Parameter(x)",
        "P(x)\nfrom torch.nn import Parameter as P",
        "from torch.autograd import Variable as V",
        "Variable(x, True)",
        "nn.Linear(1, 1)",
        "torch.nn.modules.linear.Linear(1, 1)",
        "import torch.nn as N\nN.Linear(1, 1)",
        "import torch.nn as N\ngetattr(N, kind)",
        "from torch import nn as N\nmake(N)",
        "from torch.nn import Linear\nLinear(1, 1)",
        "from torch.nn import Unheard\nclass A(Unheard): pass",
        "layers = [nn.GRU, nn.LSTM]",
        "class A(nn.Module): pass",
        "class A(pl.LightningModule): pass",
        "class A(torch.nn.modules.batchnorm._NormBase): pass",
        "model.parameters()",
        "ask = model.train",
        "getattr(model, 'eval')()",
        "from torch_geometric.nn import GCNConv\nGCNConv(3, 3)",
        "from mine.nn import _Encoder\n_Encoder(3)",
        "x.data[0]",
        "(x.data)[0]",
    ],
)
def test_what_matters(code: str) -> None:
    whole = f"import torch\n{code}\n"
    assert in_bytes(whole.encode())
    assert in_tree(ast.parse(whole))


@pytest.mark.parametrize(
    "code",
    [
        "def f(x: nn.Module) -> nn.Linear: ...",
        "x: nn.Module = make()",
        "isinstance(x, (nn.Linear, torch.nn.Parameter))",
        "def f():\n    '''loss.backward()'''",
        "# loss.backward()",
        "class F:\n    @staticmethod\n    def backward(ctx, g):\n        return g",
        "torch.zeros(3, requires_grad=False)",
        "torch.zeros(3, requires_grad=x.requires_grad)",
        "print('requires_grad', options['requires_grad'])",
        "f(sys.modules)",
        "f(p.kind is inspect.Parameter.VAR_POSITIONAL)  # of backward",
        "KINDS = ['backward', 'train']\ngetattr(options, 'kind', None)\nsetattr(options, 'kind', KINDS)",
        "from torch.nn.functional import softplus\nsoftplus(x)",
        "from torch_geometric.nn import global_mean_pool\nglobal_mean_pool(x, batch)",
        "import torch.nn as N\ndef f(x: N.Linear): ...",
        "if x.train: names = [p.name for p in signature.parameters]",
        "n = len(signature.parameters)",
        "hint = 'for a Module'",
        "(self.train) = 3",
        "w = w - p.grad  # as autograd has it",
        "class F(torch.autograd.Function): pass  # for nn",
        "torch.nn.modules.utils._pair(3)",
    ],
)
def test_what_is_said_and_not_evaluated(code: str) -> None:
    whole = f"import torch\n{code}\n"
    assert in_bytes(whole.encode())
    assert not in_tree(ast.parse(whole))


def test_what_is_not_said_at_all() -> None:
    assert not in_bytes(b"import torch\nretrain = evaluate = gradient = mnn = metadata = torch.zeros(3)\n")
    assert not in_bytes(b"import torch\nfor p in signature.parameters: x = node.children[0], w.data.shape, w.grad\n")
    assert not in_bytes(b"import torch\ntorch.autograd.profiler.profile(VariableTracker())\n")


def test_the_words_are_those_of_the_machine() -> None:
    with_parameters = {name for name, module in torch_modules.MODULES.items() if module.params}
    assert {"Linear", "LSTM", "BatchNorm2d"} <= with_parameters
    for name in with_parameters:
        assert in_tree(ast.parse(f"x = {name}"))
    for word in words.EVIDENCE:
        assert in_bytes(f"import torch\nx.{word}()".encode())
    assert Machine(Policy(), 1).nodes == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import a", {"a"}),
        ("import a.b as c, d", {"a.b", "d"}),
        ("from a.b import c", {"a.b", "a.b.c"}),
        ("from . import a", {".", ".a"}),
        ("from .a import (\n    b,\n    c as d,\n)", {".a", ".a.b", ".a.c"}),
        ("x = 1; import a", {"a"}),
        ("from a \\\n    import b", {"a", "a.b"}),
        ("import \\\r\n    a", {"a"}),
        ("    if x: from .. import a", {"..", "..a"}),
        ("from a import *", {"a"}),
        ('a = importlib.import_module("b.c")', {"b.c"}),
        ("import_module('.b', package='a')", {"a.b"}),
        ("import_module( name = '.b', package=__package__)", {".b"}),
        ("a = __import__('b')", {"b"}),
    ],
)
def test_imports_in_bytes(text: str, names: set[str]) -> None:
    assert names <= set(imports_in(text.encode()))


def test_what_is_imported_counts(tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text("")
    (tmp_path / "far.py").write_text("import torch\nnet = torch.nn.Linear(1, 1)\n")
    (tmp_path / "near.py").write_text("from far import net\n")
    path = str(tmp_path / "a.py")
    raw = b"import torch\nfrom near import net\nkept = []\nfor x in range(100):\n    kept.append(net(torch.rand(1)))\n"
    assert not is_idle(raw, path, Imports(path, str(tmp_path)), {})
    source = Source.from_bytes(raw, "a.py")
    assert [f.code for f in check(source, CheckOptions(), path=path, finder=Imports(path, "")).findings] == ["AD102"]
    assert is_idle(raw, path, Imports(path, ""), {str(tmp_path / "far.py"): b"net = 1\n"})
    assert is_idle(raw, path, None, {})
    (tmp_path / "far.py").write_bytes(b"#" * 300_000)
    assert not is_idle(raw, path, Imports(path, ""), {}) or relevance.MAX_FILES == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from near import epoch\n\nprint(epoch(3))\n", ["AD101"]),
        ("import near\n\nif __name__ == '__main__':\n    near.epoch(3)\n", ["AD101"]),
        ("from named import run\n\nrun(3)\n", ["AD101"]),
        ("def main():\n    from near import epoch\n    epoch(3)\n\n\nmain()\n", ["AD101"]),
        ("import mxnet\nfrom near import epoch\n\nepoch(3)\n", []),
        ("from near import epoch\n\nEPOCH = epoch\n", []),  # which only names it
        ("from elsewhere import epoch\n\nepoch(3)\n", []),
        ("print(3)\n", []),
    ],
)
def test_what_is_run_may_leave_pytorch_to_what_it_imports(tmp_path: Path, text: str, expected: list[str]) -> None:
    (tmp_path / "setup.py").write_text("")
    (tmp_path / "named.py").write_text("from near import epoch as run\n")
    (tmp_path / "near.py").write_text(
        "import torch\n\nnet = torch.nn.Linear(1, 1)\n\n\ndef epoch(n):\n    total = 0\n"
        "    for x in range(n):\n        total += net(torch.rand(1)).sum()\n    return total.item()\n"
    )
    path = str(tmp_path / "a.py")
    finder = Imports(path, str(tmp_path))
    source = Source.from_bytes(text.encode(), "a.py")
    assert is_idle(source.raw, path, finder, {}) is not bool(expected)
    assert [f.code for f in check(source, CheckOptions(), path=path, finder=finder).findings] == expected


def test_who_puts_a_program_together_has_pytorch_near(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "setup.py").write_text("")
    for n in range(8):
        (tmp_path / f"m{n}.py").write_text(f"import m{n + 1}\n")
    (tmp_path / "m8.py").write_text("import torch\nnet = torch.nn.Linear(1, 1)\n")
    path = str(tmp_path / "a.py")
    finder = Imports(path, "")
    assert not is_idle(b"import m0\nprint(m0)\n", path, finder, {})
    assert is_idle(b"import m0\nprint(m0)\n", path, finder, {str(tmp_path / "m8.py"): b"net = 1\n"})
    monkeypatch.setattr(relevance, "MAX_FILES_BEFORE_TORCH", 4)
    assert is_idle(b"import m0\nprint(m0)\n", path, finder, {})


def test_a_file_without_the_words_is_not_even_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from autodetach import perform
    from autodetach.disk.files import FoundFile
    from autodetach.perform import run_one
    from autodetach.task import Outcome, Task

    path = tmp_path / "a.py"
    task = Task(FoundFile(str(path), "a.py"), CheckOptions())
    monkeypatch.setattr(perform, "read", lambda *_: pytest.fail("decoded"))
    path.write_bytes(b"import torch\nx = '\xff'\n")
    assert run_one(task) == Outcome(task.file)
    path.write_bytes(b"import torch\nnet = torch.nn.Linear(1, 1)\n")
    with pytest.raises(pytest.fail.Exception):
        run_one(task)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import mxnet as mx\n# not PyTorch\nexecutor.backward()", False),
        ("import caffe\nnet = caffe.Net(proto, caffe.TRAIN)\nnet.backward()", False),
        ("from tensorflow import keras\nloss.backward()", False),
        ("    import jax, torch\nloss.backward()", True),
        ("import mxnet\nfrom pytorch_lightning import Trainer\nloss.backward()", True),
        ("from . import mxnet_like\nloss.backward()", True),
        ("loss.backward()", True),
        ("loss.forward()", False),
    ],
)
def test_the_backward_of_another_framework_is_none_of_ours(code: str, expected: bool) -> None:
    assert relevance.may_matter(code.encode()) is expected
