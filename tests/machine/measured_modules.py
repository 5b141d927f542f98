"""The arguments with which each module of `torch.nn` is made and called, and what it does, measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from measured_operations import (
    Measured,
    arguments,
    change_is_noticed,
    second_backward_raises,
    tensors_in,
)
from operation_samples import (
    ATTENTION,
    BATCH,
    CTC,
    IMAGE,
    INDEX,
    INDICES,
    SIGNAL,
    SIGNS,
    VOLUME,
    M,
    Recipe,
    Sample,
    V,
    given,
    rand,
)
from torch import Tensor, nn

from autodetach.machine.torch_semantics import MODULES

MODULE_CALLS: dict[str, tuple[tuple[Any, ...], tuple[Recipe, ...]]] = {}


def module(names: str, arguments: tuple[Any, ...], *inputs: Recipe) -> None:
    MODULE_CALLS.update(dict.fromkeys(names.split(), (arguments, inputs)))


module(
    """
    AlphaDropout Dropout CELU ELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh Identity LeakyReLU LogSigmoid Mish
    PReLU ReLU ReLU6 SELU SiLU Sigmoid Softplus Softshrink Softsign Tanh Tanhshrink FeatureAlphaDropout
    """,
    (),
    M,
)
module("RReLU", (), rand(3, 3, low=-0.5, high=0.5))
for d, x in ((1, SIGNAL), (2, IMAGE), (3, VOLUME)):
    channels = 2 if d == 3 else 3
    module(f"AdaptiveAvgPool{d}d AdaptiveMaxPool{d}d AvgPool{d}d MaxPool{d}d", (2,), x)
    module(f"BatchNorm{d}d InstanceNorm{d}d", (channels,), x)
    module(f"LazyBatchNorm{d}d LazyInstanceNorm{d}d Dropout{d}d", (), x)
    module(f"Conv{d}d ConvTranspose{d}d", (channels, 2, 3), x)
    module(f"LazyConv{d}d LazyConvTranspose{d}d", (2, 3), x)
    module(f"CircularPad{d}d ReflectionPad{d}d ReplicationPad{d}d ZeroPad{d}d", (1,), x)
    module(f"ConstantPad{d}d", (1, 0.5), x)
    module(f"LPPool{d}d", (2, 2), x)
module("FractionalMaxPool2d", (2, 3), IMAGE)
module("FractionalMaxPool3d", (2, 3), VOLUME)
module("SyncBatchNorm", (3,), SIGNAL)
module("LayerNorm RMSNorm", (3,), M)
module("GroupNorm", (3, 3), IMAGE)
module("LocalResponseNorm CrossMapLRN2d", (2,), IMAGE)
module("GLU", (), rand(3, 4))
module("Flatten", (), BATCH)
module("Unflatten", (1, (3, 1)), M)
module("LogSoftmax Softmax Softmin", (1,), M)
module("Softmax2d", (), IMAGE)
module("Threshold", (0.1, 0.0), M)
module("CosineSimilarity PairwiseDistance", (), M, M)
module("BCELoss BCEWithLogitsLoss HuberLoss KLDivLoss L1Loss MSELoss MultiLabelSoftMarginLoss", (), M, M)
module("PoissonNLLLoss SmoothL1Loss", (), M, M)
module("SoftMarginLoss HingeEmbeddingLoss", (), M, SIGNS)
module("CosineEmbeddingLoss", (), M, M, given([1, -1, 1]))
module("MarginRankingLoss", (), V, V, given([1, -1, 1]))
module("TripletMarginLoss TripletMarginWithDistanceLoss GaussianNLLLoss", (), M, M, M)
module("CrossEntropyLoss NLLLoss NLLLoss2d MultiMarginLoss", (), M, INDEX)
module("MultiLabelMarginLoss", (), M, INDICES)
module("CTCLoss", (), *CTC)
module("LinearCrossEntropyLoss", (3, 4), M, INDEX)
module("AdaptiveLogSoftmaxWithLoss", (3, 4, [2]), M, INDEX)
module("Linear", (3, 2), M)
module("LazyLinear", (2,), M)
module("Bilinear", (3, 3, 2), M, M)
module("ChannelShuffle PixelShuffle", (2,), rand(1, 4, 2, 2))
module("PixelUnshuffle", (2,), rand(1, 1, 2, 2))
module("Embedding", (4, 3), INDEX)
module("EmbeddingBag", (4, 3), given([[0, 1], [1, 2]]))
module("Fold", ((3, 3), (2, 2)), rand(1, 4, 4))
module("Unfold", (2,), IMAGE)
module("MaxUnpool1d", (2,), rand(1, 1, 2), given([[[1, 3]]]))
module("MaxUnpool2d", (2,), rand(1, 1, 2, 2), given([[[[0, 3], [8, 11]]]]))
module("MaxUnpool3d", (2,), rand(1, 1, 1, 1, 1), given([[[[[1]]]]]))
module("Upsample UpsamplingBilinear2d UpsamplingNearest2d", (None, 2), IMAGE)
module("RNN GRU LSTM", (3, 3), BATCH)
module("RNNCell GRUCell LSTMCell", (3, 3), M)
module("MultiheadAttention", (4, 2), *ATTENTION)
module("TransformerEncoderLayer", (4, 2), ATTENTION[0])
module("TransformerDecoderLayer", (4, 2), *ATTENTION[:2])
module("Transformer", (4, 2, 1, 1, 8), *ATTENTION[:2])
module("TransformerEncoder", (lambda: nn.TransformerEncoderLayer(4, 2, 8), 1), ATTENTION[0])
module("TransformerDecoder", (lambda: nn.TransformerDecoderLayer(4, 2, 8), 1), *ATTENTION[:2])

BASES = {"RNNBase", "RNNCellBase", *(n for n, m in MODULES.items() if m.result == "container")}
INEXACT_MODULES = {
    "AdaptiveLogSoftmaxWithLoss": "the target is not saved",
    "CosineEmbeddingLoss": "the target is not saved",
    "CTCLoss": "of the three integer operands only the targets are saved",
    "CosineSimilarity": "saves each operand for itself",
    "MultiLabelSoftMarginLoss": "for the target nothing of the caller's is saved",
    "RMSNorm": "for the weight only the normalised input is saved",
    "RNNCell": "the result is saved too",
}


def run_module(name: str, required: Sequence[int] = ()) -> tuple[nn.Module, list[Tensor], Any]:
    built, inputs = MODULE_CALLS[name]
    torch.manual_seed(0)
    instance = getattr(nn, name)(*(a() if callable(a) else a for a in built))
    operands, args, _ = arguments(Sample(inputs, {}), required)
    return instance, operands, instance(*args)


def measure_module(name: str, required: Sequence[int]) -> Measured:
    instance, operands, value = run_module(name, required)
    raises = second_backward_raises(value)
    noticed = set()
    for position in range(len(operands)):
        _, operands, value = run_module(name, required)
        if change_is_noticed(operands[position], value):
            noticed.add(position)
    for parameter in dict(instance.named_parameters()):
        instance, operands, value = run_module(name, required)
        if change_is_noticed(instance.get_parameter(parameter), value):
            noticed.add(len(operands))
    _, _, value = run_module(name, required)
    return Measured(raises, frozenset(noticed), change_is_noticed(tensors_in(value)[0], value))
