"""Writes small training programs: valid Python, quick, deterministic, right and wrong in every way that is modelled.

Every tensor of a program has two rows and three columns (`mats`) or none (`losses`), so that everything fits together.
What is written is chosen by a `random.Random`, which is a plain one for a campaign and one of hypothesis in a test.
The first of the choices is the plainest: hypothesis shrinks towards it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from .parts import ACCUMULATORS, HEADER, HELPERS, LOSSES, MIXES, MODELS, STATES, Accumulator, Model, State


@dataclass(frozen=True, slots=True)
class Mat:
    """A tensor in reach; `graph` says whether it most probably has history."""

    name: str
    graph: bool


class Author:
    """Writes one program."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.depth = 0
        self.count = 0
        self.helpers: dict[str, str] = {}
        self.classes: dict[str, str] = {}
        self.models: list[tuple[str, Model]] = []
        self.optimizers: list[str] = []
        self.leaves: list[str] = []
        self.states: list[tuple[str, State]] = []
        self.accumulators: list[tuple[str, Accumulator]] = []
        self.outside: list[Mat] = []
        self.rebound: list[str] = []
        self.place = "module"
        self.in_function = False
        self.care = 0.75

    # ---- choices and lines

    def chance(self, p: float) -> bool:
        return self.rng.random() >= 1 - p

    def pick(self, options: Sequence[str]) -> str:
        return self.rng.choice(options)

    def careful(self) -> bool:
        """Whether the author of this program takes care here."""
        return self.rng.random() < self.care

    def say(self, text: str) -> None:
        for line in text.splitlines():
            self.lines.append("    " * self.depth + line if line else "")

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.say(head)
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.say("pass")
        self.depth -= 1

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def own(self, stem: str) -> str:
        """A name that lives as long as the program: of the module, of `main`, or of the trainer."""
        made = self.name(stem)
        return f"self.{made}" if self.place == "trainer" else made

    def helper(self, name: str) -> str:
        self.helpers[name] = HELPERS[name]
        return name

    # ---- the program

    def program(self) -> str:
        self.place = self.pick(["module", "function", "module", "trainer"])
        self.care = self.rng.choice([0.97, 0.97, 0.8, 0.5])
        if self.place == "module":
            self.setup()
            self.training()
        elif self.place == "function":
            with self.block("def main():"):
                self.setup()
                self.training()
            self.say("\n\nmain()")
        else:
            with self.block("class Trainer:"):
                with self.block("def __init__(self):"):
                    self.setup()
                self.say("")
                self.trainer_methods()
            self.say("\n\nTrainer().fit()")
        parts = [HEADER, *self.classes.values(), *self.helpers.values(), "\n".join(self.lines)]
        return "\n\n".join(part.strip("\n") for part in parts) + "\n"

    def setup(self) -> None:
        self.say("torch.manual_seed(0)")
        for _ in range(self.rng.randint(1, 3)):
            kind = self.pick(list(MODELS))
            model = MODELS[kind]
            if model.definition:
                self.classes[kind] = model.definition
            name = self.own("net")
            self.say(f"{name} = {model.make}")
            self.models.append((name, model))
        if self.chance(0.4):
            name = self.own("w")
            self.say(f"{name} = " + self.pick(["torch.ones(3, 3, requires_grad=True)", "nn.Parameter(torch.eye(3))"]))
            self.leaves.append(name)
            self.rebound.append(name)
        self.make_optimizers()
        if len(self.models) > 1 and self.chance(0.2):
            frozen = self.models[-1][0]
            how = self.pick(
                [f"{frozen}.requires_grad_(False)", f"for p in {frozen}.parameters():\n    p.requires_grad = False"]
            )
            self.say(how)
        for _ in range(self.rng.choice([0, 1, 0, 1, 2])):
            self.make_state()
        for _ in range(self.rng.choice([0, 1, 1, 2])):
            self.make_accumulator()
        if self.chance(0.25):
            self.make_outside()

    def make_optimizers(self) -> None:
        groups = [[name] for name, _ in self.models]
        if len(groups) > 1 and self.chance(0.5):
            groups = [[name for group in groups for name in group]]
        for group in groups:
            parameters = [f"{n}.parameters()" for n in group]
            leaves = self.leaves if group is groups[0] else []
            if len(parameters) == 1 and not leaves:
                text = parameters[0]
            elif self.chance(0.5):
                text = "[" + ", ".join(f"*{p}" for p in parameters) + "".join(f", {w}" for w in leaves) + "]"
            else:
                text = " + ".join([*(f"list({p})" for p in parameters), *(f"[{w}]" for w in leaves)])
            name = self.own("opt")
            kind = self.pick(["SGD", "Adam", "SGD"])
            self.say(f"{name} = torch.optim.{kind}({text}, lr=0.01)")
            self.optimizers.append(name)

    def make_state(self) -> None:
        kind = self.pick(list(STATES))
        state = STATES[kind]
        if state.definition:
            self.classes[kind] = state.definition
        name = self.own("h")
        self.say(f"{name} = {state.make}")
        self.states.append((name, state))
        self.rebound.append(name)

    def make_accumulator(self) -> None:
        kind = self.pick(list(ACCUMULATORS))
        accumulator = ACCUMULATORS[kind]
        if accumulator.definition:
            self.classes[kind] = accumulator.definition
        name = self.own("acc")
        self.say(f"{name} = {accumulator.make}")
        self.accumulators.append((name, accumulator))
        self.rebound.append(name)

    def make_outside(self) -> None:
        name = self.own("fixed")
        seeds = [f"{n}(torch.ones(2, 3))" for n, m in self.models if m.call == "plain"]
        seeds += [f"torch.ones(2, 3) @ {w}.exp()" for w in self.leaves]
        if not seeds:
            return
        text = self.pick(seeds)
        if self.careful():
            text = (
                self.pick([f"{text}.detach()", f"({text}).data.clone()"]) if "@" not in text else f"({text}).detach()"
            )
        self.say(f"{name} = {text}")
        self.outside.append(Mat(name, "det" not in text and "data" not in text))

    def trainer_methods(self) -> None:
        if self.chance(0.5):
            with self.block("def step(self, step, x, y):"):
                self.in_function = True
                self.body()
                self.in_function = False
            self.say("")
            with self.block("def fit(self):"):
                self.loops(lambda: self.say("self.step(step, x, y)"))
                self.afterwards()
        else:
            with self.block("def fit(self):"):
                self.training()

    def training(self) -> None:
        if self.place != "trainer" and self.chance(0.25):
            with self.block("def train_step(step, x, y):"):
                self.in_function = True
                if self.rebound:
                    self.say(("global " if self.place == "module" else "nonlocal ") + ", ".join(self.rebound))
                self.body()
                self.in_function = False
            self.say("")
            self.loops(lambda: self.say("train_step(step, x, y)"))
        else:
            self.loops(self.body)
        self.afterwards()

    # ---- loops

    def loops(self, body: object) -> None:
        assert callable(body)
        passes = self.rng.choice([5, 6, 5, 18])
        kind = self.pick(["range", "data", "enumerate", "generator", "while", "zip", "forever"])
        if kind in ("data", "enumerate"):
            self.say(f"data = [(torch.randn(2, 3), torch.randn(2, 3)) for _ in range({passes})]")
        elif kind == "zip":
            self.say(f"xs = torch.randn({passes}, 2, 3)\nys = [torch.randn(2, 3) for _ in range({passes})]")
        elif kind == "generator":
            self.helper("batches")
        if self.chance(0.15):
            with self.block(f"for epoch in range({self.rng.choice([4, 5])}):"):
                if self.states and self.careful():
                    name, state = self.states[0]
                    self.say(f"{name} = {state.make}")
                if self.accumulators and self.careful():
                    name, accumulator = self.accumulators[0]
                    self.say(f"{name} = {accumulator.make}")
                self.one_loop(kind, min(passes, 5), body)
                if self.accumulators and self.chance(0.5):
                    name, accumulator = self.accumulators[0]
                    self.say(f"print({accumulator.show.format(name)})")
        else:
            self.one_loop(kind, passes, body)

    def one_loop(self, kind: str, passes: int, body: object) -> None:
        assert callable(body)
        fresh = "x = torch.randn(2, 3)\ny = torch.randn(2, 3)"
        if kind == "range":
            with self.block(f"for step in range({passes}):"):
                self.say(fresh)
                body()
        elif kind == "enumerate":
            with self.block("for step, (x, y) in enumerate(data):"):
                body()
        elif kind == "while":
            self.say("step = 0")
            with self.block(f"while step < {passes}:"):
                self.say("step += 1\n" + fresh)
                body()
        elif kind == "forever":
            self.say("step = 0")
            with self.block("while True:"):
                with self.block(f"if step >= {passes}:"):
                    self.say("break")
                self.say("step += 1\n" + fresh)
                body()
        else:
            items = {"data": "data", "generator": f"batches({passes})", "zip": "zip(xs, ys)"}[kind]
            self.say("step = 0")
            with self.block(f"for x, y in {items}:"):
                self.say("step += 1")
                body()

    # ---- one pass

    def body(self) -> None:
        if self.chance(0.1):
            test = self.pick(["step == 2", "step % 3 == 1"])
            with self.block(f"if {test}:"):
                self.say("return" if self.in_function else "continue")
        early = bool(self.optimizers) and self.chance(0.3)
        if early:
            self.zero()
        for name, state in self.states:
            if self.chance(0.35) and self.careful():
                self.say(state.cut.format(name))
        mats = [Mat("x", False), *self.outside]
        mats += [Mat(state.read.format(name), True) for name, state in self.states]
        made = self.forward(mats)
        losses = self.write_losses(made)
        self.update(losses, early)
        for name, state in self.states:
            self.carry(name, state, made)
        for name, accumulator in self.accumulators:
            self.accumulate(name, accumulator, losses, made)
        if not self.in_function and self.chance(0.05):
            with self.block("if step > 4:"):
                self.say("break")

    def forward(self, mats: list[Mat]) -> list[Mat]:
        made: list[Mat] = []
        for name, model in self.models:
            if model.call == "plain":
                source = self.rng.choice([Mat("x", False), *mats[-2:], *made[-1:]])
                made.append(self.bind(f"{name}({source.name})", True))
            elif model.call == "embed":
                made.append(self.bind(f"{name}(torch.tensor([0, 4]))", True))
            elif model.call == "cell":
                old = self.rng.choice([m for m in mats if m.name != "x"] or mats)
                made.append(self.bind(f"{name}(x, {old.name})", True))
            else:
                first, second = self.name("out"), self.name("out")
                old = self.rng.choice([m for m in mats if m.name != "x"] or mats)
                self.say(model.call.format(first, second, name, "x", old.name))
                made += [Mat(first, True), Mat(second, True)]
        for leaf in self.leaves:
            if self.chance(0.6):
                source = self.rng.choice([*mats[:1], *made[-2:]])
                made.append(self.bind(f"{source.name} @ {leaf}", True))
        for _ in range(self.rng.choice([0, 1, 2, 3])):
            made.append(self.mix([*made, *mats]))
        if made and self.chance(0.08):
            target = made[-1].name
            self.say(self.pick([f"{target}.add_(1)", f"{target}.mul_(2)", f"{target}[0] = 0", f"{target} *= 0.5"]))
        if self.chance(0.1):
            probe = self.name("probe")
            with self.block("with torch.no_grad():"):
                self.say(f"{probe} = {made[0].name} * 2" if made else f"{probe} = x * 2")
                if not made or self.chance(0.5):
                    self.say(f"{probe} = {probe} + {self.rng.choice(mats).name}")
        return made or [Mat("x", False)]

    def bind(self, text: str, graph: bool) -> Mat:
        name = self.name("out")
        self.say(f"{name} = {text}")
        return Mat(name, graph)

    def mix(self, mats: list[Mat]) -> Mat:
        a, b = self.rng.choice(mats), self.rng.choice(mats)
        kind = self.pick(list(MIXES))
        text = MIXES[kind].format(a.name, b.name)
        if kind == "double":
            self.helper("double")
        graph = a.graph or ("{1}" in MIXES[kind] and b.graph)
        return self.bind(text, graph and kind != "detach")

    def write_losses(self, made: list[Mat]) -> list[str]:
        with_graph = [m for m in made if m.graph] or made
        losses = []
        for _ in range(self.rng.choice([1, 1, 2, 1, 3])):
            mat = self.rng.choice(with_graph)
            kind = self.pick(list(LOSSES))
            if kind in HELPERS:
                self.helper(kind)
            name = self.name("loss")
            self.say(f"{name} = {LOSSES[kind].format(mat.name)}")
            losses.append(name)
        return losses

    # ---- differentiation

    def zero(self) -> None:
        for optimizer in self.optimizers:
            self.say(f"{optimizer}.zero_grad()")

    def step_all(self) -> None:
        for optimizer in self.optimizers:
            self.say(f"{optimizer}.step()")

    def update(self, losses: list[str], zeroed: bool) -> None:
        if self.chance(0.06):
            return
        if not zeroed and self.chance(0.85):
            self.zero()
        one = losses[-1]
        if len(losses) == 1 and self.chance(0.01):
            self.say(f"{one}.backward(create_graph=True)")
            return
        if len(losses) == 1:
            plan = self.pick(["plain", "plain", "retained", "twice", "gradient", "penalty", "helper", "micro"])
        else:
            plan = self.pick(["sum", "sum", "each", "kept", "loop", "engine", "between", "last", "stacked"])
        if self.careful() and plan in ("retained", "twice", "each", "loop", "between"):
            plan = "plain" if len(losses) == 1 else self.pick(["sum", "kept"])
        stepped = False
        if plan == "plain" or plan == "last":
            self.say(f"{one}.backward()")
        elif plan == "retained":
            self.say(f"{one}.backward(retain_graph=True)")
        elif plan == "twice":
            flag = self.pick(["retain_graph=True", ""])
            self.say(f"{one}.backward({flag})\n{one}.backward()")
        elif plan == "gradient":
            target = self.leaves[0] if self.leaves else f"list({self.models[0][0]}.parameters())"
            self.say(f"grads = torch.autograd.grad({one}, {target}, allow_unused=True)")
            if self.leaves:
                with self.block("if grads[0] is not None:"), self.block("with torch.no_grad():"):
                    self.say(f"{target} -= 0.01 * grads[0]")
            stepped = True
        elif plan == "penalty":
            source = self.leaves[0] if self.leaves else f"list({self.models[0][0]}.parameters())"
            self.say(f"grads = torch.autograd.grad({one}, {source}, create_graph=True, allow_unused=True)")
            self.say(f"({one} + sum(g.pow(2).sum() for g in grads if g is not None)).backward()")
        elif plan == "helper":
            self.helper("learn")
            self.say(f"learn({one}, [{', '.join(self.optimizers)}])")
            stepped = True
        elif plan == "micro":
            self.say(f"({one} / 2).backward()")
            with self.block("if step % 2 == 0:"):
                self.step_all()
                self.zero()
            stepped = True
        elif plan == "sum":
            text = self.pick([" + ".join(losses), f"sum([{', '.join(losses)}])"])
            self.say(f"({text}).backward()")
        elif plan == "stacked":
            self.say(f"torch.stack([{', '.join(losses)}]).sum().backward()")
        elif plan == "each":
            for loss in losses:
                self.say(f"{loss}.backward()")
        elif plan == "kept":
            for loss in losses[:-1]:
                self.say(f"{loss}.backward(retain_graph=True)")
            self.say(f"{one}.backward()")
        elif plan == "loop":
            with self.block(f"for part in ({', '.join(losses)}):"):
                self.say("part.backward(retain_graph=True)" if self.chance(0.3) else "part.backward()")
        elif plan == "engine":
            self.say(f"torch.autograd.backward([{', '.join(losses)}])")
        else:
            for loss in losses[:-1]:
                self.say(f"{loss}.backward(retain_graph=True)")
                self.say(f"{self.pick(self.optimizers)}.step()")
            self.say(f"{one}.backward()")
        if not stepped and self.chance(0.92):
            self.step_all()

    # ---- what goes on

    def carry(self, name: str, state: State, made: list[Mat]) -> None:
        value = self.rng.choice(made).name
        if self.careful():
            value = self.pick([f"{value}.detach()", f"{value}.data", f"{value}.detach().clone()", "repackage"]).replace(
                "repackage", f"repackage({value})"
            )
            if value.startswith("repackage"):
                self.helper("repackage")
        elif self.chance(0.3):
            value = self.pick(
                [f"{value}.clone()", f"{value} * 0.9", f"0.5 * {value} + 0.5 * {state.read.format(name)}"]
            )
        lines = state.write.format(name, value)
        if self.chance(0.1):
            with self.block(self.pick(["if step % 2 == 0:", "if step != 3:"])):
                self.say(lines)
        elif self.chance(0.07):
            with self.block("with torch.no_grad():"):
                self.say(lines)
        else:
            self.say(lines)
        if self.chance(0.06):
            with self.block("if step % 2 == 1:"):
                self.say(f"{name} = {state.make}")

    def accumulate(self, name: str, accumulator: Accumulator, losses: list[str], made: list[Mat]) -> None:
        value = self.rng.choice(losses)
        if self.careful():
            value = self.pick([f"{value}.item()", f"{value}.detach()", f"float({value})", f"{value}.detach().clone()"])
        elif self.chance(0.2):
            value = f"{value} * 2"
        text = accumulator.add.format(name, value)
        if self.chance(0.1):
            with self.block(self.pick(["if step % 2 == 0:", "if step > 1:"])):
                self.say(text)
        else:
            self.say(text)

    def afterwards(self) -> None:
        for name, accumulator in self.accumulators:
            if accumulator.total and not self.careful():
                total = self.name("total")
                self.say(f"{total} = {accumulator.total.format(name)}")
                with self.block(f"if torch.is_tensor({total}) and {total}.requires_grad:"):
                    self.say(f"{total}.backward()")
            self.say(f"print({accumulator.show.format(name)})")
        if not self.accumulators:
            self.say("print('done')")


def write(rng: Random) -> str:
    """A program."""
    return Author(rng).program()
