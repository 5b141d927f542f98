"""What each module of `torch.nn` saves and returns."""

from __future__ import annotations

from autodetach.machine.torch_facts import Module, Saved, Shape

MODULE_INPLACE_AT: dict[str, int] = {
    **dict.fromkeys(("Hardsigmoid", "Hardswish", "Mish", "ReLU", "ReLU6", "SELU", "SiLU"), 0),
    **dict.fromkeys(("CELU", "ELU", "LeakyReLU"), 1),
    **dict.fromkeys(("Dropout", "Dropout1d", "Dropout2d", "Dropout3d"), 1),
    **dict.fromkeys(("Hardtanh", "RReLU", "Threshold"), 2),
}
"""Where `inplace` stands among the arguments of `torch.nn.NAME`; AlphaDropout and FeatureAlphaDropout ignore theirs."""


def _modules(module: Module, names: str) -> dict[str, Module]:
    return dict.fromkeys(names.split(), module)


MODULES: dict[str, Module] = {
    # Without parameters.
    **_modules(
        Module(False, "container", Saved.NOTHING),
        "Container DataParallel Module ModuleDict ModuleList ParameterDict ParameterList Sequential",
    ),
    **_modules(Module(False, "tensor", Saved.NOTHING, Shape.SAME), "ChannelShuffle Identity"),
    **_modules(
        Module(False, "tensor", Saved.NOTHING),
        """
        ConstantPad1d ConstantPad2d ConstantPad3d Flatten Fold PixelShuffle PixelUnshuffle Unflatten Unfold Upsample
        UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d ZeroPad3d
        """,
    ),
    **_modules(
        Module(False, "tensor", Saved.INPUT, Shape.SAME),
        """
        CELU ELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh InstanceNorm1d InstanceNorm2d InstanceNorm3d LeakyReLU
        LocalResponseNorm LogSigmoid Mish ReLU6 SELU SiLU Softplus Softshrink Softsign Threshold
        """,
    ),
    **_modules(Module(False, "tensor", Saved.INPUT, Shape.SAME, random=True), "RReLU"),
    **_modules(
        Module(False, "tensor", Saved.INPUT),
        """
        AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d
        AvgPool1d AvgPool2d AvgPool3d GLU LPPool1d LPPool2d LPPool3d MaxPool1d MaxPool2d MaxPool3d ReflectionPad1d
        ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d
        """,
    ),
    **_modules(Module(False, "tensor", Saved.INPUT, random=True), "FractionalMaxPool2d FractionalMaxPool3d"),
    **_modules(
        Module(False, "tensor", Saved.RESULT, Shape.SAME),
        "LogSoftmax ReLU Sigmoid Softmax Softmax2d Softmin Tanh",
    ),
    **_modules(Module(False, "tensor", Saved.RESULT), "PairwiseDistance"),
    **_modules(Module(False, "tensor", Saved.INPUT_RESULT, Shape.SAME), "CrossMapLRN2d"),
    **_modules(Module(False, "tensor", Saved.OPERANDS), "CosineSimilarity"),
    **_modules(Module(False, "tensor", Saved.OTHER), "MaxUnpool1d MaxUnpool2d MaxUnpool3d"),
    **_modules(Module(False, "tensor", Saved.OPAQUE, Shape.SAME), "Tanhshrink"),
    **_modules(Module(False, "tensor", Saved.OPAQUE), "CircularPad1d CircularPad2d CircularPad3d"),
    **_modules(
        Module(False, "tensor", Saved.OPAQUE, Shape.SAME, random=True),
        "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
    ),
    # Losses.
    **_modules(
        Module(False, "loss", Saved.OPERANDS, Shape.LOSS),
        """
        BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss HuberLoss MSELoss MultiLabelMarginLoss
        MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss NLLLoss2d SmoothL1Loss SoftMarginLoss
        """,
    ),
    **_modules(Module(False, "loss", Saved.CROSS, Shape.LOSS), "PoissonNLLLoss"),
    **_modules(Module(True, "loss", Saved.CROSS, Shape.LOSS), "LinearCrossEntropyLoss"),
    **_modules(Module(False, "loss", Saved.QUOTIENT, Shape.LOSS), "KLDivLoss"),
    **_modules(Module(False, "loss", Saved.OTHER, Shape.LOSS), "CrossEntropyLoss"),
    **_modules(
        Module(False, "loss", Saved.OPAQUE, Shape.LOSS),
        """
        GaussianNLLLoss HingeEmbeddingLoss L1Loss MarginRankingLoss TripletMarginLoss TripletMarginWithDistanceLoss
        """,
    ),
    **_modules(Module(True, "output_loss", Saved.OPERANDS), "AdaptiveLogSoftmaxWithLoss"),
    # With parameters.
    **_modules(Module(True, "tensor", Saved.CROSS), "Bilinear LazyLinear Linear"),
    **_modules(
        Module(True, "tensor", Saved.OPERANDS),
        """
        Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d LazyConv2d LazyConv3d
        LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d
        """,
    ),
    **_modules(
        Module(True, "tensor", Saved.OPERANDS, Shape.SAME),
        """
        BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm LayerNorm LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d PReLU
        RMSNorm SyncBatchNorm
        """,
    ),
    **_modules(
        Module(True, "tensor", Saved.INPUT, Shape.SAME),
        "LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d",
    ),
    **_modules(Module(True, "tensor", Saved.OTHER), "Embedding EmbeddingBag"),
    **_modules(Module(True, "rnn", Saved.OPERANDS), "GRU RNN RNNBase"),
    **_modules(Module(True, "lstm", Saved.OPERANDS_RESULT), "LSTM"),
    **_modules(Module(True, "cell", Saved.CROSS), "GRUCell RNNCell RNNCellBase"),
    **_modules(Module(True, "lstmcell", Saved.CROSS), "LSTMCell"),
    **_modules(Module(True, "attention", Saved.OPERANDS), "MultiheadAttention"),
    **_modules(
        Module(True, "tensor", Saved.OPERANDS, Shape.SAME, random=True),
        "TransformerEncoder TransformerEncoderLayer",
    ),
    **_modules(
        Module(True, "tensor", Saved.OPERANDS, random=True),
        "Transformer TransformerDecoder TransformerDecoderLayer",
    ),
}
