"""The wheel, installed with the oldest and the newest supported Python of this machine, says the same with both."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_installed_package_says_the_same_everywhere() -> None:
    command = [sys.executable, "-m", "tests.pythons", "--short"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", .whl: " in done.stdout
