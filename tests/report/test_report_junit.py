"""JUnit, read by junitparser; there is no schema that all servers agree on."""

from __future__ import annotations

import importlib
import json
from typing import Any
from xml.etree import ElementTree

from report_samples import ALL, ODD_NAME, PATHS, PROBLEMS, two_files

from autodetach.finding import Problem
from autodetach.report import Located
from autodetach.report.junit import render

junitparser: Any = importlib.import_module("junitparser")


def read(*findings: Located, problems: tuple[Problem, ...] = ()) -> Any:
    text = render(findings, problems, PATHS)
    assert text.isascii() and text.endswith("</testsuites>\n")
    return junitparser.JUnitXml.fromstring(text.encode())


def test_a_suite_for_each_file_and_a_failure_for_each_finding() -> None:
    document = read(*ALL)
    assert (document.tests, document.failures, document.errors) == (3, 3, 0)
    assert [(suite.name, suite.tests, suite.failures) for suite in document] == [(ODD_NAME, 1, 1), ("latin.py", 2, 2)]
    (case,) = next(iter(document))
    assert case.name == "AD101 accumulated-loss, line 2, column 11"
    assert case.classname == ODD_NAME.removesuffix(".py").replace("/", ".")
    assert (case._elem.attrib["file"], case._elem.attrib["line"]) == (ODD_NAME, "2")
    (failure,) = case.result
    assert isinstance(failure, junitparser.Failure)
    assert (failure.message, failure.type) == ("`total` keeps 100% of <its> & graph", "AD101")
    lines = failure.text.splitlines()
    assert lines[0] == f"{ODD_NAME}:2:11: AD101 accumulated-loss: `total` keeps 100% of <its> & graph"
    assert "   2. lib/helper.py:2: `y` is \\x1bkept" in lines
    assert "   safe fix: take the number" in lines


def test_names_differ() -> None:
    document = read(*ALL)
    names = [(case.classname, case.name) for suite in document for case in suite]
    assert len(set(names)) == len(ALL)


def test_the_counts_are_those_of_the_cases() -> None:
    document = read(*ALL, problems=PROBLEMS)
    declared = (document.tests, document.failures, document.errors)
    document.update_statistics()
    assert declared == (document.tests, document.failures, document.errors) == (4, 3, 1)


def test_what_could_not_be_checked_is_an_error() -> None:
    (suite,) = read(problems=PROBLEMS)
    (case,) = suite
    (error,) = case.result
    assert isinstance(error, junitparser.Error)
    assert (suite.name, case.name, error.message) == ("bad,1.py", "cannot be checked, line 3", "syntax error: <oops>")


def test_nothing_found_is_a_test_that_passed() -> None:
    document = read(problems=PROBLEMS[1:])
    (case,) = next(iter(document))
    assert (document.tests, document.failures, document.errors, case.result) == (1, 0, 0, [])


def test_no_character_makes_it_unreadable() -> None:
    located = two_files()
    for code in (*range(0x20), 0x7F, 0x85, 0x2028, 0xD800, 0xFFFE, 0xFFFF, 0x10FFFF):
        odd = Problem(f"a{chr(code)}.py" if code else "a.py", f"<{chr(code)}>&\"'\n]]>")
        text = render([located], (odd,), PATHS)
        root = ElementTree.fromstring(text)
        assert len(root) == 2, json.dumps(text)
