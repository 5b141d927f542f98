"""What numpy draws at random, which is one number if no size is asked for: `lam = np.random.beta(1.0, 1.0)`."""

from __future__ import annotations

from autodetach.machine.arguments import spreads_unknown
from autodetach.machine.core import Core, Handler
from autodetach.machine.graph import Site
from autodetach.machine.held import lost_by_arrays, tensors_in
from autodetach.machine.number_readers import of_sums
from autodetach.machine.told_of_values import is_number
from autodetach.machine.values import Value

SIZED_AT: dict[int, str] = {
    0: "random random_sample ranf sample standard_cauchy standard_exponential standard_normal",
    1: "chisquare exponential geometric logseries pareto poisson power rayleigh standard_gamma standard_t weibull zipf",
    2: "beta binomial f gamma gumbel laplace logistic lognormal negative_binomial noncentral_chisquare normal randint "
    "uniform vonmises wald",
    3: "hypergeometric noncentral_f triangular",
}
"""The functions that give a number of Python, by the place of their argument `size`; a generator's methods, too.

Source: https://numpy.org/doc/stable/reference/random/legacy.html, measured with numpy 2.4. `integers` and
`random_integers` give a number of numpy.
"""
OF_SIZES = ("rand", "randn")
"""Those that are given nothing but sizes."""
TYPED = frozenset({"dtype", "out", "method"})
"""Arguments that have them give a number of numpy, or an array."""


def _draw(size_at: int) -> Handler:
    def draw(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        m.note_random(site)
        given = [*args[:size_at], *(value for name, value in kwargs.items() if name != "size")]
        sizes = [*args[size_at:], kwargs.get("size")]
        is_one = all(value is None for value in sizes) and all(value is None or is_number(value) for value in given)
        is_one = is_one and TYPED.isdisjoint(kwargs) and not spreads_unknown(site)
        number = m.fresh("number" if is_one else "", tags=of_sums(args))
        number.lost = lost_by_arrays(*(each for a in args for each in tensors_in(a)))
        return number

    return draw


def _draw_sizes(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    m.note_random(site)
    return m.fresh("" if args or kwargs or spreads_unknown(site) else "number")


HANDLERS: dict[str, Handler] = {
    **{f"numpy.random.{name}": _draw(at) for at, names in SIZED_AT.items() for name in names.split()},
    **{f"numpy.random.{name}": _draw_sizes for name in OF_SIZES},
}
