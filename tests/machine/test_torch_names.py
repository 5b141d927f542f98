"""Operators, factories, random and number functions of PyTorch: the names that the table knows, and no others."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from measured_operations import INPLACE, REJECT_HISTORY, TESTED, arguments, rows, sample_of, tensors_in
from operation_samples import OWN_CALLS, PREFIXES, M, Sample
from torch import Tensor

from autodetach.machine import torch_semantics as table
from autodetach.machine.torch_semantics import MODULES, OPS, Saved, lookup

pytestmark = [
    pytest.mark.usefixtures("one_thread"),
    # Deprecations, prototype notices and hints of PyTorch, none of them about what is measured here.
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def test_import_is_cheap() -> None:
    code = "import sys, autodetach.machine.torch_semantics; print('torch' in sys.modules, 'libcst' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_lookup_of_names_that_are_no_rows() -> None:
    assert lookup("no_such_operation") is table.DEFAULT
    assert lookup("linalg.matmul") == OPS["matmul"]
    assert lookup("special.exp2") == OPS["exp2"]
    assert lookup("requires_grad_").saved is Saved.NOTHING
    assert not lookup("detach_").differentiable
    assert lookup("mul_").inplace
    assert not OPS["mul"].inplace


X = {"a": torch.tensor([5.0, 6.0]), "b": torch.tensor([2.0, 4.0])}
N = {"a": torch.tensor([5, 6]), "b": torch.tensor([2, 1])}
EXPRESSIONS = [
    *("a + b", "a - b", "a * b", "a / b", "a // b", "a % b", "a ** b", "a @ b", "a == b", "a != b", "a < b", "a <= b"),
    *("a > b", "a >= b", "-a", "+a", "a << b", "a >> b", "a & b", "a | b", "a ^ b", "~a"),
]


def operator_in(expression: str) -> str:
    names = {type(node).__name__ for node in ast.walk(ast.parse(expression, mode="eval"))}
    return (names & table.OPERATORS.keys()).pop()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_operators(expression: str) -> None:
    name = table.OPERATORS[operator_in(expression)]
    values = N if name.startswith("bitwise") else X
    operands = [values[v] for v in ("a", "b") if v in expression]
    assert torch.equal(eval(expression, {}, dict(values)), getattr(torch, name)(*operands))
    assert name in OPS


def test_every_operator_of_the_syntax_is_there() -> None:
    assert {operator_in(expression) for expression in EXPRESSIONS} == table.OPERATORS.keys()
    kinds = (*ast.operator.__subclasses__(), *ast.unaryop.__subclasses__(), *ast.cmpop.__subclasses__())
    assert {k.__name__ for k in kinds} - table.OPERATORS.keys() == {"Not", "Is", "IsNot", "In", "NotIn"}


FACTORY_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    **{name: (3,) for name in table.FACTORIES if name.endswith("Tensor")},
    **dict.fromkeys(("eye", "randperm", "fft.fftfreq", "fft.rfftfreq"), (3,)),
    "arange": (3.0,),
    **{f"{w}_window": (3,) for w in ("bartlett", "blackman", "hamming", "hann", "kaiser")},
    **dict.fromkeys(("empty", "ones", "zeros", "rand", "randn"), (2, 3)),
    **dict.fromkeys(("as_tensor", "asarray", "tensor"), ([0.5],)),
    **dict.fromkeys(("linspace", "logspace"), (0, 1, 3)),
    **dict.fromkeys(("tril_indices", "triu_indices"), (2, 2)),
    "empty_permuted": ((2, 3), (1, 0)),
    "empty_strided": ((2, 3), (3, 1)),
    "from_file": (),
    "from_numpy": (np.zeros(3),),
    "frombuffer": (bytearray(8),),
    "full": ((2,), 0.5),
    "normal": (0.0, 1.0, (2,)),
    "randint": (5, (2,)),
    "range": (0, 2),
    "scalar_tensor": (0.5,),
    "sparse_coo_tensor": ([[0]], [0.5]),
}
INTEGER_FACTORIES = {"randint", "randperm", "randint_like"}


@pytest.mark.parametrize("name", sorted(table.FACTORIES))
def test_factories(name: str, tmp_path: Any) -> None:
    prefix, _, bare = name.rpartition(".")
    like = name.endswith("_like") or name.startswith("new_")
    call = getattr(M.make().requires_grad_(), name) if name.startswith("new_") else None
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    if call is not None:
        args = sample_of("Tensor", name).args[1:]
    elif like:
        call = getattr(torch, name)
        args = (M.make().requires_grad_(), *sample_of("torch", name).args[1:])
    else:
        call = getattr(PREFIXES.get(prefix, torch), bare)
        args = FACTORY_ARGUMENTS[name]
    if name == "frombuffer":
        kwargs["dtype"] = torch.float32
    if name == "from_file":
        path = tmp_path / "numbers"
        path.write_bytes(bytes(8))
        args, kwargs = (str(path),), {"size": 2}
    if name in INTEGER_FACTORIES:
        kwargs["dtype"] = torch.float32
    made = call(*args, **kwargs)
    assert not made.requires_grad
    if name in table.TAKES_REQUIRES_GRAD:
        assert call(*args, **kwargs, requires_grad=True).requires_grad
    else:
        with pytest.raises((TypeError, RuntimeError)):
            assert call(*args, **kwargs, requires_grad=True).requires_grad


def test_factories_are_complete() -> None:
    documented = {
        name
        for name in dir(torch)
        if not name.startswith("_")
        and not isinstance(getattr(torch, name), type)
        and "requires_grad (bool" in str(getattr(torch, name).__doc__)
    }
    compressed = {f"sparse_{layout}_tensor" for layout in ("bsc", "bsr", "compressed", "csc", "csr")}
    assert documented - compressed <= table.TAKES_REQUIRES_GRAD


def draws(call: Callable[..., Any], sample: Sample) -> bool:
    _, args, kwargs = arguments(sample)
    before = torch.get_rng_state()
    call(*args, **kwargs)
    return not torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("name", sorted({*TESTED, *INPLACE} - REJECT_HISTORY))
def test_random_operations(name: str) -> None:
    assert all(draws(call, sample) is (name in table.RANDOM) for call, sample in rows(name))


@pytest.mark.parametrize("name", sorted(FACTORY_ARGUMENTS.keys() - {"from_file", "from_numpy", "frombuffer"}))
def test_random_factories(name: str) -> None:
    prefix, _, bare = name.rpartition(".")
    call = getattr(PREFIXES.get(prefix, torch), bare)
    assert draws(call, Sample(FACTORY_ARGUMENTS[name], {})) is (name in table.RANDOM)


def test_every_random_name_is_an_operation_a_factory_or_a_module() -> None:
    assert {*OPS, *INPLACE, *table.FACTORIES, *MODULES} >= table.RANDOM


@pytest.mark.parametrize("name", sorted(table.DETACHING))
def test_detaching(name: str) -> None:
    value = getattr(M.make().requires_grad_().clone(), name)
    assert not (value() if callable(value) else value).requires_grad
    assert not lookup(name).differentiable


def test_number_methods_and_effects_are_attributes_or_functions() -> None:
    assert {*dir(torch), *table.TENSOR_ATTRIBUTES} >= table.NUMBER_METHODS | table.EFFECTS
    assert not table.NUMBER_METHODS & OPS.keys()


def test_tensor_attributes() -> None:
    assert {name for name in dir(Tensor) if not name.startswith("_")} == table.TENSOR_ATTRIBUTES


PLAIN_ARGUMENTS: dict[str, tuple[Any, ...]] = dict.fromkeys(
    ("allclose", "equal", "is_same_size", "is_set_to"), (torch.ones(1),)
)
QUANTIZED = {"q_per_channel_axis", "q_scale", "q_zero_point", "qscheme"}


@pytest.mark.parametrize("name", sorted(table.NUMBER_METHODS))
def test_number_methods(name: str) -> None:
    if name in QUANTIZED:
        per_channel = torch.quantize_per_channel(torch.ones(1), torch.ones(1), torch.zeros(1), 0, torch.qint8)
        per_tensor = torch.quantize_per_tensor(torch.ones(1), 0.1, 0, torch.qint8)
        owner = per_channel if name == "q_per_channel_axis" else per_tensor
    else:
        owner = torch.ones(1).to_sparse() if name == "is_coalesced" else torch.ones(1)
    value = getattr(owner, name)
    if callable(value):
        value = value(*PLAIN_ARGUMENTS.get(name, ()))
    assert not tensors_in(value)


@pytest.mark.parametrize("name", sorted({n for n in TESTED if hasattr(torch, n)} - {"new", *OWN_CALLS}))
def test_numbers_in_place_of_the_first_tensor(name: str) -> None:
    sample = sample_of("torch", name)
    call = getattr(torch, name)
    _, args, kwargs = arguments(sample)
    position = next((i for i, a in enumerate(args) if isinstance(a, Tensor)), None)
    if not callable(call) or position is None:
        return
    # The old constructors take a size.
    args[position] = 1 if args[position].dtype == torch.int64 or name.endswith("Tensor") else 0.5
    if name in table.ACCEPTS_NUMBERS:
        call(*args, **kwargs)
    else:
        with pytest.raises((TypeError, AttributeError, NotImplementedError)):
            call(*args, **kwargs)


@pytest.mark.parametrize("number", [1, 0.5])
@pytest.mark.parametrize("name", sorted(table.TAKES_TWO_TENSORS))
def test_numbers_in_place_of_the_second_tensor(name: str, number: float) -> None:
    call = getattr(torch, name, None) or getattr(torch.nn.functional, name)
    _, args, kwargs = arguments(sample_of("torch", name))
    call(*args, **kwargs)
    args[1] = number
    with pytest.raises((TypeError, AttributeError)):
        call(*args, **kwargs)


@pytest.mark.parametrize("name", ["stack", "cat", "hstack"])
def test_numbers_in_a_list_of_tensors(name: str) -> None:
    with pytest.raises(TypeError):
        getattr(torch, name)([0.5, 0.5])


@pytest.mark.parametrize("name", sorted(n for n in table.ACCEPTS_NUMBERS if n not in OPS and "." not in n))
def test_functions_of_numbers(name: str) -> None:
    more = {"sym_sum": ([1],), **dict.fromkeys(("sym_max", "sym_min", "result_type"), (1, 2))}
    getattr(torch, name)(*{**FACTORY_ARGUMENTS, **more}.get(name, (1,)))
