"""The cases of the fixtures, by families: the inputs of a model, and a function for each of its outputs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Family(NamedTuple):
    """The cases of a model.

    Args:
        inputs: functions of a random generator that make the inputs, by their names.
        cases: for each output the names of its inputs, and a function of `paddle.nn.functional`, `paddle` and these.
        dynamic: the dimensions of inputs that are unknown in the second model; none for no second model.
    """

    inputs: dict[str, Any]
    cases: dict[str, tuple[tuple[str, ...], Any]]
    dynamic: tuple[int, ...] = ()


def _of(names: str, **cases: Any) -> dict[str, Any]:
    return {name: (tuple(names.split()), case) for name, case in cases.items()}


def _normal(*shape: int) -> Any:
    return lambda random: random.standard_normal(shape).astype(np.float32)


def _positive(*shape: int) -> Any:
    return lambda random: random.uniform(0.1, 0.9, shape).astype(np.float32)


def _integers(high: int, *shape: int, low: int = 0, dtype: Any = np.int64) -> Any:
    return lambda random: random.integers(low, high, shape).astype(dtype)


FAMILIES = {
    "activation": Family(
        {"x": _normal(2, 4, 5), "p": _positive(2, 4, 5)},
        {
            **_of(
                "x",
                relu=lambda F, paddle, x: F.relu(x),
                relu6=lambda F, paddle, x: F.relu6(4 * x),
                leaky=lambda F, paddle, x: F.leaky_relu(x, 0.3),
                elu=lambda F, paddle, x: F.elu(x, 0.7),
                celu=lambda F, paddle, x: F.celu(x, 0.7),
                selu=lambda F, paddle, x: F.selu(x),
                gelu=lambda F, paddle, x: F.gelu(x),
                gelu_tanh=lambda F, paddle, x: F.gelu(x, True),
                silu=lambda F, paddle, x: F.silu(x),
                swish=lambda F, paddle, x: F.swish(x),
                mish=lambda F, paddle, x: F.mish(x),
                softplus=lambda F, paddle, x: F.softplus(x, 2.0, 1.0),
                softplus_default=lambda F, paddle, x: F.softplus(x),
                hard_sigmoid=lambda F, paddle, x: F.hardsigmoid(4 * x),
                hard_sigmoid_other=lambda F, paddle, x: F.hardsigmoid(x, 0.2, 0.4),
                hard_swish=lambda F, paddle, x: F.hardswish(4 * x),
                hard_tanh=lambda F, paddle, x: F.hardtanh(x, -0.5, 0.7),
                hard_shrink=lambda F, paddle, x: F.hardshrink(x, 0.4),
                soft_shrink=lambda F, paddle, x: F.softshrink(x, 0.4),
                tanh_shrink=lambda F, paddle, x: F.tanhshrink(x),
                thresholded=lambda F, paddle, x: F.thresholded_relu(x, 0.3),
                scaled_tanh=lambda F, paddle, x: paddle.stanh(x, 0.5, 1.5),
                log_sigmoid=lambda F, paddle, x: F.log_sigmoid(x),
                softsign=lambda F, paddle, x: F.softsign(x),
                softmax=lambda F, paddle, x: F.softmax(x, 1),
                log_softmax=lambda F, paddle, x: F.log_softmax(x, -1),
                maxout=lambda F, paddle, x: F.maxout(x, 2, 1),
                glu=lambda F, paddle, x: F.glu(x, 1),
                dropout=lambda F, paddle, x: F.dropout(x, 0.3, training=False, mode="downscale_in_infer"),
                dropout_kept=lambda F, paddle, x: F.dropout(x, 0.3, training=False),
                cast=lambda F, paddle, x: paddle.cast(3 * x, "int32"),
                cast_bool=lambda F, paddle, x: paddle.cast(x, "bool"),
                scale=lambda F, paddle, x: paddle.scale(x, 2.5, 0.5),
                scale_before=lambda F, paddle, x: paddle.scale(x, 2.5, 0.5, bias_after_scale=False),
                clip=lambda F, paddle, x: paddle.clip(x, -0.3, 0.6),
                clip_low=lambda F, paddle, x: paddle.clip(x, -0.3),
                pow=lambda F, paddle, x: paddle.pow(paddle.abs(x), 1.7),
                square=lambda F, paddle, x: paddle.square(x),
                label_smooth=lambda F, paddle, x: F.label_smooth(x, epsilon=0.2),
            ),
            **_of("p", logit=lambda F, paddle, p: paddle.logit(p, 1e-3)),
            **{
                name: (("p",), lambda F, paddle, p, name=name: getattr(paddle, name)(p))
                for name in "abs acos asin atan asinh atanh ceil cos cosh erf erfinv exp expm1 floor lgamma log log10 log1p log2 "
                "reciprocal round rsqrt sign sin sinh sqrt tan tanh trunc isnan isinf isfinite".split()
            },
        },
        dynamic=(0, 2),
    ),
    "arithmetic": Family(
        {"x": _normal(2, 3, 4), "y": _normal(3, 1), "a": _integers(20, 2, 3, low=-20), "b": _integers(6, 2, 3, low=1), "m": _integers(2, 2, 3)},
        {
            **_of(
                "x y",
                add=lambda F, paddle, x, y: x + y,
                subtract=lambda F, paddle, x, y: x - y,
                multiply=lambda F, paddle, x, y: x * y,
                divide=lambda F, paddle, x, y: x / y,
                power=lambda F, paddle, x, y: paddle.pow(paddle.abs(x), y),
                maximum=lambda F, paddle, x, y: paddle.maximum(x, y),
                minimum=lambda F, paddle, x, y: paddle.minimum(x, y),
                fmax=lambda F, paddle, x, y: paddle.fmax(x, y),
                mod=lambda F, paddle, x, y: paddle.mod(x, y),
                floor_divide=lambda F, paddle, x, y: paddle.floor_divide(x, y),
                atan2=lambda F, paddle, x, y: paddle.atan2(x, y),
                less=lambda F, paddle, x, y: x < y,
                less_equal=lambda F, paddle, x, y: x <= y,
                greater=lambda F, paddle, x, y: x > y,
                greater_equal=lambda F, paddle, x, y: x >= y,
                equal=lambda F, paddle, x, y: x == y,
                not_equal=lambda F, paddle, x, y: x != y,
                lerp=lambda F, paddle, x, y: paddle.lerp(x, y.expand([2, 3, 4]), 0.3),
                where=lambda F, paddle, x, y: paddle.where(x > y, x, y * 2),
                is_close=lambda F, paddle, x, y: paddle.isclose(x, y.expand([2, 3, 4]), 0.5, 0.5),
                equal_all=lambda F, paddle, x, y: paddle.equal_all(x, x),
                all_close=lambda F, paddle, x, y: paddle.allclose(x, x),
                add_n=lambda F, paddle, x, y: paddle.add_n([x, x, x]),
                logical=lambda F, paddle, x, y: paddle.logical_xor(paddle.logical_and(x > 0, y > 0), paddle.logical_or(x > 1, paddle.logical_not(y > 1))),
            ),
            **_of(
                "a b",
                int_divide=lambda F, paddle, a, b: paddle.floor_divide(a, b),
                int_mod=lambda F, paddle, a, b: paddle.mod(a, b),
                int_add=lambda F, paddle, a, b: a + b,
                bits=lambda F, paddle, a, b: paddle.bitwise_xor(paddle.bitwise_and(a, b), paddle.bitwise_or(a, paddle.bitwise_not(b))),
                int_scale=lambda F, paddle, a, b: a * 3 + 1,
            ),
            **_of("a b m", multiplex=lambda F, paddle, a, b, m: paddle.multiplex([a, b], m[:, :1].astype("int32"))),
        },
        dynamic=(0,),
    ),
    "matrix": Family(
        {"x": _normal(2, 3, 4), "w": _normal(4, 5), "v": _normal(4), "u": _normal(2, 4, 3), "t": _normal(2, 3)},
        {
            **_of("x w", matmul=lambda F, paddle, x, w: paddle.matmul(x, w), transposed=lambda F, paddle, x, w: paddle.matmul(w, x, True, True)),
            **_of("x v", vector=lambda F, paddle, x, v: paddle.matmul(x, v)),
            **_of("v", dot=lambda F, paddle, v: paddle.dot(v, v), outer=lambda F, paddle, v: paddle.outer(v, v), inner=lambda F, paddle, v: paddle.matmul(v, v)),
            **_of(
                "x u",
                bmm=lambda F, paddle, x, u: paddle.bmm(x, u),
                einsum=lambda F, paddle, x, u: paddle.einsum("bij,bjk->bik", x, u),
                addmm=lambda F, paddle, x, u: paddle.addmm(x[0, :, :3], x[0], u[0], beta=0.5, alpha=2.0),
                cross=lambda F, paddle, x, u: paddle.cross(x, u.transpose([0, 2, 1]), 1),
                kron=lambda F, paddle, x, u: paddle.kron(x[0], u[0]),
            ),
            **_of("w v", mv=lambda F, paddle, w, v: paddle.mv(w.t(), v)),
        },
        dynamic=(0,),
    ),
    "reduction": Family(
        {"x": _normal(2, 3, 4), "b": lambda random: random.uniform(size=(2, 3, 4)) > 0.5, "i": _integers(9, 2, 3, 4, dtype=np.int32)},
        {
            **_of(
                "x",
                mean=lambda F, paddle, x: paddle.mean(x, [1, -1]),
                mean_all=lambda F, paddle, x: paddle.mean(x),
                sum_kept=lambda F, paddle, x: paddle.sum(x, 1, keepdim=True),
                sum_typed=lambda F, paddle, x: paddle.sum(x, 1, dtype="float64"),
                max=lambda F, paddle, x: paddle.max(x, -1),
                min=lambda F, paddle, x: paddle.min(x, 0),
                amax=lambda F, paddle, x: paddle.amax(x, 1),
                amin=lambda F, paddle, x: paddle.amin(x, 1),
                prod=lambda F, paddle, x: paddle.prod(x, 2),
                logsumexp=lambda F, paddle, x: paddle.logsumexp(x, 1),
                logsumexp_all=lambda F, paddle, x: paddle.logsumexp(x),
                std=lambda F, paddle, x: paddle.std(x, 1),
                var=lambda F, paddle, x: paddle.var(x, 2, unbiased=False, keepdim=True),
                norm=lambda F, paddle, x: paddle.norm(x),
                norm_1=lambda F, paddle, x: paddle.norm(x, 1, 1),
                norm_3=lambda F, paddle, x: paddle.norm(x, 3, -1),
                norm_inf=lambda F, paddle, x: paddle.norm(x, np.inf, 1, keepdim=True),
                normalize=lambda F, paddle, x: F.normalize(x, axis=1),
                argmax=lambda F, paddle, x: paddle.argmax(x, 1),
                argmax_flat=lambda F, paddle, x: paddle.argmax(x),
                argmin=lambda F, paddle, x: paddle.argmin(x, -1, keepdim=True, dtype="int32"),
                cumsum=lambda F, paddle, x: paddle.cumsum(x, 1),
                cumsum_flat=lambda F, paddle, x: paddle.cumsum(x),
                cumprod=lambda F, paddle, x: paddle.cumprod(x, 2),
                size=lambda F, paddle, x: paddle.numel(x),
            ),
            **_of("b", all=lambda F, paddle, b: paddle.all(b, 1), any=lambda F, paddle, b: paddle.any(b, [0, 2], keepdim=True), sum_bool=lambda F, paddle, b: paddle.sum(b, 0)),
            **_of("i", sum_int=lambda F, paddle, i: paddle.sum(i, 1), max_int=lambda F, paddle, i: paddle.max(i, 1)),
        },
        dynamic=(0, 2),
    ),
    "shape": Family(
        {"x": _normal(2, 3, 4), "o": _normal(2, 1, 4), "n": _integers(3, 1, low=2)},
        {
            **_of(
                "x",
                reshape=lambda F, paddle, x: paddle.reshape(x, [0, -1]),
                reshape_tensor=lambda F, paddle, x: paddle.reshape(x, [paddle.shape(x)[0], 12]),
                unsqueeze=lambda F, paddle, x: paddle.unsqueeze(x, [0, -1]),
                flatten=lambda F, paddle, x: paddle.flatten(x, 1, 2),
                flatten_head=lambda F, paddle, x: paddle.flatten(x, 0, 1),
                flatten_all=lambda F, paddle, x: paddle.flatten(x),
                transpose=lambda F, paddle, x: paddle.transpose(x, [2, 0, 1]),
                tile=lambda F, paddle, x: paddle.tile(x, [1, 2, 3]),
                tile_more=lambda F, paddle, x: paddle.tile(x, [2, 1, 1, 1]),
                shape=lambda F, paddle, x: paddle.shape(x),
                concat=lambda F, paddle, x: paddle.concat([x, x * 2], -2),
                stack=lambda F, paddle, x: paddle.stack([x, -x], -1),
                unstack=lambda F, paddle, x: paddle.unstack(x, 1)[1],
                unbind=lambda F, paddle, x: paddle.unbind(x, 1)[2],
                split=lambda F, paddle, x: paddle.split(x, 3, 1)[2],
                split_parts=lambda F, paddle, x: paddle.split(x, [1, -1], 1)[1],
                chunk=lambda F, paddle, x: paddle.chunk(x, 2, 2)[0],
                flip=lambda F, paddle, x: paddle.flip(x, [1, 2]),
                roll=lambda F, paddle, x: paddle.roll(x, [1, -1], [1, 2]),
                roll_flat=lambda F, paddle, x: paddle.roll(x, 2),
                repeat=lambda F, paddle, x: paddle.repeat_interleave(x, 2, 1),
                tril=lambda F, paddle, x: paddle.tril(x, 1),
                triu=lambda F, paddle, x: paddle.triu(x, -1),
                diag=lambda F, paddle, x: paddle.diag(x[0, :, 0], 1, 7.0),
                diagonal=lambda F, paddle, x: paddle.diagonal(x, 1, 1, 2),
                trace=lambda F, paddle, x: paddle.trace(x, 0, 1, 2),
                meshgrid=lambda F, paddle, x: paddle.meshgrid(x[0, 0], x[0, :, 0])[1],
                moveaxis=lambda F, paddle, x: paddle.moveaxis(x, 0, 2),
                broadcast=lambda F, paddle, x: paddle.broadcast_tensors([x, x[:1]])[1],
            ),
            **_of(
                "o",
                squeeze=lambda F, paddle, o: paddle.squeeze(o, [1]),
                squeeze_kept=lambda F, paddle, o: paddle.squeeze(o, [1, 2]),
                expand=lambda F, paddle, o: paddle.expand(o, [-1, 3, -1]),
                expand_more=lambda F, paddle, o: paddle.expand(o, [2, 2, 5, 4]),
            ),
            **_of("x o", expand_as=lambda F, paddle, x, o: paddle.expand_as(o, x)),
            **_of("x n", tile_tensor=lambda F, paddle, x, n: paddle.tile(x, [1, n, 1])),
        },
        dynamic=(0,),
    ),
    "slicing": Family(
        {"x": _normal(4, 5, 6), "i": _integers(2, 1, low=1)},
        {
            **_of(
                "x",
                slice=lambda F, paddle, x: paddle.slice(x, [0, 2], [1, -4], [3, -1]),
                item=lambda F, paddle, x: x[1],
                last=lambda F, paddle, x: x[-1],
                items=lambda F, paddle, x: x[0, -1, 2],
                mixed=lambda F, paddle, x: x[1:, -1, ::2],
                strided=lambda F, paddle, x: x[::2, 1:4, ::-1],
                strided_slice=lambda F, paddle, x: paddle.strided_slice(x, [1, 2], [4, 0], [0, 5], [-2, 2]),
                newaxis=lambda F, paddle, x: x[:, None, 1:3],
                crop=lambda F, paddle, x: paddle.crop(x, [2, 3, -1], [1, 1, 2]),
            ),
            **_of("x i", computed=lambda F, paddle, x, i: paddle.slice(x, [1], i, i + 2), computed_item=lambda F, paddle, x, i: x[i]),
        },
        dynamic=(0,),
    ),
    "indexing": Family(
        {
            "x": _normal(4, 5, 6),
            "i": _integers(4, 3),
            "j": _integers(5, 4, 2),
            "nd": _integers(4, 3, 2),
            "u": _normal(3, 5, 6),
            "table": _normal(7, 3),
            "e": _integers(6, 4, 5, 6),
            "m": lambda random: random.uniform(size=(4, 5, 6)) > 0.5,
        },
        {
            **_of(
                "x i",
                gather=lambda F, paddle, x, i: paddle.gather(x, i),
                gather_axis=lambda F, paddle, x, i: paddle.gather(x, i, 1),
                index_select=lambda F, paddle, x, i: paddle.index_select(x, i, 2),
                advanced=lambda F, paddle, x, i: x[i],
            ),
            **_of("x j", index_sample=lambda F, paddle, x, j: paddle.index_sample(x[:, :, 0], j)),
            **_of("x nd", gather_nd=lambda F, paddle, x, nd: paddle.gather_nd(x, nd)),
            **_of("x i u", scatter=lambda F, paddle, x, i, u: paddle.scatter(x, paddle.to_tensor([1, 3, 0]), u), scatter_add=lambda F, paddle, x, i, u: paddle.scatter(x, i, u, overwrite=False), index_add=lambda F, paddle, x, i, u: paddle.index_add(x, i, 0, u)),
            **_of("x nd u", scatter_nd_add=lambda F, paddle, x, nd, u: paddle.scatter_nd_add(x, nd, u[:, 0])),
            **_of(
                "x e",
                take_along=lambda F, paddle, x, e: paddle.take_along_axis(x, e % 4, 0),
                put_along=lambda F, paddle, x, e: paddle.put_along_axis(x, e[:, :, :1], 9.0, 2),
                put_along_add=lambda F, paddle, x, e: paddle.put_along_axis(x, e[:, :, :1], 9.0, 2, reduce="add"),
            ),
            **_of("i table", embedding=lambda F, paddle, i, table: F.embedding(i, table), embedding_padded=lambda F, paddle, i, table: F.embedding(i, table, padding_idx=1)),
            **_of("x m", masked=lambda F, paddle, x, m: paddle.masked_select(x, m), nonzero=lambda F, paddle, x, m: paddle.nonzero(m), masked_fill=lambda F, paddle, x, m: paddle.masked_fill(x, m, 3.0)),
            **_of("i", one_hot=lambda F, paddle, i: F.one_hot(i, 5), sequence_mask=lambda F, paddle, i: F.sequence_mask(i + 1, 6), sequence_mask_longest=lambda F, paddle, i: F.sequence_mask(i + 1, dtype="float32")),
            **_of(
                "x",
                topk=lambda F, paddle, x: paddle.topk(x, 2, 1)[0],
                topk_places=lambda F, paddle, x: paddle.topk(x, 2, largest=False)[1],
                argsort=lambda F, paddle, x: paddle.argsort(x, 1, descending=True),
                sort=lambda F, paddle, x: paddle.sort(x, 0),
                kth=lambda F, paddle, x: paddle.kthvalue(x, 2, 1)[0],
            ),
            **_of("i", unique=lambda F, paddle, i: paddle.unique(i), unique_counts=lambda F, paddle, i: paddle.unique(i, return_counts=True)[1], unique_inverse=lambda F, paddle, i: paddle.unique(i, return_inverse=True)[1]),
            **_of("table x", searchsorted=lambda F, paddle, table, x: paddle.searchsorted(paddle.sort(table[:, 0]), x)),
        },
        dynamic=(),
    ),
    "generation": Family(
        {"x": _normal(2, 3), "n": _integers(6, 1, low=4)},
        {
            **_of(
                "x",
                full=lambda F, paddle, x: x + paddle.full([2, 3], 1.5),
                full_like=lambda F, paddle, x: paddle.full_like(x, 2.5),
                zeros_like=lambda F, paddle, x: paddle.zeros_like(x) + x,
                ones_like=lambda F, paddle, x: paddle.ones_like(x, dtype="int32"),
                full_shape=lambda F, paddle, x: paddle.full([paddle.shape(x)[0], 2], 3, "int64"),
                eye=lambda F, paddle, x: paddle.matmul(x, paddle.eye(3, 4)),
                assign=lambda F, paddle, x: x * paddle.to_tensor(np.array([1.0, 2.0, 3.0], np.float32)),
                big=lambda F, paddle, x: paddle.full([1], 2**53 + 1, "int64"),
                linspace=lambda F, paddle, x: x[:, :1] * paddle.linspace(0, 1, 5),
            ),
            **_of("n", arange=lambda F, paddle, n: paddle.arange(0, n[0], 1)),
        },
        dynamic=(0,),
    ),
    "convolution": Family(
        {"x": _normal(1, 4, 9, 10), "w": _normal(6, 4, 3, 3), "g": _normal(8, 2, 3, 2), "t": _normal(4, 3, 3, 3), "l": _normal(1, 9, 10, 4), "v": _normal(1, 2, 5, 6, 5), "k": _normal(3, 2, 2, 3, 2), "d": _normal(4, 1, 3, 3)},
        {
            **_of(
                "x w",
                conv=lambda F, paddle, x, w: F.conv2d(x, w),
                conv_strided=lambda F, paddle, x, w: F.conv2d(x, w, stride=[2, 1], padding=[1, 2], dilation=[1, 2]),
                conv_same=lambda F, paddle, x, w: F.conv2d(x, w, stride=2, padding="SAME"),
                conv_valid=lambda F, paddle, x, w: F.conv2d(x, w, padding="VALID"),
                conv_uneven=lambda F, paddle, x, w: F.conv2d(x, w, padding=[1, 0, 2, 1]),
            ),
            **_of("x g", conv_grouped=lambda F, paddle, x, g: F.conv2d(x, g, groups=2)),
            **_of("x d", conv_depthwise=lambda F, paddle, x, d: F.conv2d(x, d, groups=4, padding=1)),
            **_of("l w", conv_last=lambda F, paddle, l, w: F.conv2d(l, w, padding=1, data_format="NHWC")),
            **_of(
                "x t",
                transposed=lambda F, paddle, x, t: F.conv2d_transpose(x, t, stride=2, padding=1),
                transposed_output=lambda F, paddle, x, t: F.conv2d_transpose(x, t, stride=2, padding=1, output_padding=1),
                transposed_size=lambda F, paddle, x, t: F.conv2d_transpose(x, t, stride=2, output_size=[20, 21]),
                transposed_grouped=lambda F, paddle, x, t: F.conv2d_transpose(x, t, stride=2, groups=2),
            ),
            **_of("v k", conv_volume=lambda F, paddle, v, k: F.conv3d(v, k, padding=1)),
            **_of("v", transposed_volume=lambda F, paddle, v: F.conv3d_transpose(v, paddle.ones([2, 3, 2, 2, 2]), stride=2)),
            **_of("x", unfold=lambda F, paddle, x: F.unfold(x, [3, 2], 2, 1), unfold_wide=lambda F, paddle, x: F.unfold(x, 2, 1, [1, 0, 2, 1], 2)),
            **_of("x", fold=lambda F, paddle, x: F.fold(F.unfold(x, 3, 2, 1), [9, 10], 3, 2, 1)),
        },
        dynamic=(0,),
    ),
    "pooling": Family(
        {"x": _normal(1, 3, 9, 11), "l": _normal(1, 9, 11, 3), "v": _normal(1, 2, 6, 7, 5)},
        {
            **_of(
                "x",
                max=lambda F, paddle, x: F.max_pool2d(x, 3, 2, 1),
                max_ceil=lambda F, paddle, x: F.max_pool2d(x, 2, 2, 0, ceil_mode=True),
                avg=lambda F, paddle, x: F.avg_pool2d(x, 3, 2, 1),
                avg_inclusive=lambda F, paddle, x: F.avg_pool2d(x, 3, 2, 1, exclusive=False),
                avg_ceil=lambda F, paddle, x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
                avg_ceil_inclusive=lambda F, paddle, x: F.avg_pool2d(x, [2, 3], 2, 0, ceil_mode=True, exclusive=False),
                avg_same=lambda F, paddle, x: F.avg_pool2d(x, 3, 2, "SAME"),
                adaptive=lambda F, paddle, x: F.adaptive_avg_pool2d(x, [4, 3]),
                adaptive_kept=lambda F, paddle, x: F.adaptive_avg_pool2d(x, [None, 3]),
                adaptive_one=lambda F, paddle, x: F.adaptive_avg_pool2d(x, 1),
                adaptive_max=lambda F, paddle, x: F.adaptive_max_pool2d(x, [4, 3]),
                indexed=lambda F, paddle, x: F.max_pool2d(x, 2, 2, return_mask=True)[0],
                indices=lambda F, paddle, x: F.max_pool2d(x, 3, 2, 1, return_mask=True)[1],
            ),
            **_of("l", max_last=lambda F, paddle, l: F.max_pool2d(l, 2, 2, data_format="NHWC"), avg_last=lambda F, paddle, l: F.adaptive_avg_pool2d(l, 2, data_format="NHWC")),
            **_of("v", max_volume=lambda F, paddle, v: F.max_pool3d(v, 2, 2), avg_volume=lambda F, paddle, v: F.avg_pool3d(v, 3, 2, 1), adaptive_volume=lambda F, paddle, v: F.adaptive_avg_pool3d(v, [2, 3, 2])),
        },
        dynamic=(0,),
    ),
    "normalization": Family(
        {"x": _normal(2, 4, 5, 6), "s": _positive(4), "b": _normal(4), "v": _positive(4), "e": _positive(5, 6), "l": _normal(2, 5, 6, 4)},
        {
            **_of(
                "x s b v",
                batch=lambda F, paddle, x, s, b, v: F.batch_norm(x, b, v, s, s, training=False),
                batch_flat=lambda F, paddle, x, s, b, v: F.batch_norm(x[:, :, 0, 0], b, v, s, s, training=False),
                instance=lambda F, paddle, x, s, b, v: F.instance_norm(x, weight=s, bias=b),
                instance_plain=lambda F, paddle, x, s, b, v: F.instance_norm(x),
                group=lambda F, paddle, x, s, b, v: F.group_norm(x, 2, weight=s, bias=b),
                group_plain=lambda F, paddle, x, s, b, v: F.group_norm(x, 2),
                prelu=lambda F, paddle, x, s, b, v: F.prelu(x, s),
                prelu_one=lambda F, paddle, x, s, b, v: F.prelu(x, s[:1]),
            ),
            **_of("l s b v", batch_last=lambda F, paddle, l, s, b, v: F.batch_norm(l, b, v, s, s, training=False, data_format="NHWC"), group_last=lambda F, paddle, l, s, b, v: F.group_norm(l, 2, weight=s, bias=b, data_format="NHWC")),
            **_of("x e", layer=lambda F, paddle, x, e: F.layer_norm(x, [5, 6], e, e)),
            **_of("x", layer_plain=lambda F, paddle, x: F.layer_norm(x, [6]), lrn=lambda F, paddle, x: F.local_response_norm(x, 3, 0.1, 0.6, 1.5)),
        },
        dynamic=(0,),
    ),
    "image": Family(
        {"x": _normal(1, 4, 6, 7), "g": lambda random: random.uniform(-1.2, 1.2, (1, 5, 4, 2)).astype(np.float32), "theta": _normal(1, 2, 3), "l": _normal(1, 4, 5), "v": _normal(1, 2, 4, 5, 3), "c": _normal(1, 6, 7, 4)},
        {
            **_of(
                "x",
                nearest=lambda F, paddle, x: F.interpolate(x, [11, 5]),
                nearest_scale=lambda F, paddle, x: F.interpolate(x, scale_factor=[1.5, 2.0]),
                bilinear=lambda F, paddle, x: F.interpolate(x, [9, 12], mode="bilinear"),
                bilinear_aligned=lambda F, paddle, x: F.interpolate(x, [9, 12], mode="bilinear", align_corners=True),
                bilinear_asymmetric=lambda F, paddle, x: F.interpolate(x, [9, 12], mode="bilinear", align_mode=1),
                bilinear_scale=lambda F, paddle, x: F.interpolate(x, scale_factor=1.7, mode="bilinear"),
                bicubic=lambda F, paddle, x: F.interpolate(x, [9, 12], mode="bicubic"),
                bicubic_aligned=lambda F, paddle, x: F.interpolate(x, [9, 12], mode="bicubic", align_corners=True),
                sized=lambda F, paddle, x: F.interpolate(x, paddle.shape(x)[2:] * 2, mode="bilinear"),
                pixel_shuffle=lambda F, paddle, x: F.pixel_shuffle(x, 2),
                pixel_unshuffle=lambda F, paddle, x: F.pixel_unshuffle(x[:, :, :, :6], 2),
                channel_shuffle=lambda F, paddle, x: F.channel_shuffle(x, 2),
                pad=lambda F, paddle, x: F.pad(x, [1, 2, 0, 1], value=0.5),
                pad_reflect=lambda F, paddle, x: F.pad(x, [1, 2, 0, 1], mode="reflect"),
                pad_replicate=lambda F, paddle, x: F.pad(x, [1, 2, 0, 1], mode="replicate"),
                pad_circular=lambda F, paddle, x: F.pad(x, [1, 2, 0, 1], mode="circular"),
                pad_all=lambda F, paddle, x: F.pad(x, [0, 0, 1, 0, 2, 1, 0, 1], value=1.0),
                temporal_shift=lambda F, paddle, x: F.temporal_shift(paddle.concat([x, x * 2], 0), 2, 0.25),
            ),
            **_of("c", bilinear_last=lambda F, paddle, c: F.interpolate(c, [9, 12], mode="bilinear", data_format="NHWC"), shuffle_last=lambda F, paddle, c: F.pixel_shuffle(c, 2, "NHWC")),
            **_of("l", linear=lambda F, paddle, l: F.interpolate(l, [8], mode="linear", data_format="NCW")),
            **_of("v", trilinear=lambda F, paddle, v: F.interpolate(v, [6, 7, 8], mode="trilinear", data_format="NCDHW"), pad_volume=lambda F, paddle, v: F.pad(v, [1, 0, 2, 1, 0, 1], data_format="NCDHW")),
            **_of(
                "x g",
                grid=lambda F, paddle, x, g: F.grid_sample(x, g),
                grid_border=lambda F, paddle, x, g: F.grid_sample(x, g, padding_mode="border", align_corners=False),
                grid_reflection=lambda F, paddle, x, g: F.grid_sample(x, g, padding_mode="reflection"),
                grid_nearest=lambda F, paddle, x, g: F.grid_sample(x, g, mode="nearest"),
            ),
            **_of("theta", affine=lambda F, paddle, theta: F.affine_grid(theta, [1, 4, 3, 5]), affine_edges=lambda F, paddle, theta: F.affine_grid(theta, [1, 4, 3, 5], align_corners=False)),
        },
        dynamic=(0,),
    ),
    "detection": Family(
        {
            "x": _normal(1, 14, 4, 5),
            "size": lambda random: np.array([[64, 80]], np.int32),
            "f": _normal(2, 3, 8, 9),
            "rois": lambda random: np.array([[0, 0, 5, 6], [1, 2, 7, 7], [0.5, 1.5, 4.5, 3.5]], np.float32),
            "counts": lambda random: np.array([2, 1], np.int32),
            "image": _normal(1, 3, 64, 80),
            "prior": lambda random: np.array([[0.1, 0.1, 0.5, 0.6], [0.2, 0.3, 0.8, 0.7]], np.float32),
            "boxes": lambda random: (np.array([[0, 0, 4, 4], [0.5, 0, 4.5, 4], [5, 5, 9, 9], [5, 5, 9, 8]], np.float32))[None],
            "scores": lambda random: np.array([[[0.9, 0.8, 0.7, 0.3], [0.2, 0.85, 0.1, 0.6]]], np.float32),
            "target": _normal(3, 2, 4),
        },
        {
            **_of(
                "x size",
                yolo=lambda F, paddle, x, size: paddle.vision.ops.yolo_box(x, size, [10, 13, 16, 30], 2, 0.3, 16)[0],
                yolo_scores=lambda F, paddle, x, size: paddle.vision.ops.yolo_box(x, size, [10, 13, 16, 30], 2, 0.3, 16, False, scale_x_y=1.2)[1],
            ),
            **_of(
                "f rois counts",
                roi_align=lambda F, paddle, f, rois, counts: paddle.vision.ops.roi_align(f, rois, counts, 3, 0.5, 2),
                roi_align_edges=lambda F, paddle, f, rois, counts: paddle.vision.ops.roi_align(f, rois, counts, [2, 3], 1.0, aligned=False),
            ),
            **_of(
                "f image",
                prior=lambda F, paddle, f, image: paddle.vision.ops.prior_box(f[:1], image, [10.0, 20.0], [20.0, 30.0], [1.0, 2.0], flip=True, clip=True)[0],
                prior_ordered=lambda F, paddle, f, image: paddle.vision.ops.prior_box(f[:1], image, [10.0], [20.0], [1.0, 2.0], steps=[8.0, 9.0], min_max_aspect_ratios_order=True)[0],
                variances=lambda F, paddle, f, image: paddle.vision.ops.prior_box(f[:1], image, [10.0])[1],
            ),
            **_of(
                "prior target",
                decoded=lambda F, paddle, prior, target: paddle.vision.ops.box_coder(prior, [0.1, 0.1, 0.2, 0.2], target, "decode_center_size"),
                decoded_pixels=lambda F, paddle, prior, target: paddle.vision.ops.box_coder(prior, prior, target, "decode_center_size", False),
                encoded=lambda F, paddle, prior, target: paddle.vision.ops.box_coder(prior, [0.1, 0.1, 0.2, 0.2], paddle.abs(target[:, 0]), "encode_center_size"),
            ),
            **_of(
                "boxes scores",
                matrix=lambda F, paddle, boxes, scores: paddle.vision.ops.matrix_nms(boxes, scores, 0.1, 0.05, 10, 10, background_label=-1)[0],
                matrix_gaussian=lambda F, paddle, boxes, scores: paddle.vision.ops.matrix_nms(boxes, scores, 0.1, 0.05, 10, 3, True, 2.0, background_label=0)[0],
            ),
            **_of(
                "rois",
                levels=lambda F, paddle, rois: paddle.vision.ops.distribute_fpn_proposals(rois * 40, 2, 5, 4, 224)[0][1],
                restored=lambda F, paddle, rois: paddle.vision.ops.distribute_fpn_proposals(rois * 40, 2, 5, 4, 224)[1],
            ),
            **_of("f", deformed=lambda F, paddle, f: paddle.vision.ops.deform_conv2d(f, paddle.full([2, 18, 6, 7], 0.3), paddle.ones([2, 3, 3, 3]), mask=paddle.full([2, 9, 6, 7], 0.5))),
        },
        dynamic=(),
    ),
}
"""The families by the names of their archives."""
