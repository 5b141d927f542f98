"""What `from torch.nn import *` binds: the names that the machine knows, of the modules of PyTorch that have them.

The tests hold each of them against the installed PyTorch. Names of builtins are left to these.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Set

from autodetach.machine.mentioned import mentioned
from autodetach.machine.program_values import External
from autodetach.machine.project import Module, Project
from autodetach.machine.torch_modules import MODULES


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


OF_TORCH = _names(
    """
    Tensor FloatTensor LongTensor ByteTensor IntTensor DoubleTensor arange as_tensor empty empty_like eye from_numpy
    full full_like linspace logspace normal ones ones_like rand rand_like randint randn randn_like randperm tensor
    zeros zeros_like no_grad enable_grad inference_mode is_grad_enabled manual_seed add addmm argmax
    argmin atan2 baddbmm bernoulli bmm cat ceil chunk clamp clone cos cosine_similarity cross cumprod cumsum detach
    diag dist dot einsum erf exp expm1 eq flatten floor gather ge gt index_select isnan le log log1p log_softmax
    logsumexp lt masked_select matmul mean median mm mul multinomial mv ne neg norm numel permute prod reciprocal relu
    reshape rsqrt sigmoid sign sin softmax split sqrt square squeeze stack std sub t tan tanh topk transpose tril triu
    unbind unsqueeze var where
    """
)
OF_FUNCTIONAL = _names(
    """
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d
    adaptive_max_pool3d affine_grid alpha_dropout avg_pool1d avg_pool2d avg_pool3d batch_norm bilinear
    binary_cross_entropy binary_cross_entropy_with_logits celu conv1d conv2d conv3d conv_transpose1d conv_transpose2d
    conv_transpose3d cosine_embedding_loss cosine_similarity cross_entropy ctc_loss dropout dropout1d dropout2d
    dropout3d elu embedding embedding_bag feature_alpha_dropout fold gelu glu grid_sample group_norm gumbel_softmax
    hardshrink hardsigmoid hardtanh hinge_embedding_loss instance_norm interpolate kl_div l1_loss layer_norm
    leaky_relu linear local_response_norm log_softmax logsigmoid lp_pool1d lp_pool2d margin_ranking_loss max_pool1d
    max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d mse_loss multi_margin_loss multilabel_margin_loss
    multilabel_soft_margin_loss nll_loss normalize one_hot pad pairwise_distance pdist pixel_shuffle poisson_nll_loss
    prelu relu relu6 rrelu selu sigmoid silu smooth_l1_loss soft_margin_loss softmax softmin softplus softshrink
    softsign tanh tanhshrink threshold triplet_margin_loss unfold upsample
    """
)
OF_OPTIM = _names("ASGD Adadelta Adagrad Adam AdamW Adamax LBFGS NAdam Optimizer RAdam RMSprop Rprop SGD SparseAdam")
OF_NN: Set[str] = MODULES.keys() - {"Container"} | {"Parameter"}  # of typing, too
NAMES: Mapping[str, Set[str]] = {
    "torch": OF_TORCH,
    "torch.nn": OF_NN,
    "torch.nn.functional": OF_FUNCTIONAL,
    "torch.nn.modules": MODULES.keys() - {"Container", "DataParallel"},
    "torch.optim": OF_OPTIM,
}


OTHERS = frozenset(
    """
    typing os sys time glob pathlib collections itertools functools tqdm datetime json argparse
    torch.autograd torch.distributions torch.utils.data torch.optim.lr_scheduler torch.nn.utils
    """.split()
)
"""Modules that bind none of these names, and no other thing by one of them."""
OTHERWISE = _names(
    """
    ModuleDict ParameterDict adaptive_max_pool1d alpha_dropout batch_norm binary_cross_entropy_with_logits celu
    cosine_embedding_loss ctc_loss dropout embedding embedding_bag feature_alpha_dropout group_norm
    hinge_embedding_loss instance_norm kl_div layer_norm margin_ranking_loss max_pool1d max_pool2d max_pool3d
    poisson_nll_loss rrelu selu threshold triplet_margin_loss
    """
)
"""What `torch` itself has by the name of something else."""
NUMBERS = {"math": frozenset(dir(math))}
"""What gives numbers, and no tensors."""


def from_a_star(project: Project | None, module: Module, name: str) -> External | None:
    """What a name is that a file has from PyTorch by a star, its own or that of a file that it imports by one.

    Or from a file that is at hand, and too much to be looked at: see `State.left_out`. The last star that binds it
    counts. What one out of view binds nobody knows: a name in front of it may be another.
    """
    found = _bound(project, module, name, {module.path})
    return found if isinstance(found, External) else None


def _bound(project: Project | None, module: Module, name: str, seen: set[str]) -> External | bool:
    """What the stars of a file bind a name to; or else whether one may do so that is not in view."""
    for dotted in reversed(_stars(module.tree)):
        if name in NUMBERS.get(dotted, ()):
            return External(f"{dotted}.{name}")
        if name in NAMES.get(dotted, ()):
            return External(f"{'torch.nn' if dotted == 'torch.nn.modules' else dotted}.{name}")
        if dotted == "torch" and name in OTHERWISE:
            return True
        if dotted in NAMES or dotted in NUMBERS or dotted in OTHERS:
            continue
        inner = None if project is None else project.load(dotted, module)
        if inner is None:
            left_out = project is not None and project.is_left_out(dotted, module)
            return External(f"{dotted}.{name}") if left_out else True
        if inner.path in seen:
            continue
        seen.add(inner.path)
        found = _bound(project, inner, name, seen)
        if found is not False:
            return found
    return False


def _stars(tree: ast.Module) -> list[str]:
    """The modules that a file imports by a star, in order."""
    found = [s for s in mentioned(tree).imports if isinstance(s, ast.ImportFrom) and s.names[0].name == "*"]
    return ["." * s.level + (s.module or "") for s in sorted(found, key=lambda s: s.lineno)]
