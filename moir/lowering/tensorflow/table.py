"""The table of TensorFlow lowerings, in which the family modules of this package register their handlers."""

from moir.lowering.table import LoweringTable

tf = LoweringTable(
    "tf",
    "moir.lowering.tensorflow",
    check="moir.lowering.complex.check:check_complex",
    # The types and the number of operands, names of resources, and choices among kernels.
    implied=frozenset(
        (
            *("T", "Tin", "Tidx", "Tdim", "Tindices", "Tparams", "Tshape", "Taxis", "Tpaddings", "Tmultiples", "SrcT", "Index", "N"),
            *("container", "shared_name", "debug_name", "allowed_devices", "use_locking", "use_cudnn_on_gpu"),
        )
    ),
)
