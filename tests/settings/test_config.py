"""Settings from pyproject.toml and from the command line."""

from __future__ import annotations

from pathlib import Path

import fake_checker
import pytest

from autodetach.checks import CheckOptions
from autodetach.settings.config import DEFAULT_EXCLUDE, ConfigError, Configuration, Overrides, Settings


@pytest.fixture(autouse=True)
def _fake_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autodetach.settings.selection.RULES", fake_checker.RULES)


def configure(folder: Path, text: str, *, header: str = "[tool.autodetach]\n") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(header + text, encoding="utf-8")


def settings(folder: Path, overrides: Overrides | None = None, *, config: str | None = None) -> Settings:
    return Configuration(str(folder), overrides or Overrides(), config).settings_for(str(folder))


def options(folder: Path, overrides: Overrides | None = None, name: str = "a.py") -> CheckOptions:
    return settings(folder, overrides).options_for(f"{folder.as_posix()}/{name}")


def test_without_a_file_everything_is_on(tmp_path: Path) -> None:
    assert options(tmp_path) == CheckOptions()
    assert not settings(tmp_path).unsafe_fixes


@pytest.mark.parametrize("name", DEFAULT_EXCLUDE)
def test_what_is_excluded_by_default(tmp_path: Path, name: str) -> None:
    assert settings(tmp_path).excludes(f"{tmp_path.as_posix()}/a/{name}")


def test_every_key_is_read(tmp_path: Path) -> None:
    configure(
        tmp_path,
        """
        select = ["AD1", "walked-twice"]
        ignore = ["AD102"]
        exclude = ["old"]
        extend-exclude = ["gen/*.py"]
        unsafe-fixes = true
        prefer = ["detach", "sum"]
        per-file-ignores = { "tests/*" = ["AD2"] }
        """,
    )
    read = settings(tmp_path)
    root = tmp_path.as_posix()
    assert read.unsafe_fixes
    assert read.options_for(f"{root}/a.py") == CheckOptions(frozenset({"AD101", "AD201"}), "detach", "sum")
    assert read.options_for(f"{root}/tests/x/a.py").codes == frozenset({"AD101"})
    assert [read.excludes(f"{root}/{path}") for path in ("old", "gen/x/a.py", ".venv", "a.py")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("prefer", "expected"),
    [('"sum"', ("item", "sum")), ('["detach"]', ("detach", "retain")), ("[]", ("item", "retain"))],
)
def test_prefer_is_a_string_or_a_list(tmp_path: Path, prefer: str, expected: tuple[str, str]) -> None:
    configure(tmp_path, f"prefer = {prefer}")
    read = options(tmp_path)
    assert (read.prefer_accumulate, read.prefer_shared) == expected


def test_per_file_ignores_work_without_a_selection(tmp_path: Path) -> None:
    configure(tmp_path, '[tool.autodetach.per-file-ignores]\n"a.py" = ["AD1"]\n"*_test.py" = ["ALL"]', header="")
    assert options(tmp_path).codes == frozenset({"AD201"})
    assert options(tmp_path, name="x/b_test.py").codes == frozenset()
    assert options(tmp_path, name="b.py").codes is None


def test_the_nearest_file_with_our_table_counts(tmp_path: Path) -> None:
    configure(tmp_path, 'select = ["AD1"]\nexclude = ["x/y"]')
    configure(tmp_path / "a", "", header='[project]\nname = "a"\n')
    configure(tmp_path / "a" / "b", 'select = ["AD2"]')
    configuration = Configuration(str(tmp_path), Overrides())
    codes = [configuration.settings_for(str(tmp_path / name)).codes for name in ("", "a", "a/b", "a/b/c")]
    assert codes == [frozenset({"AD101", "AD102"})] * 2 + [frozenset({"AD201"})] * 2
    in_a = configuration.settings_for(str(tmp_path / "a"))
    assert in_a.excludes(f"{tmp_path.as_posix()}/x/y"), "patterns start from the folder of their file"
    assert not in_a.excludes(f"{tmp_path.as_posix()}/a/x/y")


def test_the_command_line_speaks_last(tmp_path: Path) -> None:
    configure(tmp_path, 'select = ["AD1"]\nignore = ["AD101"]\nunsafe-fixes = true\nexclude = ["old"]')
    assert options(tmp_path, Overrides(ignore=("AD102",))).codes == frozenset()
    assert options(tmp_path, Overrides(select=("AD101",))).codes == frozenset({"AD101"})
    read = settings(tmp_path, Overrides(unsafe_fixes=False, exclude=("new",)))
    assert not read.unsafe_fixes
    assert [read.excludes(f"{tmp_path.as_posix()}/{name}") for name in ("old", "new")] == [True, True]


