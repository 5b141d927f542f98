"""Which file an import means: as Python would find it, without running anything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autodetach.projects.imports import MAX_FILE_BYTES, Imports, forget, project_root


def tree(folder: Path, *paths: str) -> None:
    for path in paths:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")


def found(folder: Path, name: str, importer: str) -> str | None:
    path = Imports(str(folder / importer), str(folder)).find(name, str(folder / importer))
    return None if path is None else os.path.relpath(path, folder).replace(os.sep, "/")


@pytest.mark.parametrize(
    ("name", "importer", "expected"),
    [
        ("model", "train.py", "model.py"),
        ("nets", "train.py", "nets/__init__.py"),
        ("nets.small", "train.py", "nets/small.py"),
        (".small", "nets/__init__.py", "nets/small.py"),
        (".", "nets/small.py", "nets/__init__.py"),
        ("..model", "nets/small.py", "model.py"),
        ("..other", "nets/small.py", None),
        ("nets.small", "nets/deep/x.py", "nets/small.py"),
        ("plain.part", "train.py", "plain/part.py"),
        ("forecast.loop", "train.py", "src/forecast/loop.py"),
        ("forecast.loop", "src/forecast/other.py", "src/forecast/loop.py"),
        ("model", "scripts/run.py", "model.py"),
        ("beside", "scripts/run.py", "scripts/beside.py"),
        ("torch", "train.py", None),
        ("random", "train.py", None),
        ("missing", "train.py", None),
        ("model.part", "train.py", None),
    ],
)
def test_found(tmp_path: Path, name: str, importer: str, expected: str | None) -> None:
    tree(
        tmp_path,
        "pyproject.toml",
        "train.py",
        "model.py",
        "random.py",
        "torch/__init__.py",
        "nets/__init__.py",
        "nets/small.py",
        "nets/deep/__init__.py",
        "nets/deep/x.py",
        "plain/part.py",
        "src/forecast/__init__.py",
        "src/forecast/loop.py",
        "src/forecast/other.py",
        "scripts/run.py",
        "scripts/beside.py",
    )
    assert found(tmp_path, name, importer) == expected


@pytest.mark.parametrize(
    ("name", "importer", "expected"),
    [
        ("train.metrics", "it/train/epochs.py", "it/train/metrics.py"),
        ("train.deep.part", "it/train/epochs.py", "it/train/deep/part.py"),
        ("train.metrics", "it/train/deep/part.py", "it/train/metrics.py"),
        ("train.package.part", "it/train/epochs.py", "it/train/package/part.py"),
        ("train.metrics", "it/train/package/part.py", "it/train/metrics.py"),
        ("train", "it/train/epochs.py", None),  # may be installed
        ("train.missing", "it/train/epochs.py", None),
        ("train.deep", "it/train/epochs.py", None),
        ("other.part", "it/train/epochs.py", None),
        ("train.metrics", "it/other/part.py", None),
        ("rain.metrics", "it/train/epochs.py", None),
        ("own.metrics", "it/own/epochs.py", None),  # a project, of which that is not the name
    ],
)
def test_a_folder_may_be_called_by_its_name_in_itself(
    tmp_path: Path, name: str, importer: str, expected: str | None
) -> None:
    """As Python does where the program is run from the folder above; no `__init__.py` makes it a package."""
    tree(
        tmp_path,
        "it/train/epochs.py",
        "it/train/metrics.py",
        "it/train/deep/part.py",
        "it/train/package/__init__.py",
        "it/train/package/part.py",
        "it/other/part.py",
        "it/own/setup.py",
        "it/own/epochs.py",
        "it/own/metrics.py",
    )
    assert found(tmp_path, name, importer) == expected


def test_what_stands_nearer_than_the_folder_itself_comes_first(tmp_path: Path) -> None:
    tree(tmp_path, "setup.py", "it/train/epochs.py", "it/train/metrics.py", "train/metrics.py")
    assert found(tmp_path, "train.metrics", "it/train/epochs.py") == "train/metrics.py"
    (tmp_path / "train" / "metrics.py").unlink()
    forget()
    assert found(tmp_path, "train.metrics", "it/train/epochs.py") == "it/train/metrics.py"


def test_the_files_of_pytorch_do_not_follow_each_other(tmp_path: Path) -> None:
    """However the import is written; a folder of that name that is no package is none of PyTorch."""
    tree(tmp_path, "setup.py", "torch/__init__.py", "torch/nn/__init__.py", "torch/nn/a.py", "torch/nn/b.py")
    for name in (".b", "..nn.b", "torch.nn.b"):
        assert found(tmp_path, name, "torch/nn/a.py") is None
    (tmp_path / "torch" / "__init__.py").unlink()
    forget()
    assert found(tmp_path, ".b", "torch/nn/a.py") == "torch/nn/b.py"


def test_what_is_installed_beside_is_another_project(tmp_path: Path) -> None:
    tree(tmp_path, "site-packages/one/__init__.py", "site-packages/one/a.py", "site-packages/two/__init__.py")
    folder = tmp_path / "site-packages"
    assert found(folder, "two", "one/a.py") is None
    assert found(folder, "one.a", "one/__init__.py") == "one/a.py"
    assert found(folder, ".a", "one/__init__.py") == "one/a.py"


def test_the_project_ends_at_its_mark(tmp_path: Path) -> None:
    tree(tmp_path, "outer.py", "inner/.git/HEAD", "inner/a/b.py")
    assert project_root(str(tmp_path / "inner" / "a")) == str(tmp_path / "inner")
    assert found(tmp_path, "outer", "inner/a/b.py") is None


def test_no_link_leads_out_of_the_project(tmp_path: Path) -> None:
    tree(tmp_path, "secret.py", "it/setup.py", "it/train.py")
    (tmp_path / "it" / "model.py").symlink_to(tmp_path / "secret.py")
    assert found(tmp_path / "it", "model", "train.py") is None


def test_a_relative_import_does_not_leave_the_project(tmp_path: Path) -> None:
    tree(tmp_path, "secret.py", "it/setup.py", "it/train.py")
    assert found(tmp_path / "it", "..secret", "train.py") is None


def test_what_cannot_be_read_is_not_followed(tmp_path: Path) -> None:
    tree(tmp_path, "setup.py", "train.py")
    (tmp_path / "latin.py").write_bytes(b"x = '\xff'\n")
    (tmp_path / "long.py").write_bytes(b"#" * (MAX_FILE_BYTES + 1))
    imports = Imports(str(tmp_path / "train.py"), str(tmp_path))
    for name in ("latin", "long"):
        path = imports.find(name, str(tmp_path / "train.py"))
        assert path is not None
        assert imports.read(path) is None


@pytest.mark.parametrize(
    "line",
    [
        "sys.path.append(os.getcwd())",
        "sys.path.append('.')",
        'sys.path.insert(0, "..")',
        "sys.path.insert(1, os.path.abspath('../'))",
        "sys.path.append(os.path.join(os.path.dirname(__file__), os.pardir))",
        "sys.path.append(\n    str(ROOT))",
        "sys.path += ['..']",
        r'"sys.path.append(\"..\")\n"',
    ],
)
def test_a_script_says_that_its_project_is_around_it(tmp_path: Path, line: str) -> None:
    forget()
    tree(tmp_path, "it/misc/utils.py", "it/misc/other.py", "it/train/train.py", "secret.py")
    assert found(tmp_path, "misc.utils", "it/train/train.py") is None
    forget()
    (tmp_path / "it/train/train.py").write_text(f"import os, sys\n{line}\n")
    assert found(tmp_path, "misc.utils", "it/train/train.py") == "it/misc/utils.py"
    imports = Imports(str(tmp_path / "it/train/train.py"), str(tmp_path))
    assert imports.find(".other", str(tmp_path / "it/misc/utils.py")) == str(tmp_path / "it/misc/other.py")


@pytest.mark.parametrize(
    "line", ["sys.path.append('/opt/lib')", 'sys.path.insert(0, "~/lib")', "sys.path += ['C:/lib']", "print(sys.path)"]
)
def test_a_path_of_one_machine_says_nothing_of_the_project(tmp_path: Path, line: str) -> None:
    forget()
    tree(tmp_path, "misc.py", "train/train.py")
    (tmp_path / "train/train.py").write_text(f"import sys\n{line}\n")
    assert found(tmp_path, "misc", "train/train.py") is None


def test_no_script_looks_beyond_its_project(tmp_path: Path) -> None:
    forget()
    tree(tmp_path, "misc.py", "it/setup.py", "it/scripts/train.py", "a/b/c/train.py")
    for script in ("it/scripts/train.py", "a/b/c/train.py"):
        (tmp_path / script).write_text("import sys\nsys.path.append('../..')\n")
        assert found(tmp_path, "misc", script) is None


GUARD = "if __name__ == '__main__':\n    main()\n"
TRAINS = "for x in data:\n    net(x).backward()\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"from net import Net\n{GUARD}", "net/net.py"),
        (f"from net import Net\n{TRAINS}", "net/net.py"),
        (f"import numpy as np, net, parts.blocks as b\n{GUARD}", "net/net.py"),
        (f"from net import Net\nfrom .parts import blocks\n{GUARD}", "net/__init__.py"),
        (f"from net import Net\nfrom net.parts import blocks\n{GUARD}", "net/__init__.py"),
        (f"from net import Net\nimport common, parts\n{GUARD}", "net/__init__.py"),
        ("from net import Net\ndef train(x):\n    net(x).backward()\n", "net/__init__.py"),
        ("from net import Net\nif __debug__:\n    main()\n", "net/__init__.py"),
    ],
)
def test_the_folder_of_a_script_comes_first_though_it_is_a_package(tmp_path: Path, text: str, expected: str) -> None:
    forget()
    tree(tmp_path, "setup.py", "common.py", "net/__init__.py", "net/net.py", "net/train.py")
    tree(tmp_path, "net/parts/__init__.py", "net/parts/blocks.py")
    (tmp_path / "net/train.py").write_text(text)
    assert found(tmp_path, "net", "net/train.py") == expected
    # What it imports is found where the script finds it.
    imports = Imports(str(tmp_path / "net/train.py"), str(tmp_path))
    assert imports.find("net", str(tmp_path / "net/parts/blocks.py")) == str(tmp_path / expected)
