"""`NamedTuple` as `typing` has it, made in less than half the time, which counts where many are made at every start.

That of `typing` compiles each annotation, even under `from __future__ import annotations`, where it stays a string that
nobody reads (`typing.NamedTupleMeta`, `ForwardRef`). A class made here is one of `collections.namedtuple`, has the
annotations as they are written, and can have neither other bases nor type parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    class _Maker(type):
        """Makes a named tuple of the body of a class, in place of the class."""

        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = body.get("__annotations__", {})
            defaults = [body[field] for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            for key, value in body.items():
                if key not in fields:
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Maker):
        """What classes derive from; see `typing.NamedTuple`."""
