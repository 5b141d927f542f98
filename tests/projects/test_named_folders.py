"""Which folders a script names where it changes `sys.path`, without running anything."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from autodetach.projects.imports import Imports, forget
from autodetach.projects.named_folders import named_folders


def named(text: str, raw: bytes | None = None) -> list[str]:
    own = os.path.join(os.sep, "it", "tools", "train")
    found = named_folders(raw or text.encode(), own, os.path.join(os.sep, "it"))
    return [at.replace(os.sep, "/") for at in found]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sys.path.append('../lib')", ["/it/tools/lib", "/lib"]),
        ("sys.path.insert(0, r'..\\lib')", ["/it/tools/lib", "/lib"]),
        ("sys.path.append('core')  # ours", ["/it/tools/train/core", "/it/core"]),
        ("sys.path += ['../a', '../b']", ["/it/tools/a", "/a", "/it/tools/b", "/b"]),
        ("sys.path.extend(('../a',))", ["/it/tools/a", "/a"]),
        ("sys.path.append(os.path.abspath('../lib/'))", ["/it/tools/lib", "/lib"]),
        ("sys.path.append(os.path.join('..', 'lib'))", ["/it/tools/lib", "/lib"]),
        ("sys.path.append(os.path.join(os.getcwd(), 'lib'))", ["/it/tools/train/lib", "/it/lib"]),
        ("sys.path.append(os.path.join(os.path.dirname(__file__), '../lib'))", ["/it/tools/lib"]),
        ("sys.path.append(join(dirname(dirname(abspath(__file__))), 'lib'))", ["/it/tools/lib"]),
        (
            "sys.path.append(\n    os.path.join(\n        os.path.dirname(__file__), os.pardir, 'lib'\n))",
            ["/it/tools/lib"],
        ),
        ("sys.path.append(os.path.dirname(os.path.realpath(__file__)) + '/../lib')", ["/it/tools/lib"]),
        ("sys.path.append(os.path.abspath(os.path.join(__file__, '../../lib')))", ["/it/tools/lib"]),
        ("sys.path.append(str(Path(__file__).resolve().parent.parent / 'lib'))", ["/it/tools/lib"]),
        ("sys.path.append(str(Path(__file__).absolute().parents[2] / 'lib'))", ["/it/lib"]),
        ("sys.path.append(Path('..').joinpath('lib').as_posix())", ["/it/tools/lib", "/lib"]),
        ("sys.path.append(os.path.split(os.path.realpath(__file__))[0] + '/lib')", ["/it/tools/train/lib"]),
        ("sys.path.append(os.path.join(sys.path[0], '../lib'))", ["/it/tools/lib"]),
        ("here = osp.dirname(__file__)\nlib = osp.join(here, '..', 'lib')\nsys.path.insert(0, lib)", ["/it/tools/lib"]),
        ("lib = '../a'\nlib = '../b'\nsys.path.append(lib)", []),
        ("a = b\nb = a\nsys.path.append(a)", []),
        ("sys.path.append('/opt/lib')", []),
        ("sys.path.append('~/lib')", []),
        ("sys.path.append('C:\\\\lib')", []),
        ("sys.path.append('..\\0_lib')", []),
        ("sys.path.append('../lib\\x00')", []),
        ("sys.path.append(os.path.join(os.path.dirname(__file__), '\\0', 'lib'))", []),
        ("sys.path.append('../\\ud800')", []),
        ("sys.path.append('./' + os.path.dirname(__file__))", []),
        ("sys.path.insert(0, os.path.join('..', os.path.dirname(__file__), 'lib'))", []),
        ("sys.path.append(os.path.join('/opt', 'lib'))", []),
        ("sys.path.append(os.path.join(root, 'lib'))", []),
        ("sys.path.append(f'{root}/lib')", []),
        ("sys.path.append(os.environ['LIB'])", []),
        ("sys.path.append(find('../lib'))", []),
        ("sys.path.append('../lib'", []),
        ("print(sys.path, '../lib')", []),
    ],
)
def test_named(line: str, expected: list[str]) -> None:
    assert named(f"import os, sys\n{line}\nimport net\n") == expected


def test_named_in_a_notebook() -> None:
    cell = {"cell_type": "code", "source": ['ROOT = os.path.abspath("../lib")\n', "sys.path.append(ROOT)\n", "x = 1"]}
    raw = json.dumps({"cells": [cell]}, indent=1).encode()
    assert named("", raw) == ["/it/tools/lib", "/lib"]


def test_a_named_folder_is_one_of_the_project(tmp_path: Path) -> None:
    """What is named may stand beside the script's folder; nothing outside of the project is looked at."""
    forget()
    for path in ("it/setup.py", "it/my-lib/net.py", "it/deep/er/train.py", "other/secret.py", "it/run/train.py"):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    os.symlink(tmp_path / "other", tmp_path / "it/link")
    for script, up in (("it/deep/er/train.py", "../.."), ("it/run/train.py", "..")):
        at = tmp_path / script
        at.write_text("".join(f"sys.path.append('{up}/{to}')\n" for to in ("my-lib", "../other", "link")))
        imports = Imports(str(at), str(tmp_path))
        assert imports.find("net", str(at)) == str(tmp_path / "it/my-lib/net.py")
        assert imports.find("secret", str(at)) is None


def test_from_the_root_of_the_project(tmp_path: Path) -> None:
    forget()
    for path in ("setup.py", "libs/net.py", "run/train.py"):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("import sys\nsys.path.append('libs')\n")
    at = str(tmp_path / "run/train.py")
    assert Imports(at, str(tmp_path)).find("net", at) == str(tmp_path / "libs/net.py")
    (tmp_path / "run/libs").mkdir()
    (tmp_path / "run/libs/net.py").write_text("")
    forget()
    assert Imports(at, str(tmp_path)).find("net", at) == str(tmp_path / "run/libs/net.py")
