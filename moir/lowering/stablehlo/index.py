"""The kinds that each file of this package lowers; `python -m scripts.lowering_index` writes it."""

INDEX: dict[str, str] = {
    "control_flow": ("case if while"),
    "convolution": ("convolution"),
    "elementwise": (
        "abs add and atan2 bitcast_convert cbrt ceil chlo.acos chlo.acosh chlo.asin chlo.asinh chlo.atan chlo.atanh chlo.conj "
        "chlo.cosh chlo.erf chlo.erf_inv chlo.erfc chlo.is_inf chlo.is_neg_inf chlo.is_pos_inf chlo.lgamma chlo.sinh chlo.square "
        "chlo.tan clamp compare complex convert cosine count_leading_zeros divide exponential exponential_minus_one fft floor "
        "imag is_finite log log_plus_one logistic maximum minimum multiply negate not or popcnt power real reduce_precision "
        "remainder rng rng_bit_generator round_nearest_afz round_nearest_even rsqrt select shift_left shift_right_arithmetic "
        "shift_right_logical sign sine sqrt subtract tan tanh xor"
    ),
    "indexing": ("dynamic_gather gather scatter select_and_scatter"),
    "matrix": ("dot dot_general"),
    "movement": ("concatenate reverse transpose"),
    "normalization": ("batch_norm_inference custom_call"),
    "quantization": ("uniform_dequantize uniform_quantize"),
    "reduction": ("map reduce reduce_window"),
    "shape": (
        "after_all broadcast_in_dim create_token dynamic_broadcast_in_dim dynamic_iota dynamic_reshape get_dimension_size "
        "get_tuple_element iota reshape set_dimension_size shape_of tuple"
    ),
    "slicing": ("dynamic_pad dynamic_slice dynamic_update_slice pad real_dynamic_slice slice"),
    "sort": ("chlo.top_k sort"),
}
