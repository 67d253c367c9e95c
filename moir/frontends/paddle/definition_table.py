"""The operands and results of PaddlePaddle's operations, for programs and for PIR.

A row has the kinds that share operands, the operands, the results of kinds with several, and the attributes whose names
in PIR differ:

    top_k_v2=topk: X k|K -> Out Indices ; keepdim=keep_dim

`kind=pir` is a kind of programs and that of PIR, `kind=` has the same name in both. `pir(A,B)` gives the order of
PIR's operands where it differs; `_` is an operand that is left out. An operand is `Name`, `*Name` for a list, or
`attribute|Name|List+` with any of these left out: a number is an attribute, a tensor, or a list of tensors of one
element.

Source: operators registered in PaddlePaddle 2.6 and 3.3 (`OpProtoHolder`), pd_op.h and op_compat.yaml of 3.3.
"""

from __future__ import annotations

TABLE = """
# Functions of single elements.
abs= acos= acosh= asin= asinh= atan= atanh= ceil= cos= cosh= digamma= erf= erfinv= exp= expm1= floor= lgamma= log= log10=
  log1p= log2=  logical_not= bitwise_not= reciprocal= relu= relu6= round= rsqrt= sigmoid= sign= silu= sin= sinh= softsign= sqrt=
  square= tan= tanh= tanh_shrink= logsigmoid= trunc= isfinite_v2=isfinite isnan_v2=isnan isinf_v2=isinf
  assign= share_data= memcpy= memcpy_d2h= memcpy_h2d= elu= selu= celu=
  gelu= logit= stanh=
  conj= real= imag=: X
assign=assign_out_(X,_): X
leaky_relu=: X ; negative_slope=alpha
hard_shrink=hardshrink thresholded_relu= softplus= hard_sigmoid=hardsigmoid hard_swish=hardswish brelu=hardtanh swish= soft_relu: X
softshrink=: X ; threshold=lambda
mish=: X ; lambda=threshold
prelu=: X Alpha
pow=: X FactorTensor ; y=factor
cast=: X ; dtype=out_dtype
scale=: X scale|ScaleTensor BiasTensor
clip=: X min|Min max|Max
increment=increment_: X ; value=step
softmax= log_softmax= gumbel_softmax= maxout=: X
rrelu=: X -> Out Noise
dropout=: X Seed dropout_prob| -> Out Mask ; mode=dropout_implementation
label_smooth=: X PriorDist
lod_reset: X
print: In

# Arithmetic and comparison.
elementwise_add=add elementwise_sub=subtract elementwise_mul=multiply elementwise_div=divide elementwise_pow= elementwise_max=maximum
  elementwise_min=minimum elementwise_mod=remainder elementwise_floordiv=floor_divide elementwise_fmax=fmax elementwise_fmin=fmin
  grad_add minus less_than= less_equal= greater_than= greater_equal= equal= not_equal= equal_all= logical_and= logical_or= logical_xor=
  bitwise_and= bitwise_or= bitwise_xor= bitwise_left_shift= bitwise_right_shift= heaviside= dot= bmm= kron=: X Y
copysign=: x y
dist=: X Y
elementwise_heaviside: X Y
atan2=: X1 X2
mv=: X Vec
isclose= allclose=: Input Other Rtol Atol
lerp=: X Y Weight
sum=add_n: *X
cross=: X Y ; axis=dim
matmul_v2=matmul: X Y ; transpose_x=trans_x transpose_y=trans_y
matmul=legacy_matmul: X Y ; transpose_x=transpose_X transpose_y=transpose_Y
mul=matmul_with_flatten: X Y
inverse= determinant=det: Input
matrix_power=: X
multi_dot=: *X
partial_sum= partial_concat=: *X
softmax_with_cross_entropy=cross_entropy_with_softmax: Logits Label -> Softmax Loss
addmm=: Input X Y ; alpha=Alpha beta=Beta
baddbmm=: Input X Y ; alpha=Alpha beta=Beta
fc=: Input W Bias
fused_gemm_epilogue: X Y Bias
einsum=: *Operands
multiplex=multiplex(X,Ids): Ids *X

# Reductions.
reduce_mean=mean reduce_max=max reduce_min=min reduce_amax=amax reduce_amin=amin reduce_prod=prod reduce_sum=sum:
  X dim|AxisTensor|AxisTensorList+
  ; keepdim=keep_dim axis=dim dtype=out_dtype
reduce_all=all reduce_any=any: X dim|AxisTensor|AxisTensorList+ ; keepdim=keep_dim axis=dim
frobenius_norm=: X dim| ; keepdim=keep_dim
mean=mean_all squared_l2_norm= l1_norm=: X
logsumexp= p_norm=: X
norm=: X -> Out Norm
std= var=: x
nanmedian= median=: X -> Out MedianIndex
arg_max=argmax arg_min=argmin: X axis|
cumsum=: X axis|
cumprod=: X
logcumsumexp=: X
cummax= cummin=: x -> out indices
size=numel: Input
is_empty=: X

# Convolution and pooling.
conv2d= depthwise_conv2d= conv3d= fused_conv2d=: Input Filter Bias ResidualData
depthwise_conv2d=depthwise_conv2d_bias: Input Filter Bias ResidualData
conv2d_transpose= depthwise_conv2d_transpose= conv3d_transpose=: Input Filter output_size| Bias
conv2d_transpose=conv2d_transpose_bias(Input,Filter,Bias,output_size): Input Filter output_size| Bias
deformable_conv= deformable_conv_v1: Input Offset Filter Mask
pool2d=: X ksize|
pool3d=: X ksize| ; kernel_size=ksize
max_pool2d_with_index= max_pool3d_with_index=: X -> Out Mask ; kernel_size=ksize
unpool= unpool3d=: X Indices output_size|
unfold= fold= im2sequence: X

# Normalization.
batch_norm=batch_norm_ batch_norm=batch_norm sync_batch_norm=sync_batch_norm_: X Mean Variance Scale Bias
  -> Y MeanOut VarianceOut SavedMean SavedVariance ReserveSpace ; data_format=data_layout
layer_norm=: X Scale Bias -> Y Mean Variance
group_norm=: X Scale Bias -> Y Mean Variance ; data_format=data_layout
instance_norm=: X Scale Bias -> Y SavedMean SavedVariance
rms_norm=: x bias residual norm_weight norm_bias -> out residual_out inv_var
affine_channel=: X Scale Bias
lrn=: X -> Out MidOut
data_norm: X BatchSize BatchSum BatchSquareSum scale_w bias -> Y Means Scales
spectral_norm=: Weight U V

# Images.
bilinear_interp_v2=bilinear_interp nearest_interp_v2=nearest_interp bicubic_interp_v2=bicubic_interp linear_interp_v2=linear_interp
  trilinear_interp_v2=trilinear_interp: X OutSize SizeTensor+ Scale ; data_format=data_layout
bilinear_interp nearest_interp bicubic_interp linear_interp trilinear_interp: X OutSize SizeTensor+ Scale
grid_sampler=grid_sample: X Grid
affine_grid=: Theta output_shape|OutputShape
pixel_shuffle= pixel_unshuffle= shuffle_channel= channel_shuffle= space_to_depth temporal_shift=: X
pad3d=: X paddings|Paddings ; pad_value=value
pad=: X pad_value|
pad2d: X paddings|Paddings

# Shapes and movement.
reshape2=reshape reshape: X shape|Shape|ShapeTensor+ -> Out XShape
expand_v2=expand: X shape|Shape|expand_shapes_tensor+
expand: X expand_times|ExpandTimes|expand_times_tensor+
expand_as_v2=expand_as: X Y
expand_as: X target_tensor
broadcast_tensors=: *X
tile=: X repeat_times|RepeatTimes|repeat_times_tensor+
transpose2=transpose transpose: X -> Out XShape ; perm=axis
squeeze2=squeeze squeeze: X axes| -> Out XShape ; axis=axes
unsqueeze2=unsqueeze unsqueeze: X axes|AxesTensor|AxesTensorList+ -> Out XShape ; axis=axes
flatten_contiguous_range=flatten: X -> Out XShape
flatten2 flatten: X -> Out XShape
concat=concat(X,axis): axis|AxisTensor *X
stack=: *X
unstack= unbind=: X
split=split split=split_with_num(X,axis): X sections||SectionsTensorList+ axis|AxisTensor
meshgrid=: *X
shape= shape64=: Input
flip= rot90: X
reverse=: X axis|
roll=: X shifts|ShiftsTensor
tril_triu tril= triu= diag_v2=diag: X
diag_embed= trace= diagonal=: Input
fill_diagonal=: X
slice=: Input starts|StartsTensor|StartsTensorList+ ends|EndsTensor|EndsTensorList+
strided_slice=: Input starts|StartsTensor|StartsTensorList+ ends|EndsTensor|EndsTensorList+ strides|StridesTensor|StridesTensorList+
crop_tensor=crop: X shape|Shape|ShapeTensor+ offsets|Offsets|OffsetsTensor+
set_value=set_value set_value=set_value_with_tensor(Input,ValueTensor,starts,ends,steps):
  Input starts||StartsTensorList+ ends||EndsTensorList+ steps||StepsTensorList+ ValueTensor
repeat_interleave=: X RepeatsTensor ; repeats=Repeats axis=dim
repeat_interleave=repeat_interleave_with_tensor_index: X RepeatsTensor ; repeats=Repeats axis=dim

# Indices.
gather=: X Index axis|Axis
gather_nd= index_sample=: X Index
gather_tree=: Ids Parents
index_select=: X Index ; axis=dim
index_add=: X Index AddValue
index_put=index_put(x,indices,value): x value *indices
lookup_table_v2=embedding: Ids W
lookup_table=lookup_table(W,Ids): Ids W
scatter=: X Ids Updates
scatter_nd_add=: X Index Updates
take_along_axis=: Input Index ; axis=Axis
put_along_axis=: Input Index Value ; axis=Axis reduce=Reduce include_self=Include_self
masked_select=: X Mask
masked_fill=: x mask value
where=: Condition X Y
where_index=nonzero: Condition
top_k_v2=topk: X k|K -> Out Indices
top_k: X k|K -> Out Indices
argsort=: X -> Out Indices
kthvalue=: X -> Out Indices
unique=: X -> Out Indices Index Counts
unique_consecutive=: X -> Out Index Counts
searchsorted=: SortedSequence Values
one_hot_v2=one_hot one_hot: X depth|depth_tensor
sequence_mask=: X maxlen|MaxLenTensor

# Values that are made.
fill_constant=full fill_constant=full_with_tensor(ValueTensor,shape): shape|ShapeTensor|ShapeTensorList+ ValueTensor
fill_any_like=full_like: X value|
fill_zeros_like: X
ones_like= zeros_like=: X
fill_constant_batch_size_like=full_batch_size_like: Input
empty= gaussian_random=gaussian: shape|ShapeTensor|ShapeTensorList+
uniform_random=uniform: shape|ShapeTensor|ShapeTensorList+ min| max|
assign_value=assign_value_(_) assign_value=assign_value:
eye=: num_rows| num_columns|
tril_indices= triu_indices=:
range=arange: Start End Step
linspace=: Start Stop Num
logspace=: Start Stop Num Base
randint=: shape|ShapeTensor|ShapeTensorList+
randperm=:
multinomial=: X num_samples|

# Recurrent networks.
rnn=rnn(Input,PreState,WeightList,SequenceLength,_) rnn=rnn_(Input,PreState,WeightList,SequenceLength,_):
  Input SequenceLength *PreState *WeightList -> Out DropoutState State Reserve

# Signals and complex numbers.
angle= as_complex= as_real= fft_c2c= fft_c2r= fft_r2c= frame= overlap_add=: X
complex=complex: X Y
stft=: X Window

# Attention.
flash_attn=: q k v fixed_seed_offset attn_mask -> out softmax softmax_lse seed_offset
memory_efficient_attention=: query key value bias
multihead_matmul=: Input W Bias BiasQK
skip_layernorm=: X Y Scale Bias
fused_fc_elementwise_layernorm=: X W Y Bias0 Scale Bias1 -> Out Mean Variance
fused_softmax_mask=: X Mask
fused_softmax_mask_upper_triangle=: X
fused_rotary_position_embedding=: q k v sin cos position_ids -> out_q out_k out_v
fused_dropout_add=: x y seed_tensor
swiglu=: x y

# Control flow of programs.
select_input: Mask *X

# Arrays of tensors.
create_array=:
write_to_array=array_write_(Array,X,I): X I Array
read_from_array=array_read: X I
lod_array_length=array_length: X
tensor_array_to_tensor=array_to_tensor: X -> Out OutIndex

# Detection.
yolo_box=: X ImgSize -> Boxes Scores
prior_box=: Input Image -> Boxes Variances
density_prior_box: Input Image -> Boxes Variances
anchor_generator: Input -> Anchors Variances
box_coder=: PriorBox PriorBoxVar TargetBox
box_clip=: Input ImInfo
multiclass_nms3= multiclass_nms2 multiclass_nms: BBoxes Scores RoisNum -> Out Index NmsRoisNum
matrix_nms=: BBoxes Scores -> Out Index RoisNum
generate_proposals_v2=generate_proposals: Scores BboxDeltas ImShape Anchors Variances -> RpnRois RpnRoiProbs RpnRoisNum
  ; pre_nms_top_n=pre_nms_topN post_nms_top_n=post_nms_topN
distribute_fpn_proposals=: FpnRois RoisNum -> MultiFpnRois MultiLevelRoIsNum RestoreIndex
  ; multi_fpn_rois=MultiFpnRois
collect_fpn_proposals=: *MultiLevelRois *MultiLevelScores *MultiLevelRoIsNum -> FpnRois RoisNum ; post_nms_topn=post_nms_topN
iou_similarity: X Y
nms=: Boxes ; threshold=iou_threshold
polygon_box_transform: Input
psroi_pool=: X ROIs RoisNum
roi_align= roi_pool=: X ROIs RoisNum -> Out Argmax

# Quantization.
moving_average_abs_max_scale=: X -> Out OutScale OutState OutAccum
quantize_linear= dequantize_linear=: X Scale ZeroPoint InAccum InState -> Y OutState OutAccum OutScale
fake_quantize_dequantize_abs_max= fake_channel_wise_quantize_dequantize_abs_max= fake_quantize_abs_max= fake_channel_wise_quantize_abs_max=:
  X -> Out OutScale
fake_quantize_dequantize_moving_average_abs_max= fake_quantize_moving_average_abs_max= fake_quantize_range_abs_max=:
  X InScale InAccum InState -> Out OutScale OutState OutAccum
fake_dequantize_max_abs=: X Scale
fake_channel_wise_dequantize_max_abs=: X *Scales
"""
"""The rows; a row goes on in lines that begin with blanks, a line that begins with # is a heading."""
