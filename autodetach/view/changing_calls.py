"""Calls of libraries: which change nothing of what they are given, or are called on."""

from __future__ import annotations

import ast
import re

from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.torch_semantics import DEFAULT as UNKNOWN
from autodetach.machine.torch_semantics import EFFECTS, FACTORIES, INPLACE_AT, MODULE_INPLACE_AT, TENSOR_ATTRIBUTES
from autodetach.machine.torch_semantics import lookup as operation

UPDATING = frozenset(
    """
    __delattr__ __delitem__ __iadd__ __ior__ __setattr__ __setitem__ add append appendleft clear difference_update
    discard extend extendleft fill insert intersection_update itemset move_to_end partition pop popitem popleft put
    remove resize reverse rotate setdefault setfield sort subtract symmetric_difference_update update
    """.split()
)
"""Methods of containers and arrays that change them."""
READING = frozenset(
    """
    __contains__ __getitem__ __iter__ __len__ astype copy count difference endswith find get index intersection
    isdisjoint issubset issuperset items join keys lower most_common nonzero replace split startswith strip
    symmetric_difference tobytes union upper values
    """.split()
)
"""Methods of containers, texts and arrays that change nothing, beside those that tensors have, too."""
OF_PYTHON = frozenset(
    """
    abs all any ascii bool bytes callable complex dict divmod enumerate filter float format frozenset getattr hasattr
    hash id int isinstance issubclass iter len list map max min object open pow print property range repr reversed round
    set slice sorted str sum super tuple type vars zip
    """.split()
)
"""Functions of Python that change nothing of what they are given."""
TYPES = ("bytearray", "dict", "list", "object", "set", "type")
"""Types whose methods are given what they change: `object.__setattr__(config, "rate", 0.1)`."""
QUIET_PACKAGES = frozenset(
    """
    PIL argparse collections contextlib copy csv dataclasses datetime einops functools gc icecream imageio inspect
    itertools json logging loguru math matplotlib mlflow numbers os pandas pathlib pickle plotly pprint re rich scipy
    seaborn sklearn statistics string sys tabulate tensorboardX textwrap time torchmetrics torchvision tqdm
    types typing wandb warnings yaml
    """.split()
)
QUIET = frozenset(
    """
    bisect.bisect bisect.bisect_left bisect.bisect_right cv2.imshow cv2.imwrite heapq.merge heapq.nlargest
    heapq.nsmallest random.choice random.choices random.sample random.seed
    """.split()
)
LOOKING = frozenset(
    """
    count describe display export info log plot print report save show stats summarize summary visualize
    """.split()
)
"""Words in the names of functions that only look at what they are given, or write of it, wherever they come from."""
CHANGING = frozenset(
    """
    add apply augment bbox bboxes box boxes clear clip crop fill init load mask normalise normalize pad patch quantise
    quantize reset scale set step train update zero
    """.split()
)
"""Words in the names of functions that may do more."""
RUNNING = frozenset("fvcore ptflops pytorch_model_summary thop torchinfo torchstat torchsummary torchsummaryX".split())
"""Packages that run the networks that they tell of."""
WORD = re.compile("[A-Z]?[a-z]+|[A-Z]+")
OF_ARRAYS = frozenset("at copyto fill_diagonal place put put_along_axis putmask resize shuffle".split())
"""Functions of numpy that change what they are given."""
OF_ONE_ARRAY = frozenset(
    """
    abs absolute arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil conj conjugate cos cosh deg2rad degrees exp exp2
    expm1 fabs floor invert isfinite isinf isnan log log10 log1p log2 logical_not negative positive rad2deg radians
    reciprocal rint sign signbit sin sinh spacing sqrt square tan tanh trunc
    """.split()
)
"""Functions of numpy that are given one array, and then that which they write into."""
OF_MORE_ARRAYS = frozenset(
    """
    allclose apply_along_axis array_equal broadcast_arrays choose column_stack concatenate einsum full geomspace
    histogram histogram2d insert interp isclose linspace logspace meshgrid pad piecewise polyfit savez
    savez_compressed select tensordot vectorize where
    """.split()
)
"""Functions of numpy that read the third that they are given, too."""
OF_TORCHVISION = {"Normalize": 2, "RandomErasing": 4, "erase": 6, "normalize": 3}
"""At which place transforms are told to work in place."""
QUIET_OF_TORCH = frozenset(
    """
    backward checkpoint clip_grad_norm_ clip_grad_value_ compile grad jacobian load no_grad parameters_to_vector
    random_split save script trace
    """.split()
)


