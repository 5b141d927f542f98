"""The options that tell whether a loss of PyTorch has dimensions, by name or by place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_REDUCTION = ("size_average", "reduce", "reduction")
_OF_TWO = ("input", "target", *_REDUCTION)
_OF_THREE = ("input1", "input2", "target", "margin", *_REDUCTION)
_WEIGHTED = ("weight", *_REDUCTION)
_OF_CLASSES = ("weight", "size_average", "ignore_index", "reduce", "reduction")
_POISSON = ("log_input", "full", "size_average", "eps", "reduce", "reduction")
_TRIPLET = ("margin", "p", "eps", "swap", *_REDUCTION)
_TRIPLET_OF_DISTANCE = ("distance_function", "margin", "swap", "reduction")

OF_LOSSES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys("kl_div l1_loss mse_loss multilabel_margin_loss smooth_l1_loss soft_margin_loss".split(), _OF_TWO),
    **dict.fromkeys(("cosine_embedding_loss", "margin_ranking_loss"), _OF_THREE),
    **dict.fromkeys(
        "binary_cross_entropy binary_cross_entropy_with_logits multilabel_soft_margin_loss".split(),
        ("input", "target", *_WEIGHTED),
    ),
    **dict.fromkeys(("cross_entropy", "nll_loss"), ("input", "target", *_OF_CLASSES)),
    "ctc_loss": ("log_probs", "targets", "input_lengths", "target_lengths", "blank", "reduction"),
    "gaussian_nll_loss": ("input", "target", "var", "full", "eps", "reduction"),
    "hinge_embedding_loss": ("input", "target", "margin", *_REDUCTION),
    "huber_loss": ("input", "target", "reduction"),
    "linear_cross_entropy": ("input", "linear_weight", "target", "linear_bias", "weight", "reduction"),
    "multi_margin_loss": ("input", "target", "p", "margin", *_WEIGHTED),
    "poisson_nll_loss": ("input", "target", *_POISSON),
    "triplet_margin_loss": ("anchor", "positive", "negative", *_TRIPLET),
    "triplet_margin_with_distance_loss": ("anchor", "positive", "negative", *_TRIPLET_OF_DISTANCE),
    **dict.fromkeys("KLDivLoss L1Loss MSELoss MultiLabelMarginLoss SmoothL1Loss SoftMarginLoss".split(), _REDUCTION),
    **dict.fromkeys(("CosineEmbeddingLoss", "HingeEmbeddingLoss", "MarginRankingLoss"), ("margin", *_REDUCTION)),
    **dict.fromkeys(("BCELoss", "BCEWithLogitsLoss", "MultiLabelSoftMarginLoss"), _WEIGHTED),
    **dict.fromkeys(("CrossEntropyLoss", "NLLLoss", "NLLLoss2d"), _OF_CLASSES),
    "CTCLoss": ("blank", "reduction"),
    "GaussianNLLLoss": ("full", "eps", "reduction"),
    "HuberLoss": ("reduction",),
    "LinearCrossEntropyLoss": tuple("in_features num_classes out_features bias device dtype reduction".split()),
    "MultiMarginLoss": ("p", "margin", *_WEIGHTED),
    "PoissonNLLLoss": _POISSON,
    "TripletMarginLoss": _TRIPLET,
    "TripletMarginWithDistanceLoss": _TRIPLET_OF_DISTANCE,
}
"""What functions of `torch.nn.functional`, and constructors of `torch.nn`, are given by place, up to `reduction`."""

_REDUCING = ("mean", "sum", "batchmean")


def is_reduced(options: Mapping[str, object]) -> bool:
    """Whether a loss with these options is a number for certain; not where one of them, or its value, is not known."""
    old = (options.get("size_average"), options.get("reduce"))
    if "**" in options or not all(value is None or isinstance(value, bool) for value in old):
        return False
    return options.get("reduce") is not False and options.get("reduction", "mean") in _REDUCING


def options_of_call(name: str, args: Iterable[object], kwargs: Mapping[str, object]) -> dict[str, object]:
    """What is given to a functional loss, by the names of its parameters."""
    return {**dict(zip(OF_LOSSES.get(name, ()), args, strict=False)), **kwargs}
