"""The two errors of autograd: which tensor, which line built it, which call freed or changed it."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
import torch

from autodetach.doctor.diagnosis import Kind

from .watching import lines, watch

FREED = {
    "carried over": """
        w = nn.Parameter(torch.ones(3))
        h = torch.ones(3)
        for i in range(3):
            h = (h * w).tanh() # story
            h.sum().backward() # story
        """,
    "built before the loop": """
        w = nn.Parameter(torch.ones(3))
        prior = w.exp() # story
        for i in range(3):
            loss = prior.sum()
            loss.backward() # story
        """,
    "two losses over one trunk": """
        w = nn.Parameter(torch.ones(3))
        trunk = w.exp() # story
        one = trunk.pow(2).sum() # story
        two = trunk.pow(3).sum() # story
        one.backward() # story
        two.backward() # story
        """,
    "by autograd.grad": """
        w = nn.Parameter(torch.ones(3))
        y = w.exp() # story
        torch.autograd.grad(y.sum(), w) # story
        torch.autograd.grad(y.pow(2).sum(), w) # story
        """,
    "by torch.autograd.backward of several": """
        w = nn.Parameter(torch.ones(3))
        y = w.exp() # story
        torch.autograd.backward([y.sum(), y.mean()]) # story
        torch.autograd.backward((y.sum(),)) # story
        """,
    "in a helper function": """
        w = nn.Parameter(torch.ones(3))
        def build():
            return w.exp() # story
        y = build() # story
        y.sum().backward() # story
        y.sum().backward() # story
        """,
}


@pytest.mark.parametrize("name", FREED)
def test_a_freed_graph(name: str, tmp_path: Path) -> None:
    seen = watch(FREED[name], tmp_path)
    diagnosis = seen.only(Kind.FREED)
    assert isinstance(seen.error, RuntimeError)
    assert set(seen.marks["story"]) <= {line for _, line in diagnosis.lines}
    # The failing line comes last, and is what the diagnosis is about.
    assert diagnosis.site is not None
    assert lines(diagnosis)[-1] == diagnosis.site.line == max(seen.marks["story"])
    assert "autodetach:" in "".join(getattr(seen.error, "__notes__", ["autodetach:"]))


def test_of_two_losses_both_are_named(tmp_path: Path) -> None:
    message = watch(FREED["two losses over one trunk"], tmp_path).only(Kind.FREED).message
    assert [f"`{name}`" in message for name in ("one", "two", "trunk")] == [True, True, True]


def test_which_call_of_the_line(tmp_path: Path) -> None:
    seen = watch(
        """
        w = nn.Parameter(torch.ones(3))
        kept = []
        for i in range(6):
            y = w.exp()
            if i == 2:
                kept.append(y)
            if i == 5:
                y = y * kept[0]
            y.sum().backward()
        """,
        tmp_path,
    )
    diagnosis = seen.only(Kind.FREED)
    texts = [step.text for step in diagnosis.story]
    assert any(text.startswith("call 3 of this line: backward frees") for text in texts)
    assert any(text.startswith("call 6 of this line: backward needs") for text in texts)
    assert seen.name() == "kept[0]"


CHANGED = {
    "by the step of an optimizer": (
        "w",
        """
        w = nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([w], lr=0.1)
        loss = (w * w.exp()).sum() # story
        optimizer.zero_grad()
        w.sum().backward()
        optimizer.step() # story
        loss.backward() # story
        """,
    ),
    "a saved result": (
        "y",
        """
        w = nn.Parameter(torch.ones(3))
        y = w.exp() # story
        y += 1 # story
        y.sum().backward() # story
        """,
    ),
    "a saved operand": (
        "y",
        """
        w = nn.Parameter(torch.ones(3))
        y = w + 1
        z = y * w # story
        y.mul_(2) # story
        z.sum().backward() # story
        """,
    ),
    "an element": (
        "y",
        """
        w = nn.Parameter(torch.ones(3))
        y = w.sigmoid() # story
        y[0] = 0 # story
        y.sum().backward() # story
        """,
    ),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_tensor_that_was_changed_in_place(name: str, tmp_path: Path) -> None:
    path, program = CHANGED[name]
    seen = watch(program, tmp_path)
    diagnosis = seen.only(Kind.CHANGED)
    assert seen.name() == path
    assert lines(diagnosis) == seen.marks["story"]


def test_other_errors_are_left_alone(tmp_path: Path) -> None:
    seen = watch("torch.ones(3).sum().backward()", tmp_path)
    assert "does not require grad" in str(seen.error)
    assert seen.diagnoses == ()
    assert not hasattr(seen.error, "__notes__")


def test_only_what_the_inputs_need(tmp_path: Path) -> None:
    """The branch that was freed is not on the way to the inputs: nothing is wrong with this program."""
    seen = watch(
        """
        a, b = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(3))
        left, right = a.exp(), b.exp()
        total = (left + right).sum()
        total.backward(inputs=[a])
        total.backward(inputs=[b])
        """,
        tmp_path,
    )
    assert seen.error is None
    assert seen.diagnoses == ()


HARMLESS = {
    "checkpoint": """
        from torch.utils.checkpoint import checkpoint
        for reentrant in (True, False):
            for i in range(3):
                x = torch.rand(3, requires_grad=True)
                checkpoint(lambda x: (x * w).tanh(), x, use_reentrant=reentrant).sum().backward()
        """,
    "save_on_cpu": """
        for i in range(3):
            with torch.autograd.graph.save_on_cpu():
                loss = (w * w).sum()
            loss.backward()
        """,
    "threads that differentiate": """
        import threading
        def work():
            for i in range(5):
                (w * 2).exp().sum().backward()
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        """,
    "a gradient scaler": """
        optimizer = torch.optim.SGD([w], lr=0.1)
        scaler = torch.amp.GradScaler("cpu")
        for i in range(3):
            optimizer.zero_grad()
            scaler.scale((w * w).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
        """,
    "a compiled function": """
        step = torch.compile(lambda x: (x * w).sum(), backend="eager")
        for i in range(3):
            step(torch.ones(3)).backward()
        """,
    "functional transforms": """
        f = lambda x: (x.tanh() ** 2).sum()
        torch.func.grad(f)(torch.ones(3))
        torch.func.vmap(torch.func.grad(f))(torch.ones(2, 3))
        torch.func.hessian(f)(torch.ones(3))
        torch.func.grad(lambda x: f(x * w))(torch.ones(3)).sum().backward()
        """,
    "forwards in threads over copies": """
        import threading
        model = nn.Linear(3, 1)
        out = [None] * 3
        def forward(n): out[n] = model(torch.rand(4, 3)).pow(2).mean()
        for i in range(3):
            threads = [threading.Thread(target=forward, args=(n,)) for n in range(3)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            sum(out).backward()
        """,
    "a TorchFunctionMode of the program": """
        from torch.overrides import TorchFunctionMode
        class Counting(TorchFunctionMode):
            calls = 0
            def __torch_function__(self, func, types, args=(), kwargs=None):
                Counting.calls += 1
                return func(*args, **(kwargs or {}))
        with Counting():
            for i in range(8):
                (w * 2).exp().sum().backward()
        assert Counting.calls
        """,
    "a TorchDispatchMode": """
        from torch.utils._python_dispatch import TorchDispatchMode
        class Counting(TorchDispatchMode):
            calls = 0
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                Counting.calls += 1
                return func(*args, **(kwargs or {}))
        with Counting():
            for i in range(8):
                (w * 2).exp().sum().backward()
        assert Counting.calls
        """,
    "a device as a context": """
        with torch.device("cpu"):
            for i in range(8):
                (torch.rand(3) * w).exp().sum().backward()
        """,
    "a default device": """
        torch.set_default_device("cpu")
        for i in range(8):
            (torch.rand(3) * w).exp().sum().backward()
        torch.set_default_device(None)
        """,
    "a subclass of Tensor": """
        class Mine(torch.Tensor): pass
        for i in range(3):
            (torch.rand(3).as_subclass(Mine) * w).exp().sum().backward()
        """,
    "hooks on tensors and nodes": """
        for i in range(3):
            y = (w * 2).exp()
            y.register_hook(lambda g: g * 2)
            y.grad_fn.register_prehook(lambda gs: None)
            y.sum().backward()
        """,
    "a differentiation inside another's hook": """
        for i in range(3):
            y = (w * 2).exp()
            def inner(g):
                with torch.enable_grad():
                    (w * 3).exp().sum().backward()
            y.register_hook(inner)
            y.sum().backward()
        """,
    "inference and no_grad": """
        with torch.inference_mode():
            (w * 2).exp()
        with torch.no_grad():
            (w * 2).exp()
        """,
}


@pytest.mark.parametrize("trace", [False, True])
@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_legitimate_stays_as_it_is(name: str, trace: bool, tmp_path: Path) -> None:
    seen = watch("w = nn.Parameter(torch.ones(3))" + "\n" + textwrap.dedent(HARMLESS[name]), tmp_path, trace=trace)
    assert seen.error is None
    assert seen.diagnoses == ()


def test_pytorch_is_as_it_was(tmp_path: Path) -> None:
    from torch.optim import optimizer

    def state() -> tuple[object, ...]:
        return (
            torch.autograd._engine_run_backward,  # type: ignore[attr-defined]
            torch.nn.Module.__call__,
            torch.compile,
            len(optimizer._global_optimizer_post_hooks),
            len(torch.overrides._get_current_function_mode_stack()),  # type: ignore[no-untyped-call]
        )

    before = state()
    watch(FREED["carried over"], tmp_path)
    assert state() == before


def test_a_fault_of_the_doctor_does_not_reach_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from autodetach.doctor import observer

    def broken(*args: object) -> None:
        raise ZeroDivisionError("a fault of the doctor")

    monkeypatch.setattr(observer, "scan", broken)
    with pytest.raises(AssertionError, match="a look has failed"):
        watch("w = nn.Parameter(torch.ones(3))\nw.exp().sum().backward()\ndone = 1", tmp_path)
