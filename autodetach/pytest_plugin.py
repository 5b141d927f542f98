"""The plugin of pytest: with `--autodetach`, a test that leaks graph fails. Without, nothing else is loaded."""

from __future__ import annotations

import pytest

MARKER = "autodetach(allow=False): with allow=True, the test may keep autograd graph (see --autodetach)"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option and the setting."""
    text = "fail tests that gather autograd graph pass after pass, or leave it in a module, a class or a wider fixture"
    group = parser.getgroup("autodetach")
    group.addoption("--autodetach", action="store_true", default=None, help=text)
    group.addoption(
        "--no-autodetach", action="store_false", dest="autodetach", help="whatever the setting `autodetach` says"
    )
    parser.addini("autodetach", text, type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Load the observer if it is asked for."""
    config.addinivalue_line("markers", MARKER)
    asked = config.getoption("autodetach")
    if config.getini("autodetach") if asked is None else asked:
        from autodetach.doctor.testing import Guard

        config.pluginmanager.register(Guard(), "autodetach-guard")
