"""The page of a rule: its form, its examples, and the folder of programs that it is tested with."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import textwrap
from pathlib import Path

import pytest

from autodetach import rules
from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.fixing import fix
from autodetach.rules import RULES, Rule
from autodetach.source import Source

FIXTURES = Path(__file__).parent.parent / "fixtures"
HEADINGS = (
    "What it does",
    "Why is this bad",
    "Example",
    "Use instead",
    "Fix safety",
    "When it stays silent",
    "References",
)
FAMILIES = "12345"
AT_LEAST = 8

# The names that an example may use without saying what they are: those of ordinary training code.
SETTING = """\
import torch
from torch import nn

loader = [(torch.randn(4, 8), torch.randn(4, 8)) for _ in range(3)]
x, y = loader[0]
z = real = a = b = x
ones, zeros = torch.ones(4, 1), torch.zeros(4, 1)
criterion = criterion_a = nn.MSELoss()
criterion_b, bce = nn.L1Loss(), nn.BCEWithLogitsLoss()
lr, total, h = 0.1, 0.0, torch.zeros(1, 8)
log_scale = nn.Parameter(torch.zeros(8))
model, rnn = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8)), nn.RNN(8, 8)
optimizer = torch.optim.SGD([log_scale, *model.parameters(), *rnn.parameters()], lr=lr)
G, D = nn.Linear(8, 8), nn.Linear(8, 1)
opt_g, opt_d = torch.optim.SGD(G.parameters(), lr=lr), torch.optim.SGD(D.parameters(), lr=lr)
table, encoder = nn.Parameter(torch.randn(8, 8)), nn.Sequential(nn.Linear(8, 8), nn.Tanh())
opt_a, opt_b = torch.optim.SGD([table], lr=lr), torch.optim.SGD(encoder.parameters(), lr=lr)
code = encoder(x)
loss_a, loss_b = criterion(code, y @ table), criterion(code @ table.detach(), y)
loss = criterion(model(x), y)
"""
# What comes after an example that shows less than the fault takes.
CONTINUATION = {
    "attached-fake": """\
opt_d.zero_grad()
loss_d.backward()
opt_d.step()
loss_g = bce(D(fake), ones)
opt_g.zero_grad()
loss_g.backward()
opt_g.step()
""",
    "graph-outside-loop": "    optimizer.zero_grad()\n",
}

each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)


def section(rule: Rule, heading: str) -> str:
    return rule.page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def code_in(rule: Rule, heading: str) -> str:
    """The first block of Python below a heading."""
    block = re.search(r"^```python\n(.*?)^```$", section(rule, heading), re.MULTILINE | re.DOTALL)
    assert block, f"no block of Python below {heading!r}"
    return block[1]


def program_of(rule: Rule) -> Source:
    """The example of a page as a whole program."""
    text = SETTING + code_in(rule, "Example") + CONTINUATION.get(rule.name, "")
    return Source.from_bytes(text.encode(), f"{rule.name}.py")


def test_every_file_with_a_rule_is_in_the_table() -> None:
    modules = (importlib.import_module(f"{rules.__name__}.{m.name}") for m in pkgutil.iter_modules(rules.__path__))
    written = [module.RULE for module in modules if hasattr(module, "RULE")]
    assert sorted(rule.code for rule in written) == sorted(rule.code for rule in RULES)


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in RULES}) == len(RULES)
    assert len({rule.name for rule in RULES}) == len(RULES)


@each_rule
def test_code_and_name_are_well_formed(rule: Rule) -> None:
    assert re.fullmatch(rf"AD[{FAMILIES}]\d\d", rule.code)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", rule.name)


@each_rule
def test_page_has_its_headings_in_order(rule: Rule) -> None:
    assert tuple(re.findall(r"^## (.*)$", rule.page, re.MULTILINE)) == HEADINGS
    for heading in HEADINGS:
        assert section(rule, heading).strip(), heading


@each_rule
def test_page_begins_with_name_and_summary(rule: Rule) -> None:
    title, empty, summary, *_ = rule.page.splitlines()
    assert (title, empty) == (f"# {rule.name} ({rule.code})", "")
    assert summary == f"{rule.summary}."
    assert len(summary) <= 120


@each_rule
def test_safety_says_safe_or_unsafe(rule: Rule) -> None:
    assert rule.fix_safety
    assert re.search(r"\b(safe|unsafe)\b", rule.fix_safety, re.IGNORECASE)


@each_rule
def test_references_are_links(rule: Rule) -> None:
    for line in section(rule, "References").strip().splitlines():
        assert re.fullmatch(r"- https://\S+", line)


@each_rule
@pytest.mark.parametrize("heading", ["Example", "Use instead"])
def test_examples_are_python(rule: Rule, heading: str) -> None:
    assert ast.parse(textwrap.dedent(code_in(rule, heading))).body


@each_rule
def test_example_is_found(rule: Rule) -> None:
    source = program_of(rule)
    first = SETTING.count("\n") + 1
    last = first + code_in(rule, "Example").count("\n") - 1
    places = [source.position(f.span.start).line for f in check(source, CheckOptions()).findings if f.code == rule.code]
    assert places
    assert all(first <= line <= last for line in places)


@each_rule
def test_example_becomes_what_the_page_says(rule: Rule) -> None:
    before = program_of(rule)
    fixed = fix(before, CheckOptions(codes=frozenset({rule.code})), unsafe=True)
    wanted = "\n" + code_in(rule, "Use instead")
    setting = SETTING.removesuffix("\n")
    assert wanted not in before.text.removeprefix(setting)
    assert wanted in fixed.source.text.removeprefix(setting)
    assert not fixed.remaining


@each_rule
def test_folder_of_fixtures(rule: Rule) -> None:
    folder = FIXTURES / rule.name
    for role in ("before", "quiet"):
        assert len(list(folder.glob(f"*.{role}.py"))) >= AT_LEAST, f"too few NAME.{role}.py in {folder.name}"


def test_every_folder_of_fixtures_belongs_to_a_rule() -> None:
    folders = {path.name for path in FIXTURES.iterdir() if path.is_dir() and not path.name.startswith((".", "_"))}
    assert folders == {rule.name for rule in RULES} | {"hidden", "notebooks", "projects"}
