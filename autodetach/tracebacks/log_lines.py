"""The lines of a log without what a terminal, a logger or a launcher has put around them."""

from __future__ import annotations

import re

MAX_LINE = 20_000
"""Characters of a line that are looked at: no frame, and no message, is longer."""

# What terminals obey (ECMA-48: CSI, OSC, and escapes of two characters).
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]{0,40}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)|[@-Z\\^_])")
# Only where a run of carriage returns begins is it worth a look whether it ends in a line feed.
_NEWLINE = re.compile(r"(?<!\r)\r+\n|\n|\r")
_DATE = r"\d{4}[-/]\d\d[-/]\d\d"
_TIME = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
_PREFIX = re.compile(
    "(?:"
    # 2024-05-01 12:00:00,123 and its kin, in brackets or not; May  1 12:00:00 host python[12]:
    rf"\[?(?:{_DATE}[T ])?{_TIME}\]?|\[{_DATE}\]"
    rf"|[A-Z][a-z]{{2}} {{1,2}}\d{{1,2}} {_TIME} \S{{1,80}} \S{{1,80}}:"
    # logging, loguru, absl and glog
    r"|\[?(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|EXCEPTION)\]?(?::[\w.]{0,80})?(?=[\s:|-])"
    r"|[IWEF]\d{4,8} [\d:.]{8,20} {1,8}\d{1,12} \S{1,120}\]"
    # torchrun, mpirun, srun, Ray, docker compose, Kubernetes
    r"|\[(?:rank|default|Rank )?\d{1,6}\]:|\[\d{1,6},\d{1,6}\]<std(?:err|out)>:|\d{1,5}:(?= )"
    r"|\([\w .,=:-]{1,120}\)|[\w.-]{1,80} {0,40}\|(?= )"
    r"|\[[\w./: -]{1,80}\]"
    r")(?: {0,8}(?:[-|:]|::)(?= ))?:? ?"
)
# The name of a logger, which only what came before tells from a program's own words.
_NAME = re.compile(r"[\w.:]{1,100} - ?")
_MAX_PREFIXES = 8
# Who of several processes speaks; they break into each other's tracebacks.
_SPEAKER = re.compile(
    r"\[(?:rank|default)\d{1,6}\]:|\[\d{1,6},\d{1,6}\]<std(?:err|out)>:|\([\w .,=:-]{0,80}pid=\d{1,9}[\w .,=:-]{0,80}\)"
    r"|[\w.-]{1,80} {0,40}\|(?= )"
)


def log_lines(text: str) -> list[str]:
    """The lines without colours and line ends, those of tracebacks that are one string in JSON taken apart.

    Where several processes have written, and each line says which, the lines of each stand together.
    """
    lines: list[str] = []
    for line in _NEWLINE.split(text):
        if "\\n" in line and "Traceback" in line and 'File \\"' in line:
            lines += line.replace('\\"', '"').replace("\\\\", "\\").replace("\\u001b", "\x1b").split("\\n")
        else:
            lines.append(line)
    return _by_speaker([_clean(line) for line in lines])


def _by_speaker(lines: list[str]) -> list[str]:
    spoken: dict[str, list[str]] = {}
    for line in lines:
        found = _SPEAKER.match(line)
        spoken.setdefault(found[0] if found else "", []).append(line)
    return [line for said in spoken.values() for line in said]


def without_prefix(line: str) -> str:
    """The line without what loggers and launchers put in front of it, its own indentation kept."""
    at = 0
    for _ in range(_MAX_PREFIXES):
        if line[at : at + 1] in ("", " ", "\t"):
            break
        found = _PREFIX.match(line, at) or (_NAME.match(line, at) if at else None)
        if found is None or found.end() == at:
            break
        at = found.end()
    return line[at:] if at else line


def _clean(line: str) -> str:
    line = line[:MAX_LINE]
    return _ESCAPES.sub("", line).rstrip() if "\x1b" in line else line.rstrip()
