"""What all tests have in common.

The files that take longest begin first: with `--dist loadfile`, whoever gets one at the end lets all others wait.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

LONG = frozenset(
    """
    test_pythons test_pre_commit test_fuzz test_soak test_readme test_explain_real test_server test_run_shown
    test_fixtures_run test_generated
    """.split()
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.stem not in LONG)


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Many small operations of PyTorch, which are quicker without threads of its own."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
