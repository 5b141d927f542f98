"""Which functions do the same for a tensor and for the number in it."""

from __future__ import annotations

import ast
import textwrap

import pytest

from autodetach.machine.converters import ASKING, only_converts
from autodetach.machine.spelling import last_word

ALIKE = """
if isinstance(v, torch.Tensor):
    v = v.item()
if isinstance(v, float):
    return f"{v:.3f}"
return str(v)
---
if torch.is_tensor(v):
    v = v.detach()
    if v.is_cuda:
        v = v.cpu()
    v = v.item()
return v
---
if isinstance(v, torch.Tensor):
    assert v.numel() == 1 and v.dim() == 0
    return v.item()
return v
---
if isinstance(v, torch.Tensor):
    if v.numel() > 1:
        return v.tolist()
    return v.item()
return v
---
if torch.is_tensor(v):
    v = v.item()
if not isinstance(v, float):
    raise TypeError(type(v))
return v
"""
UNLIKE = """
if isinstance(v, torch.Tensor):
    v = v.item()
v = others[0]
if isinstance(v, float):
    return "none"
return v
---
if isinstance(v, torch.Tensor):
    v = v.item()
for v in others:
    if isinstance(v, float):
        return "none"
return v
---
if isinstance(v, torch.Tensor):
    v = v.item()
if any(isinstance(v, float) for v in others):
    return "none"
return v
---
if torch.is_tensor(v):
    v = v.detach().numpy()
if isinstance(v, np.ndarray):
    v = v * 100
return v
---
if torch.is_tensor(v):
    if brief:
        v = v.item()
if isinstance(v, float):
    return "none"
return v
---
if torch.is_tensor(v):
    assert v < 100
    v = v.item()
return v
---
if torch.is_tensor(v):
    v = torch.stack([v, v])
    if v.numel() == 1:
        return v.item()
    return len(v)
return v
---
if torch.is_tensor(v):
    if note(v):
        v = v.cpu()
    v = v.item()
return v
---
if torch.is_tensor(v):
    if v.numel() == 1:
        return 100 * v.item()
    return v.tolist()
return v
---
if isinstance(self.v, torch.Tensor):
    self.v = self.v.item()
self.reset()
if isinstance(self.v, float):
    return "none"
return self.v
---
if isinstance(v, float):
    return "none"
if torch.is_tensor(v):
    v = v.item()
return v
"""


def _are_alike(body: str) -> bool:
    """Whether each test of a type in a function is found only to convert."""
    function = ast.parse("def f(v):\n" + textwrap.indent(body.strip(), "    ")).body[0]
    assert isinstance(function, ast.FunctionDef)
    found = [
        only_converts(function.body, statement, function, test)
        for statement in ast.walk(function)
        if isinstance(statement, (ast.If, ast.Assign))
        for part in ([statement.test] if isinstance(statement, ast.If) else [statement.value])
        for test in ast.walk(part)
        if isinstance(test, ast.Call) and last_word(test.func) in ASKING
    ]
    assert found
    return all(found)


@pytest.mark.parametrize("body", ALIKE.split("---"))
def test_a_number_is_treated_as_the_tensor_was(body: str) -> None:
    assert _are_alike(body)


@pytest.mark.parametrize("body", UNLIKE.split("---"))
def test_a_number_would_be_treated_otherwise(body: str) -> None:
    assert not _are_alike(body)
