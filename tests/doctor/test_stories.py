"""What a story tells beside the tensor and its lines: the pass that it crosses, other names, and the way it took."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from autodetach.doctor.diagnosis import Diagnosis, Kind
from autodetach.doctor.words import paragraph

from .test_growth import TRAINING
from .watching import Seen, watch

CELL = """
class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Linear(3, 3)
        self.h, self.c = torch.zeros(1, 3), torch.zeros(1, 3)
    def forward(self, x):
        self.c = self.w(x + self.h)
        self.h = self.c.tanh()
        return self.h
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = Cell()
    def forward(self, x):
        return self.cell(x).sum()
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""


def seen_in(program: str, folder: Path, before: str = "") -> Seen:
    return watch(before + textwrap.dedent(program), folder)


def told(diagnosis: Diagnosis) -> dict[int, str]:
    """The text of each line of the story."""
    return {step.site.line: step.text for step in diagnosis.story if step.site is not None}


def test_the_pass_that_a_state_crosses(tmp_path: Path) -> None:
    seen = seen_in(
        """
        for epoch in range(2):
            total = 0.0
            for x in torch.rand(4, 1, 3):
                y = 2 * x # begins
                loss = net(y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step() # steps
                total += loss.item()
        """,
        tmp_path,
        CELL,
    )
    diagnosis = seen.only(Kind.FREED)
    lines = told(diagnosis)
    assert "the optimizer steps, and `net.cell.h` keeps that graph" in lines[seen.marks["steps"][0]]
    (first,) = seen.marks["begins"]
    assert lines[first] == f"the next pass of the loop in line {first - 1} begins, and `net.cell.h` still has it"
    assert "`net.cell.h` (of a `Cell`) carries a graph" in diagnosis.message


