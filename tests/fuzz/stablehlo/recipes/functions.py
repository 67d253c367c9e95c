"""Functions of networks, which are several operations that moir fuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from tests.fuzz.draw import Array, Draw
from tests.fuzz.stablehlo.recipe import REAL, array, jnp, nn, recipe

Drawn = tuple[Callable[..., Any], Sequence[Array]]


@recipe(
    "relu relu6 elu selu celu silu gelu softplus soft_sign leaky_relu log_sigmoid hard_tanh hard_sigmoid hard_silu mish squareplus "
    "sparse_plus glu"
)
def activation(draw: Draw, name: str) -> Drawn:
    """An activation."""
    shape = draw.filled(1, 3)
    shape[-1] = 4 if name == "glu" else shape[-1]
    if name == "gelu":
        approximate = draw.chance(0.5)
        return lambda x: nn.gelu(x, approximate=approximate), [array(draw, REAL, shape)]
    return getattr(nn, name), [array(draw, REAL, shape)]


@recipe("softmax log_softmax standardize normalize layer_norm rms_norm batch_norm")
def normalized(draw: Draw, name: str) -> Drawn:
    """A normalization along an axis."""
    shape = draw.filled(2, 4)
    axis, data = draw.one_of((-1, -1, 0, 1)), array(draw, (np.float32, np.float32, np.float32, np.float16), shape, 0.0)
    match name:
        case "softmax" | "log_softmax":
            return lambda x: getattr(nn, name)(x, axis=axis), [data]
        case "standardize":
            return lambda x: nn.standardize(x, axis=axis, epsilon=1e-3), [data.astype(np.float32)]
        case "normalize":
            return lambda x: x / (jnp.linalg.norm(x, axis=axis, keepdims=True) + 1e-3), [data.astype(np.float32)]
        case _:
            x = data.astype(np.float32)
            scale, offset = (draw.array(np.dtype(np.float32), shape[-1:], 0.0) for _ in range(2))
            variance = draw.positive(np.float32, shape[-1:])

            def function(x: Any) -> Any:
                if name == "rms_norm":
                    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-3) * scale
                if name == "batch_norm":
                    return (x - offset) * (jax.lax.rsqrt(variance + 1e-3) * scale) + offset
                mean = jnp.mean(x, axis=-1, keepdims=True)
                spread = jnp.mean(jnp.square(x - mean), axis=-1, keepdims=True)
                return (x - mean) * jax.lax.rsqrt(spread + 1e-3) * scale + offset

            return function, [x]


@recipe("dot_product_attention")
def attention(draw: Draw, _: str) -> Drawn:
    """Attention of heads, grouped, causal, with a mask or a bias."""
    heads, groups = draw.integer(1, 2), draw.integer(1, 2)
    batch, queries, keys, depth = draw.integer(1, 2), draw.integer(1, 4), draw.integer(1, 4), draw.integer(1, 4)
    query, key, value = (
        array(draw, (np.float32,), shape, 0.0)
        for shape in ([batch, queries, heads * groups, depth], [batch, keys, heads, depth], [batch, keys, heads, depth])
    )
    match draw.one_of(("plain", "causal", "mask", "bias")):
        case "causal":
            return lambda q, k, v: nn.dot_product_attention(q, k, v, is_causal=True), [query, key, value]
        case "mask":
            mask = draw.random.random([batch, 1, queries, keys]) < 0.7
            mask[..., 0] = True
            return lambda q, k, v, m: nn.dot_product_attention(q, k, v, mask=m), [query, key, value, mask]
        case "bias":
            bias = array(draw, (np.float32,), [1, heads * groups, queries, keys], 0.0)
            return lambda q, k, v, b: nn.dot_product_attention(q, k, v, bias=b), [query, key, value, bias]
        case _:
            return nn.dot_product_attention, [query, key, value]


@recipe("resize map_coordinates interp polyval convolve")
def images(draw: Draw, name: str) -> Drawn:
    """Images and signals."""
    match name:
        case "resize":
            method, shape = draw.one_of(("linear", "nearest", "cubic", "lanczos3")), [1, *draw.integers(2, 2, 6), 2]
            target = (1, *draw.integers(2, 1, 8), 2)
            return lambda x: jax.image.resize(x, target, method, antialias=draw.chance(0.0)), [array(draw, (np.float32,), shape, 0.0)]
        case "map_coordinates":
            data = array(draw, (np.float32,), draw.integers(2, 2, 5), 0.0)
            places = draw.random.uniform(-0.5, 4, (2, 3)).astype(np.float32)
            return lambda x, c: jax.scipy.ndimage.map_coordinates(x, list(c), 1), [data, places]
        case "interp":
            line = np.sort(array(draw, (np.float32,), [4], 0.0)) + np.arange(4, dtype=np.float32)
            return jnp.interp, [array(draw, (np.float32,), [5], 0.0), line, array(draw, (np.float32,), [4], 0.0)]
        case "polyval":
            return jnp.polyval, [array(draw, (np.float32,), [3], 0.0), array(draw, (np.float32,), [2, 3], 0.0)]
        case _:
            mode = draw.one_of(("full", "same", "valid"))
            return lambda x, w: jnp.convolve(x, w, mode), [array(draw, (np.float32,), [7], 0.0), array(draw, (np.float32,), [3], 0.0)]
