"""Overloads of aten that write, and those that compute the values; `python -m scripts.torch_overloads` writes it.

A key has two names of overloads, a value the operators that have both: "Tensor_out Tensor": "gt" stands for
`gt.Tensor_out`, which writes the result of `gt.Tensor`.
"""

IN_PLACE: dict[str, str] = {
    "Scalar Scalar": (
        "add bitwise_and bitwise_or bitwise_xor copysign div divide eq fill floor_divide fmod ge greater greater_equal gt le "
        "lerp less less_equal lt masked_fill mul multiply ne not_equal remainder sub"
    ),
    "Scalar Tensor_Scalar": "float_power pow",
    "Scalar_Other Scalar_Other": "xlogy",
    "Scalar_mode Scalar_mode": "div divide",
    "Tensor Tensor": (
        "add bernoulli bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor clamp clamp_max clamp_min "
        "clip copysign div divide eq fill fmod ge greater greater_equal gt le lerp less less_equal lt masked_fill mul "
        "multiply ne not_equal remainder sub subtract true_divide xlogy"
    ),
    "Tensor Tensor_Tensor": "float_power pow",
    "Tensor default": "floor_divide",
    "Tensor_Scalar Tensor_Scalar": "bitwise_left_shift bitwise_right_shift",
    "Tensor_mode Tensor_mode": "div divide",
    "decimals decimals": "round",
    "default Tensor": "ldexp",
    "default default": (
        "abs absolute acos acosh addbmm addcdiv addcmul addmm addmv addr arccos arcsin arctan2 arctan asin asinh atan2 atan "
        "atanh baddbmm bitwise_not cauchy ceil celu clamp clamp_max clamp_min clip conj_physical copy cos cosh cumprod cumsum "
        "deg2rad digamma elu embedding_renorm erf erfc erfinv exp2 exp expm1 exponential fix floor frac gcd gelu geometric "
        "hardsigmoid hardswish hardtanh heaviside hypot i0 igamma igammac index_add index_copy index_put index_reduce lcm "
        "leaky_relu lgamma log10 log1p log2 log log_normal logical_and logical_not logical_or logical_xor logit "
        "masked_scatter mish mvlgamma nan_to_num neg negative nextafter put rad2deg random reciprocal relu6 relu renorm round "
        "rrelu rsqrt scatter_add selu sgn sigmoid sign silu sin sinc sinh sqrt square tan tanh threshold tril triu trunc "
        "uniform"
    ),
    "float p": "bernoulli",
    "from from": "random",
    "int_Scalar int_Scalar": "index_fill",
    "int_Tensor int_Tensor": "index_fill",
    "reduce reduce": "scatter",
    "src src": "scatter",
    "to to": "random",
    "two two": "scatter_reduce",
    "value value": "scatter",
    "value_reduce value_reduce": "scatter",
}
"""Overloads that write to their first operand; their operators have an underscore at the end."""

