"""The kinds that each file of this package lowers; `python -m scripts.lowering_index` writes it."""

INDEX: dict[str, str] = {
    "activation": "Activation ELU LeakyReLU PReLU ReLU Softmax ThresholdedReLU",
    "attention": "AdditiveAttention Attention GroupQueryAttention GroupedQueryAttention MultiHeadAttention",
    "audio": "MelSpectrogram STFTSpectrogram",
    "convolution": (
        "Conv1D Conv1DTranspose Conv2D Conv2DTranspose Conv3D Conv3DTranspose Convolution1D Convolution1DTranspose Convolution2D "
        "Convolution2DTranspose Convolution3D Convolution3DTranspose Deconvolution2D Deconvolution3D DepthwiseConv1D "
        "DepthwiseConv2D SeparableConv1D SeparableConv2D SeparableConvolution1D SeparableConvolution2D"
    ),
    "functions.elementwise": (
        "ops.Abs ops.Absolute ops.Add ops.Angle ops.Arccos ops.Arccosh ops.Arcsin ops.Arcsinh ops.Arctan ops.Arctan2 ops.Arctanh "
        "ops.Array ops.BitwiseAnd ops.BitwiseInvert ops.BitwiseLeftShift ops.BitwiseNot ops.BitwiseOr ops.BitwiseRightShift "
        "ops.BitwiseXor ops.Cast ops.Cbrt ops.Ceil ops.Celu ops.Clip ops.Conj ops.Conjugate ops.ConvertToTensor ops.Copy ops.Cos "
        "ops.Cosh ops.Deg2rad ops.Divide ops.DivideNoNan ops.Elu ops.Equal ops.Erf ops.Erfc ops.Erfinv ops.Exp ops.Exp2 ops.Expm1 "
        "ops.Fabs ops.Floor ops.FloorDivide ops.Fmax ops.Fmin ops.Fmod ops.Gelu ops.Glu ops.Greater ops.GreaterEqual "
        "ops.HardShrink ops.HardSigmoid ops.HardSilu ops.HardTanh ops.Heaviside ops.Hypot ops.I0 ops.Identity ops.Imag "
        "ops.Isclose ops.Isfinite ops.Isinf ops.Isnan ops.Isneginf ops.Isposinf ops.Ldexp ops.LeakyRelu ops.LeftShift ops.Less "
        "ops.LessEqual ops.Log ops.Log10 ops.Log1p ops.Log2 ops.LogSigmoid ops.LogSoftmax ops.Logaddexp ops.Logaddexp2 "
        "ops.LogicalAnd ops.LogicalNot ops.LogicalOr ops.LogicalXor ops.Maximum ops.Minimum ops.Mod ops.Multiply ops.NanToNum "
        "ops.Negative ops.Nextafter ops.NotEqual ops.Power ops.Rad2deg ops.Real ops.Reciprocal ops.Relu ops.Relu6 ops.RightShift "
        "ops.Round ops.Rsqrt ops.SaturateCast ops.Select ops.Selu ops.Sigmoid ops.Sign ops.Signbit ops.Silu ops.Sin ops.Sinc "
        "ops.Sinh ops.SoftShrink ops.Softmax ops.Softplus ops.Softsign ops.SparsePlus ops.SparseSigmoid ops.Sparsemax ops.Sqrt "
        "ops.Square ops.Squareplus ops.StopGradient ops.Subtract ops.Tan ops.Tanh ops.TanhShrink ops.Threshold ops.TrueDivide "
        "ops.Trunc ops.Where"
    ),
    "functions.generation": "ops.Full ops.Isreal ops.Linspace ops.Logspace ops.Meshgrid ops.UnravelIndex ops.Vander",
    "functions.images": "ops.CropImages ops.ExtractPatches ops.HSVToRGB ops.PadImages ops.RGBToGrayscale ops.RGBToHSV ops.Resize",
    "functions.indexing": "ops.GetItem ops.Slice ops.Take ops.TakeAlongAxis",
    "functions.linear_algebra": (
        "ops.Cholesky ops.CholeskyInverse ops.Det ops.Eigh ops.Inv ops.Logdet ops.LuFactor ops.Qr ops.SVD ops.Slogdet ops.Solve "
        "ops.SolveTriangular"
    ),
    "functions.mathematics": "ops.Bincount ops.Cross ops.Diag ops.Diagflat ops.Gcd ops.InTopK ops.Kron ops.Lcm",
    "functions.movement": (
        "ops.Arange ops.BroadcastTo ops.Diagonal ops.Diff ops.EmptyLike ops.ExpandDims ops.Flip ops.Fliplr ops.Flipud "
        "ops.FullLike ops.Moveaxis ops.MultiHot ops.OneHot ops.OnesLike ops.Pad ops.Ravel ops.Repeat ops.Reshape ops.Roll "
        "ops.Rot90 ops.SegmentMax ops.SegmentMin ops.SegmentProd ops.SegmentSum ops.Shape ops.Squeeze ops.Swapaxes ops.Tile "
        "ops.Trace ops.Transpose ops.Tril ops.Triu ops.ZerosLike"
    ),
    "functions.networks": (
        "ops.BatchNorm ops.CDist ops.Conv ops.ConvTranspose ops.DepthToSpace ops.DepthwiseConv ops.LayerNorm ops.RMSNorm "
        "ops.SeparableConv ops.SpaceToDepth ops.Unfold"
    ),
    "functions.order_statistics": (
        "ops.IsIn ops.Nanargmax ops.Nanargmin ops.Nancumprod ops.Nancumsum ops.Percentile ops.Quantile ops.Trapezoid"
    ),
    "functions.products": "ops.Dot ops.DotProductAttention ops.Einsum ops.Inner ops.Matmul ops.Outer ops.Tensordot ops.Vdot",
    "functions.reduction": (
        "ops.All ops.Amax ops.Amin ops.Any ops.Argmax ops.Argmin ops.Argsort ops.Average ops.CountNonzero ops.Cumprod ops.Cumsum "
        "ops.Digitize ops.Logsumexp ops.Max ops.Mean ops.Median ops.Min ops.Moments ops.Nanmax ops.Nanmean ops.Nanmin ops.Nanprod "
        "ops.Nanstd ops.Nansum ops.Nanvar ops.Norm ops.Normalize ops.Prod ops.Ptp ops.SearchSorted ops.Sort ops.Std ops.Sum "
        "ops.TopK ops.Var"
    ),
    "functions.spectra": "ops.FFT ops.FFT2 ops.IFFT2 ops.IRFFT ops.RFFT",
    "functions.stacking": (
        "ops.Append ops.ArraySplit ops.Concatenate ops.Dsplit ops.Dstack ops.Hsplit ops.Hstack ops.Split ops.Stack ops.Unstack "
        "ops.Vsplit ops.Vstack"
    ),
    "functions.updates": "ops.Scatter ops.ScatterUpdate ops.SliceUpdate",
    "hashing": "Hashing",
    "images": "AutoContrast CenterCrop RandomCrop Resizing",
    "indexing": "Embedding ReversibleEmbedding",
    "infrastructure": (
        "ActivityRegularization AlphaDropout AugMix CutMix Dropout Equalization GaussianDropout GaussianNoise Identity Lambda "
        "Masking MixUp RandAugment RandomBrightness RandomColorDegeneration RandomColorJitter RandomContrast "
        "RandomElasticTransform RandomErasing RandomFlip RandomGaussianBlur RandomGrayscale RandomHeight RandomHue RandomInvert "
        "RandomPerspective RandomPosterization RandomRotation RandomSaturation RandomSharpness RandomShear RandomTranslation "
        "RandomWidth RandomZoom Solarization SpatialDropout1D SpatialDropout2D SpatialDropout3D"
    ),
    "local_convolution": "LocallyConnected1D LocallyConnected2D",
    "matrix": "Dense EinsumDense",
    "merging": "Add Average Concatenate CustomScaleLayer Dot Maximum Minimum Multiply Subtract",
    "normalization": (
        "BatchNormalization BatchNormalizationV1 BatchNormalizationV2 GroupNormalization LayerNormalization LayerScale "
        "RMSNormalization SyncBatchNormalization UnitNormalization"
    ),
    "pooling": (
        "AdaptiveAveragePooling1D AdaptiveAveragePooling2D AdaptiveAveragePooling3D AdaptiveMaxPooling1D AdaptiveMaxPooling2D "
        "AdaptiveMaxPooling3D AveragePooling1D AveragePooling2D AveragePooling3D AvgPool1D AvgPool2D AvgPool3D "
        "GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D GlobalAvgPool1D GlobalAvgPool2D GlobalAvgPool3D "
        "GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D MaxPool1D "
        "MaxPool2D MaxPool3D MaxPooling1D MaxPooling2D MaxPooling3D ops.AdaptiveAveragePool ops.AdaptiveMaxPool ops.AveragePool "
        "ops.MaxPool"
    ),
    "preprocessing": "CategoryEncoding Discretization IntegerLookup Normalization Rescaling StringLookup",
    "recurrent": "Bidirectional ConvLSTM1D ConvLSTM2D ConvLSTM3D CuDNNGRU CuDNNLSTM GRU LSTM RNN SimpleRNN",
    "refusals": "FlaxLayer HashedCrossing JaxLayer TFSMLayer TorchModuleWrapper",
    "reshaping": (
        "Cropping1D Cropping2D Cropping3D Flatten Permute RepeatVector Reshape UpSampling1D UpSampling2D UpSampling3D "
        "ZeroPadding1D ZeroPadding2D ZeroPadding3D"
    ),
    "tensorflow_functions": "SlicingOpLambda TFOpLambda",
    "texts": "TextVectorization",
    "wrappers": "TimeDistributed",
}
