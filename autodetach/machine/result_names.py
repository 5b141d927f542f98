"""The names by which the parts of a result are read, as in `torch.linalg.qr(a).Q`.

Source: `torch.return_types`, https://github.com/pytorch/pytorch/blob/v2.13.0/torch/csrc/autograd/python_return_types.h
"""

from __future__ import annotations

PAIR = ("values", "indices")
"""What a value and its place are called."""

NAMES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys("cummax cummin kthvalue max median min mode nanmedian sort topk".split(), PAIR),
    "aminmax": ("min", "max"),
    "frexp": ("mantissa", "exponent"),
    "geqrf": ("a", "tau"),
    "histogram": ("hist", "bin_edges"),
    "linalg.cholesky_ex": ("L", "info"),
    "linalg.eig": ("eigenvalues", "eigenvectors"),
    "linalg.eigh": ("eigenvalues", "eigenvectors"),
    "linalg.inv_ex": ("inverse", "info"),
    "linalg.ldl_factor": ("LD", "pivots"),
    "linalg.ldl_factor_ex": ("LD", "pivots", "info"),
    "linalg.lstsq": ("solution", "residuals", "rank", "singular_values"),
    "linalg.lu": ("P", "L", "U"),
    "linalg.lu_factor": ("LU", "pivots"),
    "linalg.lu_factor_ex": ("LU", "pivots", "info"),
    "linalg.solve_ex": ("result", "info"),
    "linalg.svd": ("U", "S", "Vh"),
    "lu_unpack": ("P", "L", "U"),
    "qr": ("Q", "R"),
    "slogdet": ("sign", "logabsdet"),
    "svd": ("U", "S", "V"),
    "triangular_solve": ("solution", "cloned_coefficient"),
}


def result_names(name: str) -> tuple[str, ...]:
    """The names of the parts that an operation returns, none where it returns no such tuple."""
    return NAMES.get(name) or NAMES.get(name.rpartition(".")[2], ())