OUT: dict[str, str] = {
    "IntList_out dim_IntList": "sum",
    "L default": "linalg_cholesky_ex",
    "OutScalar_Other Scalar_Other": "xlogy",
    "OutScalar_Self Scalar_Self": "xlogy",
    "OutTensor Tensor": "xlogy",
    "Q default": "qr",
    "Scalar_Tensor_out Scalar_Tensor": (
        "bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor isin linspace logspace remainder"
    ),
    "Scalar_mode_out Scalar_mode": "div",
    "Scalar_out Scalar": (
        "__lshift__ __rshift__ add bitwise_and bitwise_or bitwise_xor bucketize copysign div eq fill float_power floor_divide "
        "fmod ge greater greater_equal gt le lerp less less_equal lt masked_fill mul ne norm not_equal pow remainder rsub "
        "searchsorted sub"
    ),
    "Tensor_Scalar_out Tensor_Scalar": "bitwise_left_shift bitwise_right_shift float_power isin linspace logspace pow",
    "Tensor_Tensor_out Tensor_Tensor": "float_power isin linspace logspace normal pow",
    "Tensor_float_out Tensor_float": "normal",
    "Tensor_out Tensor": (
        "__lshift__ __rshift__ bernoulli bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor bucketize "
        "clamp clamp_max clamp_min clip eq fill fmod frexp ge greater greater_equal gt index le lerp less less_equal lt "
        "masked_fill ne not_equal remainder repeat_interleave rsub searchsorted slice_copy unsafe_split"
    ),
    "U default": "_linalg_svd linalg_svd svd",
    "X default": "triangular_solve",
    "a default": "geqrf",
    "all_out default": "all any",
    "atol_rtol_float_out atol_rtol_float": "linalg_matrix_rank linalg_pinv",
    "atol_rtol_tensor_out atol_rtol_tensor": "linalg_matrix_rank linalg_pinv",
    "beta_out beta": "kaiser_window",
    "bin_ct_out bin_ct": "histogram",
    "bins_tensor_out bins_tensor": "histogram",
    "correction_out correction": "std std_mean var var_mean",
    "decimals_out decimals": "round",
    "dim_IntList_out dim_IntList": "count_nonzero",
    "dim_max dim": "max",
    "dim_min dim": "min",
    "dim_out dim": "nuclear_norm squeeze_copy",
    "dim_values dim": "median nanmedian",
    "dims_out dims": "all any squeeze_copy",
    "dtype_out ScalarOpt_dim_dtype": "norm",
    "dtype_out default": "mean",
    "eigenvalues default": "_linalg_eigh",
    "eigvals default": "linalg_eigh",
    "float_Tensor_out float_Tensor": "normal",
    "float_float_out float_float": "normal",
    "float_out p": "bernoulli",
    "from_out from": "random",
    "int_Scalar_out int_Scalar": "index_fill",
    "int_Tensor_out int_Tensor": "index_fill",
    "int_out dim_int": "prod",
    "int_out int": "log_softmax select_copy softmax transpose_copy unbind_copy",
    "inverse default": "linalg_inv_ex",
    "low_dtype_out low_dtype": "randint_like",
    "low_out low": "randint",
    "m_out m": "eye",
    "no_stats_out no_stats": "_native_batch_norm_legit",
    "ord_str_out ord_str": "linalg_norm",
    "other_scalar_out other_scalar": "special_xlog1py special_zeta",
    "out ScalarOpt_dim": "norm",
    "out Tensor": "add copysign div divide ldexp mul multiply sub subtract true_divide",
    "out default": (
        "_adaptive_avg_pool2d _adaptive_avg_pool3d _batch_norm_no_update _cdist_forward _chunk_cat _conj_physical "
        "_convolution _embedding_bag _embedding_bag_forward_only _euclidean_dist _fake_quantize_learnable_per_channel_affine "
        "_fake_quantize_learnable_per_tensor_affine _fake_quantize_per_tensor_affine_cachemask_tensor_qparams _fft_c2c "
        "_fft_c2r _fft_r2c _int_mm _log_softmax _native_batch_norm_legit_no_training _native_multi_head_attention "
        "_pdist_forward _sample_dirichlet _scaled_mm _softmax _standard_gamma _to_copy _transformer_encoder_layer_fwd "
        "_trilinear _unique2 _unsafe_view _upsample_bicubic2d_aa _upsample_bilinear2d_aa _upsample_nearest_exact1d "
        "_upsample_nearest_exact2d _upsample_nearest_exact3d _weight_norm_interface abs absolute acos acosh "
        "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d addbmm addcdiv "
        "addcmul addmm addmv addr affine_grid_generator alias_copy amax amin aminmax angle arange arccos arcsin arctan "
        "arctan2 argmax argmin as_strided_copy as_strided_scatter asin asinh atan atan2 atanh avg_pool1d avg_pool2d "
        "avg_pool3d baddbmm bartlett_window bernoulli binary_cross_entropy binary_cross_entropy_with_logits bincount binomial "
        "bitwise_not blackman_window block_diag bmm cat cauchy ceil celu chain_matmul channel_shuffle cholesky "
        "cholesky_inverse cholesky_solve clamp clamp_max clamp_min clip clone col2im column_stack complex concat concatenate "
        "conj_physical constant_pad_nd convolution copy cos cosh count_nonzero cross cummax cummin cumprod cumsum deg2rad "
        "detach_copy diag diag_embed diagonal_copy diagonal_scatter diff digamma dist dot dstack elu embedding "
        "embedding_renorm empty_like empty_permuted empty_strided erf erfc erfinv exp exp2 expand_copy expm1 exponential eye "
        "fake_quantize_per_channel_affine_cachemask fake_quantize_per_tensor_affine_cachemask fft_fft fft_fft2 fft_fftfreq "
        "fft_fftn fft_hfft fft_hfft2 fft_hfftn fft_ifft fft_ifft2 fft_ifftn fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft "
        "fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftfreq fft_rfftn fix flip floor floor_divide fmax fmin frac full "
        "full_like gather gcd gelu geometric ger glu grid_sampler_2d grid_sampler_3d hamming_window hann_window hardshrink "
        "hardsigmoid hardswish hardtanh hash_tensor heaviside histc hstack huber_loss hypot i0 igamma igammac im2col "
        "index_add index_copy index_put index_reduce index_select inner inverse isinf isnan isneginf isposinf kaiser_window "
        "kron lcm leaky_relu lgamma lift lift_fresh_copy linalg_cholesky linalg_cond linalg_cross linalg_det linalg_eigvalsh "
        "linalg_householder_product linalg_inv linalg_lstsq linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve "
        "linalg_matrix_exp linalg_matrix_norm linalg_matrix_power linalg_matrix_rank linalg_multi_dot linalg_norm linalg_pinv "
        "linalg_qr linalg_slogdet linalg_solve linalg_solve_ex linalg_solve_triangular linalg_svdvals linalg_tensorinv "
        "linalg_tensorsolve linalg_vecdot linalg_vector_norm linear linspace log log10 log1p log2 log_normal log_sigmoid "
        "logaddexp logaddexp2 logcumsumexp logical_and logical_not logical_or logical_xor logit logspace logsumexp lu_solve "
        "lu_unpack masked_scatter masked_select matmul matrix_power max_pool2d_with_indices max_pool3d_with_indices "
        "max_unpool2d max_unpool3d maximum median minimum mish mm mse_loss msort multi_margin_loss multilabel_margin_loss "
        "multinomial mv mvlgamma nan_to_num nanmean nanmedian nanquantile nansum narrow_copy native_dropout native_group_norm "
        "native_layer_norm neg negative new_empty new_full new_ones new_zeros nextafter nll_loss nll_loss2d nonzero "
        "nonzero_static nuclear_norm ones ones_like orgqr ormqr outer permute_copy pixel_shuffle pixel_unshuffle poisson "
        "polar polygamma prod put quantile rad2deg rand rand_like randint randint_like randn randn_like random randperm "
        "reciprocal reflection_pad1d reflection_pad2d reflection_pad3d relu renorm repeat replication_pad1d replication_pad2d "
        "replication_pad3d roll rot90 round row_stack rsqrt scalar_tensor scatter_add segment_reduce select_scatter sgn "
        "sigmoid sign signbit silu sin sinc sinh slice_scatter slogdet smooth_l1_loss soft_margin_loss softplus softshrink "
        "special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_digamma special_entr special_erf "
        "special_erfc special_erfcx special_erfinv special_exp2 special_expit special_expm1 special_gammainc "
        "special_gammaincc special_gammaln special_i0 special_i0e special_i1 special_i1e special_log1p special_log_ndtr "
        "special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 "
        "special_multigammaln special_ndtr special_ndtri special_polygamma special_psi special_scaled_modified_bessel_k0 "
        "special_scaled_modified_bessel_k1 special_sinc special_spherical_bessel_j0 special_xlog1py special_zeta "
        "split_with_sizes_copy sqrt square squeeze_copy stack sum t_copy take take_along_dim tan tanh tensordot threshold "
        "trace tril tril_indices triu triu_indices trunc unfold_copy uniform unique_consecutive unique_dim "
        "unique_dim_consecutive unsafe_split_with_sizes unsqueeze_copy upsample_bicubic2d upsample_bilinear2d "
        "upsample_linear1d upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_trilinear3d vdot "
        "view_as_complex_copy view_as_real_copy view_copy vstack zeros zeros_like"
    ),
    "out dim": "all any frobenius_norm mean std var",
    "out memory_format": "empty",
    "out other": "max min",
    "out step": "range",
    "out_ default": "range",
    "out_mode Tensor_mode": "div divide",
    "out_rcond_tensor rcond_tensor": "linalg_pinv",
    "out_tol_tensor tol_tensor": "linalg_matrix_rank",
    "output default": "log_sigmoid_forward multilabel_margin_loss_forward nll_loss2d_forward nll_loss_forward",
    "p_str_out p_str": "linalg_cond",
    "periodic_alpha_beta_out periodic_alpha_beta": "hamming_window",
    "periodic_alpha_out periodic_alpha": "hamming_window",
    "periodic_out periodic": "bartlett_window blackman_window hamming_window hann_window kaiser_window",
    "reduce_out reduce": "scatter",
    "result default": "_linalg_det _linalg_solve_ex",
    "scalar_out scalar": "nanquantile quantile",
    "self_out self": "where",
    "self_scalar_out self_scalar": "special_xlog1py special_zeta",
    "sign default": "_linalg_slogdet",
    "src_out src": "scatter",
    "stable_out stable": "argsort",
    "start_out start_step": "arange",
    "str_ord_out str_ord": "linalg_matrix_norm",
    "to_out to": "random",
    "two_out two": "scatter_reduce",
    "unary_out default": "max min",
    "value_out value": "scatter",
    "value_reduce_out value_reduce": "scatter",
    "values default": "kthvalue mode sort topk",
    "values_stable stable": "sort",
    "vec_out vec": "upsample_bilinear2d upsample_nearest2d",
}
"""Overloads that write their results to their last operands."""
