"""The kinds that each file of this package lowers; `python -m scripts.lowering_index` writes it."""

INDEX: dict[str, str] = {
    "bitcasts": "bitcast_convert complex.bitcast_convert",
    "bits": "chlo.mulhi count_leading_zeros popcnt shift_left shift_right_arithmetic shift_right_logical",
    "complex_numbers": (
        "complex.abs complex.atan2 complex.cbrt complex.chlo.acos complex.chlo.acosh complex.chlo.asin complex.chlo.asinh "
        "complex.chlo.atan complex.chlo.atanh complex.chlo.cosh complex.chlo.sinh complex.chlo.square complex.chlo.tan "
        "complex.cosine complex.divide complex.exponential complex.exponential_minus_one complex.fft complex.join complex.log "
        "complex.log_plus_one complex.logistic complex.power complex.rsqrt complex.separate complex.sign complex.sine "
        "complex.sqrt complex.tan complex.tanh complex.zero"
    ),
    "control_flow": "case chlo.scan if while",
    "convolution": "convolution dynamic_conv",
    "custom_calls": "complex.custom_call custom_call",
    "elementwise": (
        "abs add and atan2 cbrt ceil chlo.acos chlo.acosh chlo.asin chlo.asinh chlo.atan chlo.atanh chlo.bessel_i1e chlo.conj "
        "chlo.cosh chlo.digamma chlo.erf chlo.erf_inv chlo.erfc chlo.is_inf chlo.is_neg_inf chlo.is_pos_inf chlo.lgamma "
        "chlo.next_after chlo.polygamma chlo.sinh chlo.square chlo.tan chlo.zeta clamp compare convert cosine divide exponential "
        "exponential_minus_one floor imag is_finite log log_plus_one logistic maximum minimum multiply negate not or power real "
        "reduce_precision remainder round_nearest_afz round_nearest_even rsqrt select sign sine sqrt subtract tan tanh xor"
    ),
    "gradients": "batch_norm_grad batch_norm_training select_and_scatter",
    "indexing": "dynamic_gather gather scatter torch_index_select",
    "linear_algebra": "cholesky complex.triangular_solve triangular_solve",
    "matrix": "dot dot_general einsum unary_einsum",
    "movement": "concatenate reverse transpose",
    "normalization": "batch_norm_inference",
    "quantization": "uniform_dequantize uniform_quantize",
    "ragged_products": "chlo.ragged_dot",
    "random": "rng rng_bit_generator",
    "reduction": "dynamic_reduce_window map reduce reduce_window",
    "shape": (
        "after_all broadcast_in_dim create_token dynamic_broadcast_in_dim dynamic_iota dynamic_reshape get_dimension_size "
        "get_tuple_element iota reshape set_dimension_size shape_of tuple"
    ),
    "slicing": "dynamic_pad dynamic_slice dynamic_update_slice pad real_dynamic_slice slice",
    "sort": "chlo.top_k dynamic_top_k sort",
}
