"""What is shown before all paths are run is what the last analysis makes probable."""

from __future__ import annotations

from autodetach.disk.files import FoundFile
from autodetach.finding import Finding, Problem, Severity, StoryStep
from autodetach.lsp.foreseen import foreseen, seen
from autodetach.source import Source, Span
from autodetach.task import Outcome

TEXT = "zero\none\ntwo\nthree\n"
FILE = FoundFile("/a.py", "a.py")


def source(text: str) -> Source:
    return Source.from_text(text, "a.py")


def finding(word: str, text: str = TEXT, path: str = "") -> Finding:
    at = text.index(word)
    story = (StoryStep(text.count("\n", 0, at) + 1, "said", path),)
    return Finding("AD101", "name", f"about {word}", Severity.ERROR, Span(at, at + len(word)), story, path=path)


def outcome(*findings: Finding, problems: tuple[Problem, ...] = ()) -> Outcome:
    return Outcome(FILE, findings, problems)


def test_what_other_paths_have_shown_is_added_where_it_stands_now() -> None:
    text = TEXT.replace("one", "one\nmore")
    before = seen(None, outcome(finding("zero")), outcome(finding("zero"), finding("three")), source(TEXT))
    found = foreseen(before, outcome(finding("zero", text), finding("two", text)), source(text))
    assert found.findings == (finding("zero", text), finding("two", text), finding("three", text))


def test_what_stands_in_the_edit_is_not_added() -> None:
    text = TEXT.replace("three", "four")
    before = seen(None, outcome(), outcome(finding("three")), source(TEXT))
    assert foreseen(before, outcome(), source(text)).findings == ()


def test_what_other_paths_have_taken_back_is_left_out() -> None:
    text = "minus\n" + TEXT
    before = seen(None, outcome(finding("zero"), finding("two")), outcome(finding("two")), source(TEXT))
    found = foreseen(before, outcome(finding("zero", text), finding("two", text)), source(text))
    assert found.findings == (finding("two", text),)


def test_a_part_tells_everything_of_its_lines_and_nothing_of_others() -> None:
    text = TEXT.replace("one", "one\nmore")
    every = (finding("zero"), finding("one"), finding("two"), finding("three"))
    before = seen(None, outcome(*every), outcome(*every), source(TEXT))
    part = outcome(finding("two", text))._replace(about=((1, 1), (3, 4)))  # not about "one", nor about "three"
    found = foreseen(before, part, source(text)).findings
    assert found == (finding("one", text), finding("two", text), finding("three", text))
    nothing = outcome()._replace(about=())
    assert foreseen(before, nothing, source("\n" + TEXT)).findings == tuple(
        finding(word, "\n" + TEXT) for word in ("zero", "one", "two", "three")
    )


def test_what_was_imported_stays_so_for_a_part() -> None:
    whole = outcome()._replace(imported=("/b.py", "/c.py"))
    before = seen(None, whole, whole, source(TEXT))
    part = outcome()._replace(about=(), imported=("/b.py",))
    assert set(foreseen(before, part, source(TEXT)).imported) == {"/b.py", "/c.py"}


def test_lines_that_are_spoken_of_are_those_that_they_are_now() -> None:
    text = "minus\n" + TEXT
    said = finding("three")._replace(message="as in line 2, line 4 and line 3 of b.py")
    said = said._replace(story=(*said.story, StoryStep(2, "as in line 1"), StoryStep(2, "as in line 1", "/b.py")))
    before = seen(None, outcome(), outcome(said), source(TEXT))
    (found,) = foreseen(before, outcome(), source(text)).findings
    assert found.message == "as in line 3, line 5 and line 3 of b.py"
    assert [(step.line, step.text) for step in found.story] == [(5, "said"), (3, "as in line 2"), (2, "as in line 1")]


def test_findings_in_other_files_stay_where_they_are() -> None:
    text = "minus\n" + TEXT
    other = finding("two", TEXT, "/b.py")
    before = seen(None, outcome(), outcome(other), source(TEXT))
    assert foreseen(before, outcome(), source(text)).findings == (other,)


def test_an_analysis_that_told_nothing_keeps_what_was_known() -> None:
    whole = outcome(finding("zero"), finding("three"))
    before = seen(None, outcome(finding("zero"), finding("one")), whole, source(TEXT))
    text = TEXT.replace("zero", "zero\n")
    moved = outcome(finding("zero", text), finding("three", text))
    after = seen(before, None, moved, source(text))
    found = foreseen(after, outcome(finding("zero", text), finding("one", text)), source(text))
    assert found.findings == moved.findings


def test_what_is_only_said_of_all_paths_stays() -> None:
    partial = Problem("a.py", "not all", partial=True)
    wrong = Problem("a.py", "wrong", 1)
    before = seen(None, outcome(), outcome(problems=(partial, wrong)), source(TEXT))
    assert foreseen(before, outcome(), source(TEXT)).problems == (partial,)
