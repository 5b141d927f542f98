"""The objects of `torch.distributions`: the tensors that they were given, and what they make of those only once.

A transform with a cache gives what it has made of a tensor, for as long as it is asked for that one:
https://docs.pytorch.org/docs/stable/distributions.html#torch.distributions.transforms.Transform
"""

from __future__ import annotations

from autodetach.machine import tensors
from autodetach.machine.arguments import flatten
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.program_values import External, Instance, Native
from autodetach.machine.torch_semantics import Op, Saved
from autodetach.machine.values import Mapping, Sequence, Tensor, Value
from autodetach.named_tuples import NamedTuple

DRAWS = frozenset("sample sample_n".split())
READ = frozenset("mean stddev variance logits probs loc scale".split())
OPAQUE = Op(Saved.OPAQUE)
CACHED = "#cached"
"""Marks the last tensor that a transform was given, with what it has made of it; None where others may ask it, too."""


class Kept(NamedTuple):
    """What a distribution computes of the argument `name` (which may stand at `at`), and keeps.

    The methods and attributes of `used_by` compute from that whenever they are asked; with None there, all do.
    `late`: it is computed when it is first asked for, or the argument is used beside it, so that it has a graph even
    if the constructor has run without gradients.
    """

    name: str
    at: int
    used_by: frozenset[str] | None = None
    late: bool = False


def _late(name: str, at: int, used_by: str) -> Kept:
    return Kept(name, at, frozenset(used_by.split()), late=True)


_CLASSES = (Kept("probs", 0), Kept("logits", 1))
_MOMENTS = "mean stddev variance"

KEPT: dict[str, tuple[Kept, ...]] = {
    "Bernoulli": (
        _late("probs", 0, "log_prob entropy logits kl_divergence"),
        _late("logits", 1, f"entropy {_MOMENTS} probs kl_divergence"),
    ),
    "Binomial": (
        _late("probs", 1, "log_prob entropy logits kl_divergence"),
        _late("logits", 2, f"{_MOMENTS} probs mode kl_divergence"),
    ),
    "Categorical": _CLASSES,
    "Chi2": (Kept("df", 0),),
    "ContinuousBernoulli": (
        Kept("probs", 0),
        _late("logits", 1, f"log_prob rsample entropy {_MOMENTS} probs cdf icdf kl_divergence"),
    ),
    "Geometric": (
        _late("probs", 0, "entropy logits kl_divergence"),
        _late("logits", 1, f"log_prob entropy {_MOMENTS} probs kl_divergence"),
    ),
    "Kumaraswamy": tuple(
        Kept(name, at, frozenset("log_prob rsample cdf icdf".split()))
        for at, name in enumerate(("concentration1", "concentration0"))
    ),
    "LowRankMultivariateNormal": tuple(
        _late(name, at, "log_prob entropy kl_divergence") for at, name in enumerate(("cov_factor", "cov_diag"), 1)
    ),
    "Multinomial": (Kept("probs", 1), Kept("logits", 2)),
    "MultivariateNormal": tuple(
        Kept(name, at, frozenset("log_prob rsample entropy stddev variance kl_divergence".split()))
        for at, name in enumerate(("covariance_matrix", "precision_matrix"), 1)
    ),
    "NegativeBinomial": (_late("probs", 1, f"log_prob {_MOMENTS} logits mode"), _late("logits", 2, "probs")),
    "OneHotCategorical": _CLASSES,
    "OneHotCategoricalStraightThrough": _CLASSES,
    "RelaxedBernoulli": (_late("probs", 1, "log_prob logits"), _late("logits", 2, "rsample probs")),
    "RelaxedOneHotCategorical": (Kept("probs", 1), Kept("logits", 2)),
    "StudentT": (_late("df", 0, "rsample"),),
    "Weibull": (Kept("concentration", 1, frozenset(f"log_prob rsample entropy {_MOMENTS} cdf icdf".split())),),
    "Wishart": tuple(
        Kept(name, at, frozenset("log_prob rsample entropy".split()))
        for at, name in enumerate(("covariance_matrix", "precision_matrix"), 1)
    ),
}
"""Measured on PyTorch 2.13; the tests measure it again, row by row. Others compute from what they were given."""


