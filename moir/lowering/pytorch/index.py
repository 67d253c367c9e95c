"""The kinds that each file of this package lowers; `python -m scripts.lowering_index` writes it."""

INDEX: dict[str, str] = {
    "activation": (
        "_log_softmax.default _prelu_kernel.default _safe_softmax.default _softmax.default alpha_dropout.default celu.default "
        "dropout.default elu.default feature_alpha_dropout.default feature_dropout.default gelu.default glu.default "
        "hardshrink.default hardsigmoid.default hardswish.default hardtanh.default leaky_relu.default log_sigmoid.default "
        "log_sigmoid_forward.default log_softmax.int logit.default mish.default native_dropout.default prelu.default relu.default "
        "relu6.default rrelu.default rrelu_with_noise.default rrelu_with_noise_functional.default selu.default silu.default "
        "softmax.int softplus.default softshrink.default special_softmax.int threshold.default"
    ),
    "arithmetic": (
        "add.Scalar add.Tensor addcdiv.default addcmul.default addmv.default arctan2.default atan2.default clamp.Tensor "
        "clamp.default clamp_max.Tensor clamp_max.default clamp_min.Tensor clamp_min.default clip.Tensor clip.default "
        "copysign.Scalar copysign.Tensor div.Scalar div.Scalar_mode div.Tensor div.Tensor_mode divide.Scalar divide.Scalar_mode "
        "divide.Tensor divide.Tensor_mode floor_divide.Scalar floor_divide.default fmax.default fmin.default fmod.Scalar "
        "fmod.Tensor heaviside.default hypot.default lerp.Scalar lerp.Tensor logaddexp.default logaddexp2.default max.other "
        "maximum.default min.other minimum.default mul.Scalar mul.Tensor multiply.Scalar multiply.Tensor pow.Scalar "
        "pow.Tensor_Scalar pow.Tensor_Tensor remainder.Scalar remainder.Scalar_Tensor remainder.Tensor rsub.Scalar rsub.Tensor "
        "sub.Scalar sub.Tensor subtract.Tensor true_divide.Tensor xlogy.Scalar_Other xlogy.Scalar_Self xlogy.Tensor"
    ),
    "attention": (
        "_scaled_dot_product_attention_math.default _scaled_dot_product_flash_attention.default "
        "_scaled_dot_product_flash_attention_for_cpu.default scaled_dot_product_attention.default"
    ),
    "comparison": (
        "__and__.Scalar __and__.Tensor __lshift__.Scalar __lshift__.Tensor __or__.Scalar __or__.Tensor __rshift__.Scalar "
        "__rshift__.Tensor __xor__.Scalar __xor__.Tensor bitwise_and.Scalar bitwise_and.Scalar_Tensor bitwise_and.Tensor "
        "bitwise_left_shift.Scalar_Tensor bitwise_left_shift.Tensor bitwise_left_shift.Tensor_Scalar bitwise_or.Scalar "
        "bitwise_or.Scalar_Tensor bitwise_or.Tensor bitwise_right_shift.Scalar_Tensor bitwise_right_shift.Tensor "
        "bitwise_right_shift.Tensor_Scalar bitwise_xor.Scalar bitwise_xor.Scalar_Tensor bitwise_xor.Tensor eq.Scalar eq.Tensor "
        "ge.Scalar ge.Tensor greater.Scalar greater.Tensor greater_equal.Scalar greater_equal.Tensor gt.Scalar gt.Tensor "
        "le.Scalar le.Tensor less.Scalar less.Tensor less_equal.Scalar less_equal.Tensor logical_and.default logical_or.default "
        "logical_xor.default lt.Scalar lt.Tensor masked_fill.Scalar masked_fill.Tensor ne.Scalar ne.Tensor not_equal.Scalar "
        "not_equal.Tensor where.Scalar where.ScalarOther where.ScalarSelf where.self"
    ),
    "complex.arithmetic": (
        "_conj.default _conj_physical.default angle.default complex.default conj.default conj_physical.default imag.default "
        "polar.default view_as_complex.default view_as_complex_copy.default view_as_real.default view_as_real_copy.default"
    ),
    "complex.transforms": (
        "_fft_c2c.default _fft_c2r.default _fft_r2c.default fft_fft.default fft_fft2.default fft_fftn.default "
        "fft_fftshift.default fft_hfft.default fft_hfft2.default fft_hfftn.default fft_ifft.default fft_ifft2.default "
        "fft_ifftn.default fft_ifftshift.default fft_ihfft.default fft_ihfft2.default fft_ihfftn.default fft_irfft.default "
        "fft_irfft2.default fft_irfftn.default fft_rfft.default fft_rfft2.default fft_rfftn.default istft.default stft.center "
        "stft.default"
    ),
    "control_flow": (
        "higher_order.associative_scan higher_order.cond higher_order.hints_wrapper higher_order.invoke_subgraph "
        "higher_order.map_impl higher_order.scan higher_order.strict_mode higher_order.tag_activation_checkpoint "
        "higher_order.while_loop higher_order.wrap higher_order.wrap_with_autocast higher_order.wrap_with_set_grad_enabled"
    ),
    "convolution": (
        "_convolution.default conv1d.default conv1d.padding conv2d.default conv2d.padding conv3d.default conv3d.padding "
        "conv_transpose1d.default conv_transpose2d.input conv_transpose3d.input convolution.default"
    ),
    "detection": (
        "torchvision.deform_conv2d.default torchvision.nms.default torchvision.ps_roi_align.default "
        "torchvision.ps_roi_pool.default torchvision.roi_align.default torchvision.roi_pool.default"
    ),
    "elementwise": (
        "_to_copy.default abs.default absolute.default acos.default acosh.default alias.default alias_copy.default arccos.default "
        "arcsin.default arctan.default asin.default asinh.default atan.default atanh.default bfloat16.default bitwise_not.default "
        "bool.default ceil.default clone.default contiguous.default cos.default cosh.default deg2rad.default detach.default "
        "detach_copy.default double.default erf.default erfc.default exp.default exp2.default expm1.default fix.default "
        "float.default floor.default frac.default half.default int.default isfinite.default isinf.default isnan.default "
        "lift.default lift_fresh.default lift_fresh_copy.default log.default log10.default log1p.default log2.default "
        "logical_not.default long.default neg.default negative.default positive.default prims.copy_strided.default "
        "rad2deg.default real.default reciprocal.default resolve_conj.default resolve_neg.default round.decimals round.default "
        "rsqrt.default sgn.default sigmoid.default sign.default sin.default sinh.default sqrt.default square.default tan.default "
        "tanh.default to.device to.dtype to.dtype_layout to.other trunc.default type_as.default"
    ),
    "folding": "affine_grid_generator.default col2im.default im2col.default max_unpool2d.default max_unpool3d.default",
    "generation": (
        "arange.default arange.start arange.start_step copy.default empty.memory_format empty_like.default empty_permuted.default "
        "empty_strided.default eye.default eye.m fill.Scalar fill.Tensor full.default full_like.default new_empty.default "
        "new_full.default new_ones.default new_zeros.default ones.default ones_like.default prims.scalar_tensor.default "
        "range.default range.step scalar_tensor.default zeros.default zeros_like.default"
    ),
    "image": (
        "_upsample_bicubic2d_aa.default _upsample_bicubic2d_aa.vec _upsample_bilinear2d_aa.default _upsample_bilinear2d_aa.vec "
        "_upsample_nearest_exact1d.default _upsample_nearest_exact1d.vec _upsample_nearest_exact2d.default "
        "_upsample_nearest_exact2d.vec _upsample_nearest_exact3d.default _upsample_nearest_exact3d.vec grid_sampler.default "
        "grid_sampler_2d.default grid_sampler_3d.default upsample_bicubic2d.default upsample_bicubic2d.vec "
        "upsample_bilinear2d.default upsample_bilinear2d.vec upsample_linear1d.default upsample_linear1d.vec "
        "upsample_nearest1d.default upsample_nearest1d.vec upsample_nearest2d.default upsample_nearest2d.vec "
        "upsample_nearest3d.default upsample_nearest3d.vec upsample_trilinear3d.default upsample_trilinear3d.vec"
    ),
    "indexing": (
        "_unsafe_index.Tensor _unsafe_index_put.default _unsafe_masked_index.default _unsafe_masked_index_put_accumulate.default "
        "diagonal.default diagonal_copy.default embedding.default fill_diagonal.default gather.default index.Tensor "
        "index_put.default index_select.default masked_select.default moir.positions moir.write_positions narrow.Tensor "
        "narrow.default narrow_copy.default nonzero.default nonzero_numpy.default nonzero_static.default select.int "
        "select_copy.int select_scatter.default slice.Tensor slice_copy.Tensor slice_scatter.default take_along_dim.default "
        "tril.default triu.default where.default"
    ),
    "mathematics.distances": (
        "_cdist_forward.default _euclidean_dist.default _pdist_forward.default cdist.default dist.default "
        "pairwise_distance.default pdist.default renorm.default"
    ),
    "mathematics.distinct": "_unique2.default unique_consecutive.default unique_dim.default unique_dim_consecutive.default",
    "mathematics.distributions": (
        "_sample_dirichlet.default _standard_gamma.default binomial.default cauchy.default exponential.default geometric.default "
        "log_normal.default multinomial.default poisson.default random.default random.from random.to"
    ),
    "mathematics.embedding_bags": (
        "_embedding_bag.default _embedding_bag_forward_only.default embedding_bag.default embedding_bag.padding_idx "
        "embedding_renorm.default"
    ),
    "mathematics.factorizations": (
        "_linalg_det.default _linalg_slogdet.default _lu_with_info.default cholesky_inverse.default cholesky_solve.default "
        "geqrf.default linalg_householder_product.default linalg_lu.default linalg_lu_factor.default linalg_lu_factor_ex.default "
        "linalg_lu_solve.default linalg_qr.default linalg_solve_triangular.default lu_solve.default lu_unpack.default "
        "orgqr.default ormqr.default qr.default triangular_solve.default"
    ),
    "mathematics.floating_point": "frexp.Tensor hash_tensor.default nextafter.default",
    "mathematics.gamma_functions": (
        "digamma.default igamma.default igammac.default mvlgamma.default polygamma.default special_digamma.default "
        "special_erfcx.default special_gammainc.default special_gammaincc.default special_log_ndtr.default "
        "special_multigammaln.default special_polygamma.default special_psi.default special_spherical_bessel_j0.default "
        "special_zeta.default special_zeta.other_scalar special_zeta.self_scalar"
    ),
    "mathematics.gradients": (
        "gradient.array gradient.scalararray gradient.scalarint gradient.scalarrayarray gradient.scalarrayint "
        "gradient.tensorarray gradient.tensorarrayint"
    ),
    "mathematics.grouped_products": "_grouped_mm.default transformers.grouped_mm_fallback.default",
    "mathematics.histograms": "histc.default histogram.bin_ct histogram.bins_tensor",
    "mathematics.linear_algebra": (
        "_linalg_solve_ex.default _weight_norm.default _weight_norm_interface.default addr.default chain_matmul.default "
        "cholesky.default cross.default det.default frobenius_norm.dim inverse.default kron.default linalg_cholesky.default "
        "linalg_cholesky_ex.default linalg_cross.default linalg_det.default linalg_inv.default linalg_inv_ex.default "
        "linalg_matrix_exp.default linalg_matrix_norm.default linalg_matrix_norm.str_ord linalg_matrix_power.default "
        "linalg_multi_dot.default linalg_norm.default linalg_norm.ord_str linalg_slogdet.default linalg_solve.default "
        "linalg_solve_ex.default linalg_tensorinv.default linalg_tensorsolve.default linalg_vecdot.default logdet.default "
        "matrix_exp.default matrix_power.default nuclear_norm.default nuclear_norm.dim slogdet.default tensordot.default "
        "vdot.default"
    ),
    "mathematics.losses": (
        "binary_cross_entropy.default binary_cross_entropy_with_logits.default cosine_embedding_loss.default "
        "cross_entropy_loss.default gaussian_nll_loss.default hinge_embedding_loss.default huber_loss.default kl_div.default "
        "l1_loss.default margin_ranking_loss.default mse_loss.default multi_margin_loss.default multilabel_margin_loss.default "
        "multilabel_margin_loss_forward.default nll_loss.default nll_loss2d.default nll_loss2d_forward.default "
        "nll_loss_forward.default nll_loss_nd.default poisson_nll_loss.default smooth_l1_loss.default soft_margin_loss.default "
        "torch_nn._linear_cross_entropy_batch_chunked.default torch_nn._linear_cross_entropy_batch_chunked_no_reduction.default "
        "triplet_margin_loss.default"
    ),
    "mathematics.order_statistics": (
        "kthvalue.default median.default median.dim mode.default nanmedian.default nanmedian.dim nanquantile.default "
        "nanquantile.scalar quantile.default quantile.scalar"
    ),
    "mathematics.random": (
        "bernoulli.Tensor bernoulli.default bernoulli.p normal.Tensor_Tensor normal.Tensor_float normal.float_Tensor "
        "normal.float_float normal_functional.default rand.default rand_like.default randint.default randint.low "
        "randint_like.default randint_like.low_dtype randn.default randn_like.default randperm.default uniform.default"
    ),
    "mathematics.segments": "segment_reduce.default",
    "mathematics.special_functions": (
        "erfinv.default float_power.Scalar float_power.Tensor_Scalar float_power.Tensor_Tensor gcd.default i0.default "
        "isclose.default isneginf.default isposinf.default isreal.default lcm.default ldexp.Tensor lgamma.default "
        "nan_to_num.default signbit.default sinc.default special_bessel_j0.default special_bessel_j1.default "
        "special_bessel_y0.default special_bessel_y1.default special_entr.default special_erf.default special_erfc.default "
        "special_erfinv.default special_exp2.default special_expit.default special_expm1.default special_gammaln.default "
        "special_i0.default special_i0e.default special_i1.default special_i1e.default special_log1p.default "
        "special_modified_bessel_i0.default special_modified_bessel_i1.default special_modified_bessel_k0.default "
        "special_modified_bessel_k1.default special_ndtr.default special_ndtri.default special_scaled_modified_bessel_k0.default "
        "special_scaled_modified_bessel_k1.default special_sinc.default special_xlog1py.default special_xlog1py.other_scalar "
        "special_xlog1py.self_scalar"
    ),
    "mathematics.spectra": (
        "_linalg_eigh.default _linalg_svd.default linalg_cond.default linalg_cond.p_str linalg_eigh.default "
        "linalg_eigvalsh.default linalg_lstsq.default linalg_matrix_rank.atol_rtol_float linalg_matrix_rank.atol_rtol_tensor "
        "linalg_matrix_rank.default linalg_matrix_rank.tol_tensor linalg_matrix_sqrth.default linalg_pinv.atol_rtol_float "
        "linalg_pinv.atol_rtol_tensor linalg_pinv.default linalg_pinv.rcond_tensor linalg_polar.default linalg_svd.default "
        "linalg_svdvals.default pinverse.default svd.default"
    ),
    "mathematics.statistics": (
        "aminmax.default bincount.default corrcoef.default cov.default cummax.default cummin.default logcumsumexp.default "
        "nanmean.default nansum.default trace.default"
    ),
    "mathematics.windows": (
        "bartlett_window.default bartlett_window.periodic blackman_window.default blackman_window.periodic fft_fftfreq.default "
        "fft_rfftfreq.default hamming_window.default hamming_window.periodic hamming_window.periodic_alpha "
        "hamming_window.periodic_alpha_beta hann_window.default hann_window.periodic kaiser_window.beta kaiser_window.default "
        "kaiser_window.periodic linspace.Scalar_Tensor linspace.Tensor_Scalar linspace.Tensor_Tensor linspace.default "
        "logspace.Scalar_Tensor logspace.Tensor_Scalar logspace.Tensor_Tensor logspace.default"
    ),
    "matrix": (
        "_int_mm.default _trilinear.default addbmm.default addmm.default baddbmm.default bilinear.default bmm.default dot.default "
        "einsum.default ger.default inner.default linear.default matmul.default mm.default mv.default outer.default"
    ),
    "movement": (
        "_reshape_alias.default _unsafe_view.default adjoint.default broadcast_tensors.default broadcast_to.default cat.default "
        "chunk.default concat.default concatenate.default constant_pad_nd.default expand.default expand_as.default "
        "expand_copy.default flatten.using_ints flip.default mH.default mT.default matrix_H.default meshgrid.default "
        "meshgrid.indexing movedim.int movedim.intlist numpy_T.default pad.default permute.default permute_copy.default "
        "pixel_shuffle.default pixel_unshuffle.default ravel.default reflection_pad1d.default reflection_pad2d.default "
        "reflection_pad3d.default repeat.default repeat_interleave.self_int replication_pad1d.default replication_pad2d.default "
        "replication_pad3d.default reshape.default reshape_as.default roll.default split.Tensor split.sizes "
        "split_with_sizes.default split_with_sizes_copy.default squeeze.default squeeze.dim squeeze.dims squeeze_copy.default "
        "squeeze_copy.dim squeeze_copy.dims stack.default swapaxes.default swapdims.default t.default t_copy.default "
        "tensor_split.sections tile.default transpose.int transpose_copy.int unbind.int unbind_copy.int unflatten.int "
        "unfold.default unfold_copy.default unsafe_chunk.default unsafe_split.Tensor unsafe_split_with_sizes.default "
        "unsqueeze.default unsqueeze_copy.default view.default view_as.default view_copy.default"
    ),
    "normalization": (
        "_batch_norm_no_update.default _batch_norm_with_update_functional.default _fused_rms_norm.default "
        "_native_batch_norm_legit.default _native_batch_norm_legit.no_stats _native_batch_norm_legit_functional.default "
        "_native_batch_norm_legit_no_training.default batch_norm.default cosine_similarity.default cudnn_batch_norm.default "
        "group_norm.default instance_norm.default layer_norm.default linalg_vector_norm.default moir.instance_norm_functional "
        "native_batch_norm.default native_group_norm.default native_layer_norm.default norm.Scalar norm.ScalarOpt_dim "
        "norm.ScalarOpt_dim_dtype rms_norm.default"
    ),
    "pooling": (
        "_adaptive_avg_pool2d.default _adaptive_avg_pool3d.default adaptive_avg_pool1d.default adaptive_avg_pool2d.default "
        "adaptive_avg_pool3d.default adaptive_max_pool1d.default adaptive_max_pool2d.default adaptive_max_pool3d.default "
        "avg_pool1d.default avg_pool2d.default avg_pool3d.default max_pool1d.default max_pool1d_with_indices.default "
        "max_pool2d.default max_pool2d_with_indices.default max_pool3d.default max_pool3d_with_indices.default"
    ),
    "quantization.computed": (
        "quantized_decomposed._choose_qparams_per_token_asymmetric_impl.default quantized_decomposed.choose_qparams.tensor "
        "quantized_decomposed.choose_qparams_per_token_asymmetric.default quantized_decomposed.choose_qparams_symmetric.tensor "
        "quantized_decomposed.dequantize_per_token.default quantized_decomposed.quantize_per_token.default "
        "torchao.choose_qparams_affine.default torchao.quantize_affine.default"
    ),
    "quantization.fake": (
        "_fake_quantize_learnable_per_channel_affine.default _fake_quantize_learnable_per_tensor_affine.default "
        "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default _fused_moving_avg_obs_fq_helper.default "
        "_fused_moving_avg_obs_fq_helper_functional.default fake_quantize_per_channel_affine.default "
        "fake_quantize_per_channel_affine_cachemask.default fake_quantize_per_tensor_affine.default "
        "fake_quantize_per_tensor_affine.tensor_qparams fake_quantize_per_tensor_affine_cachemask.default "
        "fused_moving_avg_obs_fake_quant.default"
    ),
    "quantization.packed": (
        "_scaled_mm.default _weight_int4pack_mm.default _weight_int4pack_mm_for_cpu.default _weight_int8pack_mm.default"
    ),
    "quantization.stored": (
        "quantized_decomposed.dequantize_per_channel.default quantized_decomposed.dequantize_per_tensor.default "
        "quantized_decomposed.dequantize_per_tensor.tensor quantized_decomposed.quantize_per_channel.default "
        "quantized_decomposed.quantize_per_tensor.default quantized_decomposed.quantize_per_tensor.tensor "
        "torchao.dequantize_affine.default"
    ),
    "recurrent": (
        "gru.input gru_cell.default lstm.input lstm_cell.default rnn_relu.input rnn_relu_cell.default rnn_tanh.input rnn_tanh_cell.default"
    ),
    "reduction": (
        "_is_all_true.default _is_any_true.default all.default all.dim all.dims amax.default amin.default any.default any.dim "
        "any.dims argmax.default argmin.default argsort.default argsort.stable count_nonzero.default count_nonzero.dim_IntList "
        "cumprod.default cumsum.default logsumexp.default max.default max.dim mean.default mean.dim min.default min.dim "
        "msort.default prod.default prod.dim_int sort.default sort.stable std.correction std.default std.dim std_mean.correction "
        "std_mean.default std_mean.dim sum.default sum.dim_IntList sum_to_size.default topk.default var.correction var.default "
        "var.dim var_mean.correction var_mean.default var_mean.dim"
    ),
    "scattering": (
        "index_add.default index_copy.default index_fill.int_Scalar index_fill.int_Tensor index_reduce.default scatter.reduce "
        "scatter.src scatter.value scatter.value_reduce scatter_add.default scatter_reduce.two"
    ),
    "selection": (
        "argwhere.default as_strided_scatter.default bucketize.Scalar bucketize.Tensor combinations.default "
        "diagonal_scatter.default equal.default isin.Scalar_Tensor isin.Tensor_Scalar isin.Tensor_Tensor masked_scatter.default "
        "one_hot.default put.default repeat_interleave.Tensor repeat_interleave.self_Tensor searchsorted.Scalar "
        "searchsorted.Tensor take.default"
    ),
    "stacking": (
        "_chunk_cat.default as_strided.default as_strided_copy.default atleast_1d.Sequence atleast_1d.default atleast_2d.Sequence "
        "atleast_2d.default atleast_3d.Sequence atleast_3d.default block_diag.default cartesian_prod.default "
        "channel_shuffle.default column_stack.default cumulative_trapezoid.dx cumulative_trapezoid.x diag.default "
        "diag_embed.default diagflat.default diff.default dsplit.array dsplit.int dstack.default fliplr.default flipud.default "
        "hsplit.array hsplit.int hstack.default linalg_diagonal.default linalg_vander.default native_channel_shuffle.default "
        "rot90.default row_stack.default tensor_split.indices tensor_split.tensor_indices_or_sections trapezoid.dx trapezoid.x "
        "trapz.dx trapz.x tril_indices.default triu_indices.default vander.default vsplit.array vsplit.int vstack.default"
    ),
    "symbols": (
        "_assert_async.default _assert_async.msg _assert_scalar.default _assert_tensor_metadata.default _check.default "
        "_check_is_size.default _functional_assert_async.msg _functional_assert_scalar.default _local_scalar_dense.default "
        "_operator.abs _operator.add _operator.and_ _operator.eq _operator.floordiv _operator.ge _operator.gt _operator.int "
        "_operator.le _operator.lt _operator.mod _operator.mul _operator.ne _operator.neg _operator.not_ _operator.or_ "
        "_operator.pos _operator.pow _operator.sub _operator.truediv can_cast.default item.default math.ceil math.floor math.sqrt "
        "math.trunc numel.default promote_types.default result_type.Scalar result_type.Scalar_Scalar result_type.Scalar_Tensor "
        "result_type.Tensor size.int sym_constrain_range.default sym_constrain_range_for_size.default sym_numel.default "
        "sym_size.int sym_storage_offset.default torch._check torch._check_is_size torch._sym_sqrt torch.sym_float torch.sym_int "
        "torch.sym_int_truediv torch.sym_ite torch.sym_max torch.sym_min torch.sym_not"
    ),
    "transformer_layers": "_native_multi_head_attention.default _transformer_encoder_layer_fwd.default",
    "vectorization": "moir.aligned",
}
