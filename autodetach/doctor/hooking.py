"""Being told when the program has imported PyTorch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def when_imported(name: str, then: Callable[[Any], None]) -> None:
    """Call `then` with the module as soon as it is imported: now, if it is."""
    module = sys.modules.get(name)
    if module is not None:
        then(module)
        return
    import wrapt

    wrapt.register_post_import_hook(then, name)
