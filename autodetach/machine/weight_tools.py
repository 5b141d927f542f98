"""`torch.nn.utils`: what has layers compute their weights, whenever they are called or whenever these are read."""

from __future__ import annotations

from autodetach.machine import parametrizations
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.kept_weights import keep_no_weight, keep_weight
from autodetach.machine.marks import SPECTRAL
from autodetach.machine.number_readers import wanted
from autodetach.machine.program_values import Instance
from autodetach.machine.restraints import WeightNormed
from autodetach.machine.state import MISSING
from autodetach.machine.values import Sequence, Value

NORMS = frozenset({"spectral_norm", "weight_norm"})
PRUNES = frozenset(
    "apply custom_from_mask identity l1_unstructured ln_structured random_structured random_unstructured".split()
)
"""What of `torch.nn.utils.prune` is given a layer and the name of its weight."""


def call_weight_tool(m: Core, part: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """What a function of `torch.nn.utils` returns that has to do with how weights are computed; MISSING if none has."""
    name = part.rpartition(".")[2]
    given = {"name": "weight", **dict(zip(("module", "name", "parametrization"), args, strict=False)), **kwargs}
    module, weight = given.get("module"), given.get("tensor_name", given["name"])
    if name == "spectral_norm" and isinstance(module, Instance):
        module.attrs[SPECTRAL] = True
    if part.startswith("nn.utils.prune."):
        wanted(m, args[2:], site, name)
        return _prune(m, name, module, weight, given, site)
    if part.startswith("nn.utils.parametri"):
        if name == "register_parametrization":
            return parametrizations.register(m, module, weight, given.get("parametrization"))
        if name == "remove_parametrizations":
            return parametrizations.remove(module, weight)
        if name in parametrizations.WAYS:
            return parametrizations.register(m, module, weight, parametrizations.of_library(m, name))
        return MISSING
    if name in NORMS:
        _keep(m, name, module, weight, site)
        return module
    if name.startswith("remove_") and name[7:] in NORMS:
        keep_no_weight(name[7:], module, weight)
        return module
    return MISSING


def _keep(m: Core, way: str, module: Value, name: Value, site: Site) -> None:
    if not keep_weight(m, way, module, name, site):
        m.restraints.append(WeightNormed(site))


def _prune(m: Core, name: str, module: Value, weight: Value, given: dict[str, Value], site: Site) -> Value:
    if name == "remove":
        keep_no_weight("prune", module, weight)
        return module
    if name == "global_unstructured":
        parameters = given.get("parameters", module)
        pairs, _ = m.collect(parameters, site)
        for pair in pairs:
            is_known = isinstance(pair, Sequence) and len(pair.items) == 2
            _keep(m, "prune", pair.items[0] if is_known else None, pair.items[1] if is_known else None, site)
        return None
    if name not in PRUNES:
        return MISSING
    _keep(m, "prune", module, weight, site)
    return module
