"""What `from torch.nn import *` binds: the names that the machine knows, of the modules of PyTorch that have them.

The tests hold each of them against the installed PyTorch. Names of builtins are left to these.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set

from autodetach.machine.mentions import mentioned
from autodetach.machine.project import Module, Project
from autodetach.machine.torch_modules import MODULES
from autodetach.machine.values import External


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
OF_NN: Set[str] = MODULES.keys() | {"Parameter"}
NAMES: Mapping[str, Set[str]] = {
    "torch": OF_TORCH,
    "torch.nn": OF_NN,
    "torch.nn.functional": OF_FUNCTIONAL,
    "torch.nn.modules": MODULES.keys() - {"DataParallel"},
    "torch.optim": OF_OPTIM,
}


def from_a_star(project: Project | None, module: Module, name: str) -> External | None:
    """What a name is that a file has from PyTorch by a star, its own or that of a file that it imports by one."""
    pending, seen = [module], {module.path}
    while pending:
        at = pending.pop()
        for dotted in _stars(at.tree):
            if name in NAMES.get(dotted, ()):
                return External(f"{'torch.nn' if dotted == 'torch.nn.modules' else dotted}.{name}")
            if project is None or dotted in NAMES:
                continue
            found = project.load(dotted, at)
            if found is not None and found.path not in seen:
                seen.add(found.path)
                pending.append(found)
    return None


def _stars(tree: ast.Module) -> Iterator[str]:
    for statement in mentioned(tree).imports:
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            yield "." * statement.level + (statement.module or "")
