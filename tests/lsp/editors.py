"""Editors that tests run. They must be there where the tests decide, and are left out elsewhere."""

from __future__ import annotations

import os
import shutil

import pytest


def editor(program: str) -> str:
    """The path of an editor. Fails under CI=true, skips elsewhere, if it is not installed."""
    found = shutil.which(program)
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"no program '{program}' here, which this test runs; .ci/run installs it as root on Debian")
        pytest.skip(f"no program '{program}' here")
    return found