def test_a_file_given_by_hand_is_used_for_all(tmp_path: Path) -> None:
    configure(tmp_path / "a", 'select = ["AD1"]')
    given = tmp_path / "other.toml"
    given.write_text('[tool.autodetach]\nselect = ["AD2"]\nexclude = ["x/y"]')
    read = Configuration(str(tmp_path), Overrides(), str(given)).settings_for(str(tmp_path / "a"))
    assert read.codes == frozenset({"AD201"})
    assert read.excludes(f"{tmp_path.as_posix()}/x/y"), "patterns start from the current folder"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('selct = ["AD1"]', "[tool.autodetach] selct: unknown key; did you mean `select`?"),
        ("unsafe_fixes = true", "[tool.autodetach] unsafe_fixes: unknown key; did you mean `unsafe-fixes`?"),
        ("zzzzzz = 1", "[tool.autodetach] zzzzzz: unknown key"),
        ('select = "AD1"', 'select: must be a list of strings, such as ["a", "b"], not a string'),
        ("ignore = [1]", 'ignore: must be a list of strings, such as ["a", "b"], not a list with a number'),
        ("exclude = {}", "not a table"),
        ("extend-exclude = 1979-05-27", "not a date or time"),
        ('unsafe-fixes = "yes"', "unsafe-fixes: must be true or false, not a string"),
        ("unsafe-fixes = 1", "not a number"),
        ('per-file-ignores = ["AD1"]', 'per-file-ignores: must be a table, such as {"tests/*" = ["AD1"]}, not a list'),
        ('per-file-ignores = { "a" = true }', 'per-file-ignores: "a": must be a list of strings'),
        ('per-file-ignores = { "a" = ["AD9"] }', 'per-file-ignores."a": there is no rule "AD9"'),
        ('prefer = "items"', '"items" is none of "item", "detach", "retain", "sum"; did you mean `item`?'),
        ('prefer = ["item", "detach"]', '"item" and "detach" exclude each other'),
        ('prefer = ["sum", "retain"]', '"retain" and "sum" exclude each other'),
        ("prefer = true", "prefer: must be a list of strings"),
        ('select = ["AD1O1"]', 'select: there is no rule "AD1O1"; did you mean AD101 (accumulated-loss)?'),
        ('ignore = ["walked-twise"]', "did you mean AD201 (walked-twice)?"),
        ("select = [", "not valid TOML: "),
    ],
)
def test_a_wrong_setting_names_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    configure(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        options(tmp_path)
    assert message in str(caught.value)
    assert str(caught.value).startswith("pyproject.toml: ")
    assert "\n" not in str(caught.value)


def test_a_wrong_option_names_the_option(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r'^--select: there is no rule "AD9"'):
        settings(tmp_path, Overrides(select=("AD1", "AD9")))
    with pytest.raises(ConfigError, match=r'^--ignore: there is no rule "x"'):
        settings(tmp_path, Overrides(ignore=("x",)))


@pytest.mark.parametrize("text", ["[tool]\nautodetach = 3\n", '[[tool.autodetach]]\nselect = ["AD1"]\n'])
def test_our_table_must_be_a_table(tmp_path: Path, text: str) -> None:
    configure(tmp_path, text, header="")
    with pytest.raises(ConfigError, match=r"tool\.autodetach must be a table"):
        settings(tmp_path)


@pytest.mark.parametrize("text", ["[broken", "tool = 1  # autodetach", "# autodetach\n[tool.black]\n"])
def test_files_that_are_not_about_us_are_no_error(tmp_path: Path, text: str) -> None:
    configure(tmp_path, text, header="")
    assert settings(tmp_path).codes is None


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"[tool.autodetach]\n# \xff\n")
    with pytest.raises(ConfigError, match="not valid TOML"):
        settings(tmp_path)


def test_isolated_uses_no_file(tmp_path: Path) -> None:
    configure(tmp_path, 'select = ["AD1"]\nunsafe-fixes = true\n')
    isolated = Configuration(str(tmp_path), Overrides(ignore=("AD2",)), isolated=True)
    read = isolated.settings_for(str(tmp_path / "inner"))
    assert not read.unsafe_fixes
    assert read.codes == settings(tmp_path / "elsewhere", Overrides(ignore=("AD2",), select=("ALL",))).codes
    assert isolated.file_for(str(tmp_path)) is None


def test_a_given_file_must_be_there_and_be_about_us(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml: cannot read: no such file"):
        settings(tmp_path, config="gone.toml")
    configure(tmp_path, "", header="[project]\n")
    with pytest.raises(ConfigError, match=r"there is no \[tool.autodetach\] in it"):
        settings(tmp_path, config=str(tmp_path / "pyproject.toml"))
