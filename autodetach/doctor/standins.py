"""What stands in for PyTorch's own functions while they are observed: it does the same, and somebody hears of it."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Protocol

from autodetach.doctor.journal import Call
from autodetach.doctor.nodes import hooks_are_used
from autodetach.doctor.patching import replace
from autodetach.doctor.scan import Scan


class Listener(Protocol):
    """Whoever observes. The frame is that which has called PyTorch."""

    def before(
        self, outputs: Any, args: tuple[Any, ...], accumulates: bool, frame: FrameType
    ) -> tuple[Call, Scan | None]:
        """A differentiation begins."""

    def after(self, call: Call, frame: FrameType) -> None:
        """It has succeeded."""

    def failed_with(self, call: Call, seen: Scan | None, outputs: Any, error: RuntimeError, frame: FrameType) -> None:
        """It has raised."""

    def before_forward(self, frame: FrameType) -> None:
        """A module is called, and not by another one."""

    def after_step(self, optimizer: Any, frame: FrameType) -> None:
        """An optimizer has stepped."""

    def compiles(self) -> None:
        """`torch.compile` is called."""


class StandIns:
    """In place until `leave`."""

    def __init__(self, torch: Any, listener: Listener) -> None:
        self._listener = listener
        self._compiling = torch.compiler.is_compiling
        self._inside = threading.local()
        self._undo: list[Callable[[], None]] = []
        self._replace(torch.autograd, "_engine_run_backward", self._engine)
        self._replace(torch.nn.Module, "__call__", self._module_call)
        self._replace(torch, "compile", self._compile)
        raw = torch._C._autograd
        if not hasattr(raw.SavedTensor, "data"):
            self._replace(raw, "_push_saved_tensors_default_hooks", self._push_hooks)
        optimizer = sys.modules["torch.optim.optimizer"]
        self._undo.append(optimizer.register_optimizer_step_post_hook(self._after_step).remove)

    def leave(self) -> None:
        """PyTorch is as it was."""
        while self._undo:
            self._undo.pop()()

    def _replace(self, owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        self._undo.append(replace(owner, name, make))

    def _engine(self, original: Callable[..., Any]) -> Callable[..., Any]:
        inside, listener = self._inside, self._listener

        @functools.wraps(original)
        def run_backward(outputs: Any, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if not self._undo or getattr(inside, "backward", False):
                return original(outputs, *args, **kwargs)  # a checkpoint computes its part again
            inside.backward = True
            try:
                frame = sys._getframe(1)
                call, seen = listener.before(outputs, args, kwargs.get("accumulate_grad", True), frame)
                try:
                    result = original(outputs, *args, **kwargs)
                except RuntimeError as error:
                    listener.failed_with(call, seen, outputs, error, frame)
                    raise
                listener.after(call, frame)
                return result
            finally:
                inside.backward = False

        return run_backward

    def _module_call(self, original: Callable[..., Any]) -> Callable[..., Any]:
        inside, listener, compiling = self._inside, self._listener, self._compiling

        def __call__(module: Any, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if compiling() or not self._undo or getattr(inside, "module", False):
                return original(module, *args, **kwargs)
            inside.module = True
            try:
                listener.before_forward(sys._getframe(1))
                return original(module, *args, **kwargs)
            finally:
                inside.module = False

        return __call__

    def _compile(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def compile(*args: Any, **kwargs: Any) -> Any:
            self._listener.compiles()
            return original(*args, **kwargs)

        return compile

    def _push_hooks(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def push(*args: Any) -> Any:
            hooks_are_used()
            return original(*args)

        return push

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self._listener.after_step(optimizer, sys._getframe(1))
