"""What each distribution computes of its arguments only once, measured again on the installed PyTorch."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import distributions

from autodetach.machine.distributions import KEPT, Kept

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

CHANCES, POSITIVE, MATRIX = [0.2, 0.5, 0.7], [0.5, 1.5, 2.0], [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]
CLASSES: list[dict[str, Any]] = [{"probs": CHANCES}, {"logits": CHANCES}]
COUNTED = [{"total_count": 5, **given} for given in CLASSES]
HEATED = [{"temperature": torch.tensor(0.5), **given} for given in CLASSES]

ARGUMENTS: dict[str, list[dict[str, Any]]] = {
    "Bernoulli": CLASSES,
    "Beta": [{"concentration1": POSITIVE, "concentration0": POSITIVE}],
    "Binomial": COUNTED,
    "Categorical": CLASSES,
    "Cauchy": [{"loc": POSITIVE, "scale": POSITIVE}],
    "Chi2": [{"df": POSITIVE}],
    "ContinuousBernoulli": CLASSES,
    "Dirichlet": [{"concentration": POSITIVE}],
    "Exponential": [{"rate": POSITIVE}],
    "FisherSnedecor": [{"df1": POSITIVE, "df2": POSITIVE}],
    "Gamma": [{"concentration": POSITIVE, "rate": POSITIVE}],
    "Geometric": CLASSES,
    "Gumbel": [{"loc": POSITIVE, "scale": POSITIVE}],
    "HalfCauchy": [{"scale": POSITIVE}],
    "HalfNormal": [{"scale": POSITIVE}],
    "InverseGamma": [{"concentration": POSITIVE, "rate": POSITIVE}],
    "Kumaraswamy": [{"concentration1": POSITIVE, "concentration0": POSITIVE}],
    "Laplace": [{"loc": POSITIVE, "scale": POSITIVE}],
    "LogNormal": [{"loc": POSITIVE, "scale": POSITIVE}],
    "LowRankMultivariateNormal": [{"loc": POSITIVE, "cov_factor": [[1.0], [2.0], [1.0]], "cov_diag": POSITIVE}],
    "Multinomial": COUNTED,
    "MultivariateNormal": [
        {"loc": POSITIVE, of: MATRIX} for of in ("covariance_matrix", "precision_matrix", "scale_tril")
    ],
    "NegativeBinomial": COUNTED,
    "Normal": [{"loc": POSITIVE, "scale": POSITIVE}],
    "OneHotCategorical": CLASSES,
    "OneHotCategoricalStraightThrough": CLASSES,
    "Pareto": [{"scale": POSITIVE, "alpha": POSITIVE}],
    "Poisson": [{"rate": POSITIVE}],
    "RelaxedBernoulli": HEATED,
    "RelaxedOneHotCategorical": HEATED,
    "StudentT": [{"df": POSITIVE, "loc": POSITIVE, "scale": POSITIVE}],
    "Uniform": [{"low": [0.0, 0.0, 0.0], "high": POSITIVE}],
    "VonMises": [{"loc": POSITIVE, "concentration": POSITIVE}],
    "Weibull": [{"scale": POSITIVE, "concentration": POSITIVE}],
    "Wishart": [
        {"df": torch.tensor(4.0), of: MATRIX} for of in ("covariance_matrix", "precision_matrix", "scale_tril")
    ],
}
METHODS = "log_prob rsample entropy mean stddev variance logits probs cdf icdf mode kl_divergence".split()
UNKNOWN = {"FisherSnedecor", "VonMises", "LowRankMultivariateNormal", "Wishart"}
"""Classes of which the table leaves out what is rarely asked for."""


def computed(one: Any, method: str, seen: torch.Tensor, other: Any) -> Any:
    if method in ("log_prob", "cdf"):
        return getattr(one, method)(seen).sum()
    if method == "icdf":
        return one.icdf(torch.tensor([0.2, 0.3, 0.4])).sum()
    if method in ("entropy", "rsample"):
        return getattr(one, method)().sum()
    if method == "kl_divergence":
        return distributions.kl_divergence(one, other).sum()
    return getattr(one, method).sum()


def differentiate(loss: torch.Tensor) -> None:
    torch.autograd.backward([loss])


def raising(name: str, given: Mapping[str, Any], trained: str) -> tuple[set[str], set[str]]:
    """The methods whose results can be differentiated once only, and those where it can be done again."""
    once, again = set(), set()
    for method in METHODS:
        made = []
        for requires_grad in (True, False):
            values = {k: torch.tensor(v) if isinstance(v, list) else v for k, v in given.items()}
            values[trained] = values[trained].clone().requires_grad_(requires_grad)
            made.append(getattr(distributions, name)(**values))
        with contextlib.suppress(NotImplementedError, AttributeError, ValueError, RuntimeError):
            seen = made[0].sample()
            differentiate(computed(made[0], method, seen, made[1]))
            once.add(method)
            differentiate(computed(made[0], method, seen, made[1]))
            again.add(method)
    return once - again, again


@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_what_is_computed_only_once(name: str) -> None:
    for given in ARGUMENTS[name]:
        for trained, value in given.items():
            if not isinstance(value, list):
                continue
            once, again = raising(name, given, trained)
            kept = next((k for k in KEPT.get(name, ()) if k.name == trained), None)
            used_by = set() if kept is None else (kept.used_by or {*METHODS}) & {*once, *again}
            assert not used_by & again, (trained, used_by & again)
            assert name in UNKNOWN or used_by == once, (trained, once)


@pytest.mark.parametrize("name", sorted(KEPT))
def test_what_is_late_is_late(name: str) -> None:
    """What is made by the constructor has no graph if that runs without gradients; what is made later may have one."""
    for kept in KEPT[name]:
        assert has_graph_made_without_grad(name, kept) == kept.late, kept


def has_graph_made_without_grad(name: str, kept: Kept) -> bool:
    given = next(g for g in ARGUMENTS[name] if kept.name in g)
    values = {k: torch.tensor(v) if isinstance(v, list) else v for k, v in given.items()}
    values[kept.name] = leaf = values[kept.name].clone().requires_grad_()
    with torch.no_grad():
        values[kept.name] = leaf
        one = getattr(distributions, name)(**values)
        seen = one.sample()
    for method in kept.used_by or METHODS:
        with contextlib.suppress(NotImplementedError, AttributeError, ValueError):
            if computed(one, method, seen, one).requires_grad:
                return True
    return False


def test_a_transform_with_a_cache_gives_what_it_made_of_the_same_tensor() -> None:
    transform = distributions.ExpTransform(cache_size=1)
    given = torch.zeros(3, requires_grad=True)
    made = transform(given)
    with torch.no_grad():
        given += 1
    assert transform(given) is made
    assert transform(given.clone()) is not made
    made = transform(given)
    transform.inv(torch.ones(3))
    assert transform(given) is not made