LOOPS = {
    "the inner one of two": (
        """
        for epoch in range(3):
            for i in range(3): # loop
                net(torch.rand(1, 3)).backward()
        """
    ),
    "the outer one, after the last pass of the inner one": (
        """
        for epoch in range(3): # loop
            kept = []
            for i in range(1):
                net(torch.rand(1, 3)).backward()
        """
    ),
    "a while in a for": (
        """
        for epoch in range(3):
            i = 0
            while i < 3: # loop
                net(torch.rand(1, 3)).backward()
                i += 1
        """
    ),
    "that of a caller": (
        """
        def train(x):
            for loss in [net(x)]:
                loss.backward()
        for i in range(3): # loop
            train(torch.rand(1, 3))
        """
    ),
    "that of one activation, and not of the one before": (
        """
        def train(passes):
            for i in range(passes):
                net(torch.rand(1, 3)).backward()
        def twice():
            for number in range(2): # loop
                train(1)
        twice()
        """
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_which_loop_it_is(name: str, tmp_path: Path) -> None:
    seen = seen_in(LOOPS[name], tmp_path, CELL)
    diagnosis = seen.only(Kind.FREED)
    (head,) = seen.marks["loop"]
    assert [f"of the loop in line {head} " in step.text for step in diagnosis.story].count(True) == 1, diagnosis.story


UNSURE = {
    "two calls one after another": """
        def train():
            net(torch.rand(1, 3)).backward()
        train()
        train()
        """,
    "two lines of one pass": """
        for i in range(2):
            net(torch.rand(1, 3)).backward()
            net(torch.rand(1, 3)).backward()
        """,
    "a loop in a loop without a counter": """
        passes = 0
        while passes < 3:
            for x in [torch.rand(1, 3)] * 2:
                if passes or x is None:
                    net(x).backward()
            passes += 1
        """,
}


@pytest.mark.parametrize("name", list(UNSURE)[:2])
def test_no_loop_is_told_where_none_was_gone_round(name: str, tmp_path: Path) -> None:
    diagnosis = seen_in(UNSURE[name], tmp_path, CELL).only(Kind.FREED)
    assert not [step.text for step in diagnosis.story if "next pass" in step.text]


def test_what_is_built_once_before_a_loop(tmp_path: Path) -> None:
    seen = seen_in(
        """
        w = nn.Parameter(torch.ones(3))
        class Data: pass
        data = Data()
        features = w.exp() # built
        data.features = features
        def train():
            for i in range(2): # loop
                loss = data.features.sum()
                loss.backward()
        train()
        """,
        tmp_path,
    )
    message = seen.only(Kind.FREED).message
    (built,), (loop,) = seen.marks["built"], seen.marks["loop"]
    assert message.startswith("`data.features` carries a graph that line "), message
    assert f"line {built} (`w.exp()`) builds it once, outside the loop of line {loop}" in message
    assert "the backward of `loss` walks it again" in message


def test_the_name_that_it_had_where_it_was_built(tmp_path: Path) -> None:
    seen = seen_in(
        """
        w = nn.Parameter(torch.ones(3))
        class Data: pass
        data = Data()
        features = w.exp()
        data.kept = features
        for i in range(2):
            data.kept.sum().backward()
        """,
        tmp_path,
    )
    assert seen.only(Kind.FREED).message.startswith("`data.kept` (`features`) carries")


def test_the_name_that_it_had_where_it_was_freed(tmp_path: Path) -> None:
    seen = seen_in(
        """
        w = nn.Parameter(torch.ones(3))
        def adapt(objective):
            return torch.autograd.grad(objective, w)
        inner = w.exp().sum()
        adapt(inner)
        (inner * 2).backward()
        """,
        tmp_path,
    )
    assert seen.only(Kind.FREED).message.startswith("`inner` (`objective` in `adapt`) carries")


def test_a_detach_whose_result_is_dropped(tmp_path: Path) -> None:
    seen = seen_in(
        """
        for i in range(3):
            net(torch.rand(1, 3)).backward()
            net.cell.h.detach() # dropped
        """,
        tmp_path,
        CELL,
    )
    diagnosis = seen.only(Kind.FREED)
    (line,) = seen.marks["dropped"]
    assert diagnosis.message.endswith(f"`net.cell.h.detach()` (line {line}) leaves it as it is")
    assert "has no effect" in told(diagnosis)[line]


def test_another_state_that_is_detached(tmp_path: Path) -> None:
    seen = seen_in(
        """
        u = nn.Parameter(torch.ones(3))
        first = second = torch.zeros(3)
        for i in range(3):
            first, second = (first * u).exp(), (second * u).exp()
            (first + second).sum().backward()
            print("", first.detach().sum().item(), end="")
            first = first.detach() # cut
        """,
        tmp_path,
    )
    diagnosis = seen.only(Kind.FREED)
    (line,) = seen.marks["cut"]
    assert [text for text in told(diagnosis).values() if text.startswith("detaches")] == [
        "detaches `first`, and not `second`"
    ]
    assert told(diagnosis)[line].startswith("detaches")


def test_what_changes_a_tensor_is_quoted(tmp_path: Path) -> None:
    seen = seen_in(
        """
        w = nn.Parameter(torch.ones(3))
        sgd = torch.optim.SGD([w], lr=0.1)
        loss = (w * w.exp()).sum()
        w.sum().backward()
        sgd.step() # step
        loss.backward()
        """,
        tmp_path,
    )
    (line,) = seen.marks["step"]
    assert f"by line {line} (`sgd.step()`)," in seen.only(Kind.CHANGED).message


WAYS = {
    "handed to a method": (
        "that of `value` (in `Log.note`)",
        {"hands": "hands over `value`", "takes": "takes `value` out of `values.items()`"},
        """
        class Meter:
            def __init__(self):
                self.sum = 0
            def update(self, new, n=1):
                self.sum += new * n
        class Log:
            def __init__(self):
                self.meters = {"loss": Meter()}
            def note(self, values, size):
                for name, value in values.items(): # takes
                    self.meters[name].update(value, size) # hands
        log = Log()
        for i in range(20):
            loss = batch()
            step(loss)
            log.note({"loss": loss}, 4)
        """,
    ),
    "returned": (
        "that of `cost` (in `once`)",
        {"returns": "returns `cost` with its graph"},
        """
        def once():
            cost = batch()
            step(cost)
            return cost # returns
        total = 0
        for i in range(20):
            total = total + once()
        """,
    ),
    "in a container that is stored": (
        "that of `out` (at module level)",
        {"hands": "hands over `out`"},
        """
        class Buffer:
            def __init__(self):
                self.memory = []
            def insert(self, episode):
                self.memory.append(episode)
        buffer = Buffer()
        for i in range(12):
            episode = {"out": [], "size": []}
            for t in range(3):
                out = model(torch.rand(4, 3))
                episode["out"].append(out) # hands
                episode["size"].append(4)
            buffer.insert(episode)
        """,
    ),
}


@pytest.mark.parametrize("name", WAYS)
def test_the_way_of_what_gathers(name: str, tmp_path: Path) -> None:
    headline, steps, program = WAYS[name]
    seen = seen_in(program, tmp_path, TRAINING)
    diagnosis = seen.only(Kind.GROWTH)
    lines = told(diagnosis)
    for mark, text in steps.items():
        (line,) = seen.marks[mark]
        assert lines.get(line) == text, lines
    assert headline in diagnosis.message


def test_an_initial_value_takes_no_graph(tmp_path: Path) -> None:
    seen = seen_in(
        """
        from collections import deque
        class Buffer:
            def __init__(self):
                self.memory = deque(maxlen=100) # initial
            def insert(self, each):
                self.memory.append(each) # taken
        buffer = Buffer()
        for i in range(20):
            buffer.insert(batch())
        """,
        tmp_path,
        TRAINING,
    )
    lines = told(seen.only(Kind.GROWTH))
    assert seen.marks["taken"][0] in lines and seen.marks["initial"][0] not in lines


def test_the_lines_of_callers_are_shown_once(tmp_path: Path) -> None:
    program = """
        def train():
            for i in range(2):
                net(torch.rand(1, 3)).backward()
        train()
        """
    diagnosis = seen_in(program, tmp_path, CELL).only(Kind.FREED)
    shown = [line.partition("|")[2] for line in paragraph(diagnosis) if "|" in line]
    assert shown.count(" train()") == 1


def test_a_library_may_call_many_times_in_one_pass(tmp_path: Path) -> None:
    seen = seen_in(
        """
        net = nn.Linear(3, 1)
        optimizer = torch.optim.LBFGS(net.parameters(), max_iter=4)
        out = net(torch.rand(4, 3))
        def closure():
            optimizer.zero_grad()
            loss = out.pow(2).mean()
            loss.backward()
            return loss
        while True:
            optimizer.step(closure)
        """,
        tmp_path,
    )
    diagnosis = seen.only(Kind.FREED)
    assert "`out` carries" in diagnosis.message
    assert not [step.text for step in diagnosis.story if "next pass" in step.text]


def test_a_sample_is_known_by_the_buffer_that_keeps_it(tmp_path: Path) -> None:
    seen = seen_in(
        """
        from collections import namedtuple
        Move = namedtuple("Move", "log_prob reward")
        class Agent:
            def __init__(self):
                self.net = nn.Linear(3, 1)
                self.memory = []
            def update(self):
                batch = self.memory[:2]
                sum(move.log_prob * move.reward for move in batch).backward()
        agent = Agent()
        for i in range(3):
            log_prob = agent.net(torch.rand(3)).exp().sum()
            agent.memory.append(Move(log_prob, 2.0)) # kept
            if i > 0:
                agent.update()
        """,
        tmp_path,
    )
    diagnosis = seen.only(Kind.FREED)
    assert "(`self.memory[" in diagnosis.message
    assert seen.marks["kept"][0] in told(diagnosis)


def test_the_pass_after_which_a_state_could_be_cut(tmp_path: Path) -> None:
    seen = seen_in(
        """
        cell = nn.RNNCell(3, 3)
        class Runner:
            def __init__(self):
                self.h = torch.zeros(1, 3)
            def collect(self, passes):
                for t in range(passes):
                    self.h = cell(torch.rand(1, 3), self.h) # stored
                    last = t
                    t += 1 # ends
                return last
        runner = Runner()
        for episode in range(6):
            runner.collect(4)
        """,
        tmp_path,
    )
    diagnosis = seen.only(Kind.GROWTH)
    (stored,), (ends,) = seen.marks["stored"], seen.marks["ends"]
    text = f"the pass of the loop in line {stored - 1} ends, and `{seen.name()}` keeps that graph"
    assert told(diagnosis)[ends] == text


def test_a_story_is_told_in_its_order(tmp_path: Path) -> None:
    seen = seen_in(
        """
        def train():
            for i in range(3):
                optimizer.zero_grad() # story
                loss = net(torch.rand(1, 3))
                loss.backward()
                optimizer.step() # story
                net.cell.h.detach() # story
        train()
        """,
        tmp_path,
        CELL,
    )
    (begins, steps, dropped) = seen.marks["story"]
    told_lines = [step.site.line for step in seen.only(Kind.FREED).story if step.site is not None]
    assert [line for line in told_lines if line in (steps, dropped, begins)] == [steps, dropped, begins]
