"""How fast autodetach is beside its neighbours: both on the same files, in turn, in one run.

    python -m tests.benchmark                            everything, five times
    python -m tests.benchmark torch-cold torch-warm -n 9
    python -m tests.benchmark --cases FOLDER dense       more dense training code than fixtures/
    python -m tests.benchmark --stages PATH...           where the time goes in one process, and the dearest files
    python -m tests.benchmark --peers FOLDER             keep the neighbours there (default: the temporary folder)
    python -m tests.benchmark --package FOLDER           ours as it is there: compiled, after `python -m tests.compiled`

The first run makes an environment for ruff, torchfix and torch-preflight; none of them is needed otherwise. A ratio is
the median of our times over the median of theirs; the spread is that of our times, from the fastest to the slowest.
Beside it stands the same ratio of the time for which processors worked, which says more where others use them too.
Memory is what all processes of one more run hold of their own at the most: the sum of their proportional sets in
/proc, so that pages which they share count once (Linux only). Works:

    torch-cold   the installed `torch` package without a cache           at most 1.0 x `ruff check --no-cache`
    torch-warm   the same from the cache                                 at most 0.5 x
    dense        training code: all fixtures (and --cases), 20 times     at most 1/40 x torchfix, 1/12 x torch-preflight
    clean        one clean file of 300 lines                             at most 8 x `python -c pass`
    fix          one file with a finding, and a proven fix               at most 0.6 x torch-preflight
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PEERS = ("ruff", "torchfix", "torch-preflight")
COPIES = 20
SECONDS_BETWEEN_LOOKS = 0.02
PYTHON = (sys.executable,)
OURS = (*PYTHON, "-m", "autodetach", "check")
CLEAN = "import torch\n\n\ndef train(model, loader, optimizer):\n    total = 0.0\n    for x, y in loader:\n" + (
    "        optimizer.zero_grad()\n"
    "        loss = torch.nn.functional.mse_loss(model(x), y)\n"
    "        loss.backward()\n"
    "        optimizer.step()\n"
    "        total += loss.item()\n"
    "    return total\n"
)
FILLER = "\n\ndef layer_{0}(x):\n    y = x * {0}\n    return torch.relu(y)\n"
FAULTY = ROOT / "fixtures" / "accumulated-loss" / "textbook_nested.before.py"

Line = Sequence[str]


@dataclass(frozen=True)
class Work:
    """What is measured: our command line, and those of the others with the ratio that is to be reached."""

    name: str
    ours: Line
    others: tuple[tuple[str, Line, float], ...]
    before: Callable[[], object] = lambda: None


@dataclass
class Times:
    """Seconds of the runs of one command line, and the seconds for which processors worked on them."""

    seconds: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)

    def add(self, line: Line) -> None:
        """Run it once more."""
        before = _worked()
        self.seconds.append(once(line))
        self.worked.append(_worked() - before)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def spread(self) -> str:
        return f"{min(self.seconds):.2f}-{max(self.seconds):.2f}"


def main() -> None:
    """Read the arguments, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="which works, or with --stages which paths")
    parser.add_argument("-n", type=int, default=5, help="how often (default: 5)")
    parser.add_argument("--cases", type=Path, help="a folder with more training code")
    parser.add_argument("--peers", type=Path, default=Path(tempfile.gettempdir()) / "autodetach-benchmark-peers")
    parser.add_argument("--package", type=Path, default=ROOT, help="the folder of our package (default: these sources)")
    parser.add_argument("--stages", action="store_true", help="where the time goes")
    arguments = parser.parse_args()
    if arguments.stages:
        stages(arguments.names or [torch_folder()])
        return
    package, peers = arguments.package.resolve(), environment(arguments.peers.resolve())
    cases = arguments.cases.resolve() if arguments.cases is not None else None
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # else Python finds these sources first
        # As for an installed package: with its bytecode.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ.update(PYTHONPATH=str(package), PYTHONPYCACHEPREFIX=str(Path(folder, "bytecode")), NO_COLOR="1")
        head = f"{'work':12} {'beside':16} {'ours':>8} {'spread':>13} {'theirs':>8}"
        print(f"{head} {'ratio':>7} {'(work)':>7} {'target':>7} {'ours MB':>8}")
        for work in works(Path(folder), peers, cases):
            if not arguments.names or work.name in arguments.names:
                measure(work, arguments.n)


def measure(work: Work, times: int) -> None:
    """Run a work and print its rows."""
    work.before()
    ours, others = Times(), {name: Times() for name, _, _ in work.others}
    once(work.ours)
    for _ in range(times):
        for name, line, _ in work.others:
            others[name].add(line)
        ours.add(work.ours)
    memory = peak_megabytes(work.ours)
    for name, _, target in work.others:
        ratio = ours.median / others[name].median
        worked = statistics.median(ours.worked) / statistics.median(others[name].worked)
        print(
            f"{work.name:12} {name:16} {ours.median:7.2f}s {ours.spread:>12}s {others[name].median:7.2f}s "
            f"{ratio:7.3f} {worked:7.3f} {target:7.3f} {memory:8.0f}",
            flush=True,
        )


def once(line: Line) -> float:
    """The seconds that a command takes, whatever it finds."""
    start = time.perf_counter()
    done = subprocess.run(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    seconds = time.perf_counter() - start
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"{' '.join(line)}: {done.stderr.decode(errors='replace')}")
    return seconds