def distribution(m: Core, path: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`torch.distributions.X(...)`, of tensors and of other distributions."""
    made = Instance(External(path), m.serial(), m.clock)
    kept = KEPT.get(made.cls.name, ())
    names = {one.at: one.name for one in kept}
    inputs = made.attrs["#inputs"] = Mapping(m.clock)
    for name, value in [*((names.get(at, at), value) for at, value in enumerate(args)), *kwargs.items()]:
        inputs.items[name] = (name, value)
        _share(value)
    for one in kept:
        _, given = inputs.items.get(one.name, (None, None))
        if isinstance(given, Tensor) and (m.grad_enabled or not one.late):
            made.attrs[f"#{one.name}"] = m.derive(one.name, OPAQUE, [given], site, given.shape)
    return made


def cached(m: Core, this: Instance, x: Tensor, site: Site) -> Value | None:
    """What a transform with a cache gives for a tensor; None where it has none, or others ask it."""
    inputs = this.attrs.get("#inputs")
    size = inputs.items.get("cache_size") if isinstance(inputs, Mapping) else None
    last = this.attrs.get(CACHED, ())
    if size is None or size[1] != 1 or not this.cls.name.endswith("Transform") or last is None:
        return None
    if isinstance(last, Sequence) and last.items[0] is x:
        return last.items[1]
    made = m.derive(this.cls.name, OPAQUE, flatten([x, *_used(this, "__call__")]), site, x.shape)
    this.attrs[CACHED] = Sequence("tuple", [x, made], m.clock)
    return made


def _share(value: Value) -> None:
    """A transform that others are given is asked by them for other tensors."""
    for one in value.items if isinstance(value, Sequence) else [value]:
        if isinstance(one, Instance) and "#inputs" in one.attrs:
            one.attrs[CACHED] = None


def of_distributions(m: Core, name: str, args: list[Value], site: Site) -> Value:
    """`kl_divergence(p, q)`: a function of what the distributions were given."""
    return m.derive(name, OPAQUE, flatten([v for a in args for v in _used(a, name)]), site)


def distribution_attribute(m: Core, this: Instance, name: str, site: Site) -> Value:
    """An attribute of a distribution, or of an object whose class derives from one."""
    if name in DRAWS:

        def draw(args: list[Value], kwargs: dict[str, Value], s: Site) -> Value:
            m.note_random(s)
            return tensors.plain()

        return Native(name, draw, this)
    used = _used(this, name) if "#inputs" in this.attrs else [*this.attrs.values()]
    if name in READ:
        return m.derive(name, OPAQUE, flatten(used), site)

    def compute(args: list[Value], kwargs: dict[str, Value], s: Site) -> Value:
        if name == "rsample":
            m.note_random(s)
        if this.attrs.get(CACHED) is not None:  # `transform.inv(y)` keeps that pair instead
            del this.attrs[CACHED]
        return m.derive(name, OPAQUE, flatten([*used, *args]), s)

    return Native(name, compute, this)


def _used(value: Value, name: str, depth: int = 4) -> list[Value]:
    """What the method or attribute `name` of a distribution is computed from; what is none stands for itself."""
    if isinstance(value, Sequence) and depth:  # of transforms
        return [v for one in value.items for v in _used(one, name, depth - 1)]
    inputs = value.attrs.get("#inputs") if isinstance(value, Instance) else None
    if not isinstance(inputs, Mapping):
        return [value]
    kept = {k.name for k in KEPT.get(value.cls.name, ()) if k.used_by is None or name in k.used_by}
    given = [value.attrs.get(f"#{n}", v) if n in kept else v for n, v in inputs.items.values()]
    return [v for one in given for v in _used(one, name)]