def changes_nothing_given(call: ast.Call, path: str) -> bool:
    """Whether a call by a dotted path leaves what it is given as it is; a method of an object out of view does."""
    package = path.partition(".")[0]
    name = last_word(call.func)
    if not path and isinstance(call.func, ast.Attribute):
        return name not in UPDATING or spelled(call.func.value) not in TYPES
    if not path:
        return name in OF_PYTHON or _only_looks(name)
    if any(
        k.arg in ("copy", "copy_x") and not (isinstance(k.value, ast.Constant) and k.value.value) for k in call.keywords
    ):
        return False  # `normalize(x, copy=False)` of a library
    if any((k.arg or "").startswith("overwrite_") and not _is_false(k.value) for k in call.keywords):
        return False  # `scipy.linalg.inv(a, overwrite_a=True)`
    if package in RUNNING:
        return False
    if package == "numpy":
        return name not in OF_ARRAYS
    if package == "torch":
        if name.endswith("_"):
            return name in QUIET_OF_TORCH
        is_known = operation(name) is not UNKNOWN or name in FACTORIES or name in EFFECTS or name in QUIET_OF_TORCH
        return is_known or name[:1].isupper() or name.startswith(("is_", "set_"))
    if path == "functools.partial":
        return False  # it is called later
    return package in QUIET_PACKAGES or path in QUIET or _only_looks(name)


def written_by(call: ast.Call, path: str) -> list[ast.expr]:
    """What a call is told to write into: `torch.mul(a, 2, out=a)`, `np.clip(a, 0, 1, a)`; statistics, too."""
    written = [k.value for k in call.keywords if k.arg in ("out", "output")]
    name = last_word(call.func)
    if path.partition(".")[0] == "numpy" and ".random." not in path and name not in OF_MORE_ARRAYS:
        written += call.args[1 if name in OF_ONE_ARRAY else 2 :]
    if name in ("batch_norm", "instance_norm"):
        written += [*call.args[1:3], *(k.value for k in call.keywords if k.arg in ("running_mean", "running_var"))]
    return written


def asks_in_place(call: ast.Call, path: str) -> bool:
    """Whether a call says that it works in place, or makes a module that does: `F.relu(x, True)`."""
    told = next((k.value for k in call.keywords if k.arg == "inplace"), None)
    at = INPLACE_AT.get(name := last_word(call.func), MODULE_INPLACE_AT.get(name))
    if path.startswith("torchvision"):
        at = OF_TORCHVISION.get(name)
    if told is None and at is not None and len(call.args) > at and path.startswith("torch"):
        told = call.args[at]
    return told is not None and not _is_false(told)


def _is_false(told: ast.expr) -> bool:
    return isinstance(told, ast.Constant) and not told.value


def _only_looks(name: str) -> bool:
    """`save_checkpoint`, `plotFit`: what a function out of view does, as far as its name tells."""
    words = {word.lower() for word in WORD.findall(name)}
    if name.endswith("_") or name[:1].isupper():
        return False  # an object may keep it, and change it later
    return not words.isdisjoint(LOOKING) and words.isdisjoint(CHANGING)


def is_updating(name: str) -> bool:
    """Whether a method of that name changes a container, an array or a tensor: `put = scales.insert`."""
    is_in_place = name.endswith("_") and not name.endswith("__") and name in TENSOR_ATTRIBUTES
    return name in UPDATING or is_in_place


def leaves_its_own(name: str) -> bool:
    """Whether a method of that name, of a container, an array or a tensor, changes nothing of that."""
    if name in UPDATING:
        return False
    return name in READING or (name in TENSOR_ATTRIBUTES and not name.endswith("_"))
