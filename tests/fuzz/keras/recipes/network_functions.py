"""Functions of `keras.ops` that layers are made of, of images, of matrices, of spectra, of parts of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.draw import Draw
from tests.fuzz.keras.recipe import BICUBIC, Call, data_format, function_recipe, keras, numbers, spatial
from tests.fuzz.keras.recipes.functions import REAL, array, call

ops: Any = keras.ops


@function_recipe("conv depthwise_conv separable_conv")
def convolution(draw: Draw, name: str) -> Call:
    """A convolution by a constant or computed kernel; a model of Keras 3.15 with a conv_transpose does not run."""
    axes, form = draw.integer(1, 2), data_format(draw)
    inputs, outputs = draw.integers(2, 1, 3)
    x = spatial(draw, axes, form, inputs, low=4)
    window = draw.integers(axes, 1, 3)
    strides = draw.integer(1, 2)
    options: dict[str, Any] = {"strides": strides, "padding": draw.one_of(("valid", "same")), "data_format": form or "channels_last"}
    if strides == 1 and draw.chance(0.3):
        options["dilation_rate"] = draw.integer(1, 2)
    last = {"conv": [inputs, outputs]}.get(name, [inputs, draw.integer(1, 2)])
    kernels = [numbers(draw, [*window, *last])]
    if name == "separable_conv":
        kernels.append(numbers(draw, [*(1,) * axes, inputs * last[1], outputs]))
    if draw.chance(0.5):
        return Call(lambda data: getattr(ops, name)(data, *kernels, **options), [x], fixed=True)
    # The first dimension of an input is the batch, which a kernel has not.
    return Call(lambda data, *given: getattr(ops, name)(data, *(each[0] for each in given), **options), [x, *(k[None] for k in kernels)])


@function_recipe("batch_normalization layer_normalization rms_normalization")
def normalization(draw: Draw, name: str) -> Call:
    """A normalization with constants."""
    shape = draw.filled(2, 4)
    axis = draw.one_of((-1, 1)) if name == "batch_normalization" else -1
    x, size = array(draw, REAL, shape, 0.0), shape[axis]
    vectors = [draw.random.normal(size=size).astype(x.dtype) for _ in range(4)]
    first, second = (each if draw.chance(0.6) else None for each in vectors[:2])
    if name == "batch_normalization":
        mean, variance = vectors[2], np.abs(vectors[3]) + 0.5
        return Call(lambda data: ops.batch_normalization(data, mean, variance, axis, offset=first, scale=second), [x])
    epsilon = draw.one_of((None, 1e-3))
    if name == "rms_normalization":
        return Call(lambda data: ops.rms_normalization(data, scale=first, axis=-1, epsilon=epsilon), [x])
    return Call(lambda data: ops.layer_normalization(data, gamma=first, beta=second, axis=-1, epsilon=epsilon), [x])


@function_recipe("depth_to_space space_to_depth unfold cdist adaptive_average_pool adaptive_max_pool dot_product_attention glu sparsemax")
def of_layers(draw: Draw, name: str) -> Call:
    """A function that a layer might be."""
    match name:
        case "depth_to_space" | "space_to_depth":
            block, form = draw.integer(2, 3), draw.one_of(("channels_last", "channels_first"))
            sizes, channels = draw.integers(2, 1, 3), draw.integer(1, 2)
            if name == "depth_to_space":
                channels *= block**2
            else:
                sizes = [block * each for each in sizes]
            shape = [2, channels, *sizes] if form == "channels_first" else [2, *sizes, channels]
            return call(name, [numbers(draw, shape)], block_size=block, data_format=form)
        case "unfold":
            options = {"kernel_size": draw.integer(1, 3), "stride": draw.integer(1, 2), "padding": draw.integer(0, 1)}
            data = numbers(draw, [2, draw.integer(1, 3), *draw.integers(2, 3, 6)])
            return Call(lambda x: ops.unfold(x, **options), [data], fixed=True)
        case "cdist":
            size = draw.integer(1, 4)
            return call(name, [numbers(draw, [2, draw.integer(1, 4), size]), numbers(draw, [2, draw.integer(1, 4), size])])
        case "adaptive_average_pool" | "adaptive_max_pool":
            form = data_format(draw)
            data = spatial(draw, 2, form, draw.integer(1, 3), low=3)
            return Call(lambda x: getattr(ops, name)(x, output_size=(2, 3), data_format=form), [data], fixed=True)
        case "dot_product_attention":
            heads, size = draw.integer(1, 3), draw.integer(1, 4)
            steps = draw.integers(2, 1, 5)
            arrays = [numbers(draw, [2, steps[0], heads, size]), *(numbers(draw, [2, steps[1], heads, size]) for _ in range(2))]
            causal = draw.chance(0.3) and steps[0] == steps[1]
            return Call(lambda q, k, v: ops.dot_product_attention(q, k, v, is_causal=causal), arrays)
        case "glu":
            return call(name, [array(draw, REAL, [*draw.filled(1, 2), 4], 0.0)], axis=-1)
        case _:
            return call(name, [array(draw, (np.float32,), draw.filled(2, 3), 0.0)], axis=-1)


@function_recipe("cholesky inv det slogdet logdet solve solve_triangular lu_factor qr eigh svd norm cholesky_inverse")
def of_matrices(draw: Draw, name: str) -> Call:
    """A function of matrices."""
    size, batch = draw.integer(1, 4), draw.integer(1, 3)
    square = draw.random.normal(size=[batch, size, size]).astype(np.float32)
    positive = square @ np.swapaxes(square, -1, -2) + 2 * np.eye(size, dtype=np.float32)
    dominant = square + 4 * np.eye(size, dtype=np.float32)
    match name:
        case "cholesky" | "cholesky_inverse":
            upper = draw.chance(0.3)
            factor = np.linalg.cholesky(positive)
            factor = np.swapaxes(factor, -1, -2) if upper else factor
            if name == "cholesky":
                return call(name, [positive], upper=upper)
            return Call(lambda x: ops.cholesky_inverse(x[0], upper=upper), [factor.astype(np.float32)])
        case "solve" | "solve_triangular":
            other = numbers(draw, [batch, size, draw.integer(1, 3)])
            options = {"lower": draw.chance(0.5)} if name == "solve_triangular" else {}
            return call(name, [dominant, other], **options)
        case "norm":
            data = numbers(draw, draw.filled(2, 3))
            return call(name, [data], ord=draw.one_of((None, 1, 2, np.inf, 3)), axis=-1, keepdims=draw.chance(0.5))
        case "qr":
            return Call(lambda x: ops.abs(ops.qr(x)[1]), [numbers(draw, [batch, draw.integer(1, 4), draw.integer(1, 4)])], fixed=True)
        case "eigh":
            return Call(lambda x: ops.eigh(x)[0], [positive])
        case "svd":
            return Call(lambda x: ops.svd(x, full_matrices=False)[1], [square])
        case "logdet":
            return call(name, [positive])
        case _:
            return call(name, [dominant])


@function_recipe("fft fft2 ifft2 rfft irfft")
def of_spectra(draw: Draw, name: str) -> Call:
    """A Fourier transform."""
    shape = [draw.integer(1, 3), draw.integer(1, 4), draw.integer(2, 6)]
    arrays = [numbers(draw, shape) for _ in range(1 if name == "rfft" else 2)]
    length = {"fft_length": draw.one_of((None, 4, 8))} if name in ("rfft", "irfft") else {}
    if name == "rfft":
        return Call(lambda x: ops.rfft(x, **length), arrays)
    return Call(lambda x, y: getattr(ops, name)((x, y), **length), arrays, fixed=True)


@function_recipe("scatter scatter_update slice_update")
def of_parts(draw: Draw, name: str) -> Call:
    """A part of a tensor that is replaced or added to."""
    shape = draw.filled(1, 3)
    data, count = array(draw, (np.float32,), shape, 0.0), draw.integer(1, 4)
    depth = draw.integer(1, len(shape))
    places = np.stack([draw.between(np.int32, [count], 0, size - 1) for size in shape[:depth]], -1)
    places = np.unique(places, axis=0)
    updates = numbers(draw, [len(places), *shape[depth:]])
    match name:
        case "scatter":
            return Call(lambda i, u: ops.scatter(i, u, tuple(shape)), [places, updates], fixed=True)
        case "scatter_update":
            options = {"reduction": draw.one_of((None, "add", "max", "min", "mul"))}
            return Call(lambda x, i, u: ops.scatter_update(x, i, u, **options), [data, places, updates], fixed=True)
        case _:
            starts = [draw.integer(0, size - 1) for size in shape]
            part = numbers(draw, [draw.integer(1, size - start) for size, start in zip(shape, starts, strict=True)])
            return Call(lambda x, u: ops.slice_update(x, starts, u), [data, part], fixed=True)


@function_recipe(
    "quantile percentile isin nanargmax nanargmin nancumsum nancumprod trapezoid linspace logspace meshgrid vander unravel_index isreal "
    "hsplit vsplit dsplit moments diagflat segment_min segment_prod"
)
def of_statistics(draw: Draw, name: str) -> Call:
    """A quantile, a member of a set, a range."""
    shape = draw.filled(2, 3)
    data, axis = array(draw, (np.float32,), shape, 0.0), draw.axis(len(shape))
    if name.startswith("nan"):
        data = np.where(draw.random.random(shape) < 0.2, np.float32(np.nan), data)
    match name:
        case "quantile" | "percentile":
            scale = 1 if name == "quantile" else 100
            q: Any = draw.one_of((0.5, 0.25, [0.1, 0.75], 0.0))
            q = [scale * each for each in q] if isinstance(q, list) else scale * q
            options = {
                "axis": axis,
                # Models of Keras 3.15 have the method of a quantile in their files, and do not use it.
                "method": draw.one_of(("linear", "linear", "lower", "higher", "midpoint")) if name == "percentile" else "linear",
                "keepdims": draw.chance(0.3),
            }
            return Call(lambda x: getattr(ops, name)(x, q, **options), [data], fixed=True)
        case "isin":
            members = draw.between(np.int32, [4], 0, 5)
            invert = draw.chance(0.3)
            return Call(lambda x: ops.isin(x, members, invert=invert), [draw.between(np.int32, shape, 0, 9)])
        case "nanargmax" | "nanargmin":
            # JAX with 64 bits has other integers than Keras says.
            return Call(lambda x: ops.cast(getattr(ops, name)(x, axis=axis), "int32"), [data])
        case "nancumsum" | "nancumprod" | "trapezoid":
            return call(name, [data], axis=axis)
        case "linspace" | "logspace":
            ends = [numbers(draw, shape[:1]), numbers(draw, shape[:1])]
            return call(name, ends, num=draw.integer(1, 5), endpoint=draw.chance(0.7), axis=draw.one_of((0, -1)))
        case "meshgrid":
            way = draw.one_of(("xy", "ij"))
            return Call(lambda *x: ops.meshgrid(*x, indexing=way), [numbers(draw, [draw.integer(1, 4)]) for _ in range(draw.integer(2, 3))])
        case "vander":
            return call(name, [numbers(draw, [draw.integer(1, 4)])], N=draw.integer(1, 4), increasing=draw.chance(0.5))
        case "unravel_index":
            return Call(lambda i: ops.unravel_index(i, (3, 4)), [draw.between(np.int32, shape[:1], 0, 11)])
        case "hsplit" | "vsplit" | "dsplit":
            data = numbers(draw, [4, 4, 2])
            return Call(lambda x: getattr(ops, name)(x, 2), [data], fixed=True)
        case "moments":
            return Call(lambda x: ops.moments(x, axes=[axis], keepdims=True), [data])
        case "segment_min" | "segment_prod":
            # What segments without elements are depends on the backend.
            keys = np.arange(shape[0], dtype=np.int32) // 2
            return call(name, [data, keys], num_segments=int(keys[-1]) + 1)
        case _:
            return Call(lambda x: getattr(ops, name)(x), [data])


IMAGE_FUNCTIONS = ("resize", "rgb_to_grayscale", "rgb_to_hsv", "hsv_to_rgb", "pad_images", "crop_images", "extract_patches")


@function_recipe("image")
def of_images(draw: Draw, _: str) -> Call:
    """A function of `keras.ops.image`."""
    name, form = draw.one_of(IMAGE_FUNCTIONS), data_format(draw)
    x = np.abs(spatial(draw, 2, form, 3, low=4)).clip(0, 1)
    match name:
        case "resize":
            options: dict[str, Any] = {
                "size": tuple(draw.integers(2, 2, 8)),
                "interpolation": draw.one_of(("bilinear", "bilinear", "nearest", BICUBIC, "lanczos3")),
                "antialias": draw.chance(0.2),
            }
        case "pad_images":
            options = {"top_padding": draw.integer(0, 2), "left_padding": draw.integer(0, 2), "target_height": 14, "target_width": 15}
        case "crop_images":
            options = {"top_cropping": draw.integer(0, 1), "left_cropping": draw.integer(0, 1), "target_height": 2, "target_width": 3}
        case "extract_patches":
            options = {"size": draw.one_of((2, (2, 3))), "strides": draw.one_of((None, 1, 2)), "padding": draw.one_of(("valid", "same"))}
        case _:
            options = {}
    return Call(lambda images: getattr(ops.image, name)(images, data_format=form, **options), [x], fixed=True)