def _worked() -> float:
    """The seconds for which processors have worked on processes that this one has waited for, and on their children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def peak_megabytes(line: Line) -> float:
    """The most memory that a command and its children hold at a time."""
    most = 0.0
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            most = max(most, sum(map(held_megabytes, family(process.pid))))
            time.sleep(SECONDS_BETWEEN_LOOKS)
    return most


def family(pid: int) -> Iterator[int]:
    """A process and all below it."""
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:
            continue
        for child in children:
            yield from family(int(child))


def held_megabytes(pid: int) -> float:
    """The proportional set of a process; 0 if it is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def environment(folder: Path) -> Path:
    """The folder with the programs of the neighbours, which are installed if they are not there."""
    programs = folder / "bin"
    if not all((programs / name).exists() for name in PEERS):
        subprocess.run([*PYTHON, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(programs / "pip"), "install", "-q", *PEERS], check=True)
    return programs


def torch_folder() -> str:
    """The installed package, which is found and not imported."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise SystemExit("torch is not installed here: pip install -e '.[test]'")
    return os.path.dirname(spec.origin)


def works(folder: Path, peers: Path, cases: Path | None) -> Iterator[Work]:
    """All that can be measured; files go to `folder`."""
    torch, cache = torch_folder(), ("--cache-dir", str(folder / "cache"))
    ruff = (str(peers / "ruff"), "check", "--no-cache", "--isolated", "-q", torch)
    preflight = (str(peers / "torch-preflight"), "check", "-q")
    yield Work("torch-cold", (*OURS, "--no-cache", torch), (("ruff", ruff, 1.0),))
    yield Work("torch-warm", (*OURS, *cache, torch), (("ruff", ruff, 0.5),), lambda: once((*OURS, *cache, torch)))
    dense = folder / "dense"
    copies(dense, [ROOT / "fixtures", *([cases] if cases is not None else [])])
    yield Work(
        "dense",
        (*OURS, "--no-cache", str(dense)),
        (
            ("torchfix", (str(peers / "torchfix"), str(dense)), 1 / 40),
            ("torch-preflight", (*preflight, str(dense)), 1 / 12),
        ),
    )
    clean = folder / "clean.py"
    clean.write_text(CLEAN + "".join(FILLER.format(number) for number in range(57)))
    yield Work("clean", (*OURS, str(clean)), (("python -c pass", (*PYTHON, "-c", "pass"), 8.0),))
    yield Work("fix", (*OURS, str(FAULTY)), (("torch-preflight", (*preflight, str(FAULTY)), 0.6),))


def copies(target: Path, origins: Sequence[Path]) -> None:
    """All Python files below some folders, many times."""
    for number in range(COPIES):
        for origin in origins:
            shutil.copytree(origin, target / f"{number}" / origin.name, ignore=only_python)


def only_python(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not name.endswith(".py") and not os.path.isdir(os.path.join(folder, name))]


# ---- where the time goes


def stages(paths: Sequence[str]) -> None:
    """Check some paths in this process, and print the seconds of each stage and the dearest files."""
    sys.path.insert(0, str(ROOT))
    start = time.perf_counter()
    from autodetach import checker, examination, gather, perform, relevance
    from autodetach.checks import CheckOptions
    from autodetach.disk import files
    from autodetach.machine import exploring
    from autodetach.projects import imports, project
    from autodetach.settings.config import Configuration, Overrides
    from autodetach.task import Task

    spent: collections.defaultdict[str, float] = collections.defaultdict(float)
    spent["start"] = time.perf_counter() - start
    inside: list[float] = []

    def timed(module: Any, name: str, stage: str) -> None:
        """Count the seconds of a function, without those of other stages inside of it."""
        function = getattr(module, name)

        def measured(*arguments: Any, **named: Any) -> Any:
            inside.append(0.0)
            begun = time.perf_counter()
            try:
                return function(*arguments, **named)
            finally:
                whole = time.perf_counter() - begun
                spent[stage] += whole - inside.pop()
                if inside:
                    inside[-1] += whole

        setattr(module, name, measured)

    timed(files, "find_files", "walk")
    timed(perform, "read_bytes", "read")
    timed(imports, "read_bytes", "read imports")
    timed(perform, "is_idle", "filter")
    timed(checker, "is_idle", "filter")
    timed(checker, "parse", "parse")
    timed(project, "_tree", "parse imports")
    timed(exploring, "analyse", "machine")
    timed(examination.Examination, "_suspects", "rules")
    timed(examination.Examination, "_finding", "codemods and proof")
    timed(gather, "gather", "report")
    configuration = Configuration(os.getcwd(), Overrides())
    found = files.find_files(list(paths), configuration, os.getcwd()).files
    outcomes, dearest = [], []
    for file in found:
        begun = time.perf_counter()
        outcomes.append(perform.run_one(Task(file, CheckOptions(), cwd=os.getcwd())))
        dearest.append((time.perf_counter() - begun, file.shown))
    gather.gather(outcomes, configuration)
    whole = time.perf_counter() - start
    raws = [Path(file.path).read_bytes() for file in found]
    kept = [raw for raw in raws if relevance.may_matter(raw) and relevance.in_bytes(raw)]
    print(f"{len(found)} files, {sum(map(len, raws)) / 1e6:.1f} MB; through the filter by their own words: ", end="")
    print(f"{len(kept)} files, {sum(map(len, kept)) / 1e6:.1f} MB")
    for stage, seconds in [*sorted(spent.items(), key=lambda item: -item[1]), ("rest", whole - sum(spent.values()))]:
        print(f"{seconds:9.3f} s  {stage}")
    print("dearest files:")
    for seconds, name in sorted(dearest, reverse=True)[:20]:
        print(f"{seconds:9.3f} s  {name}")


if __name__ == "__main__":
    main()
