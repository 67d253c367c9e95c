"""The table of TensorFlow lowerings, in which the family modules of this package register their handlers."""

from moir.lowering.table import LoweringTable

tf = LoweringTable(
    "tf",
    "moir.lowering.tensorflow",
    check="moir.lowering.complex.check:check_complex",
    # Types and numbers of operands, which the operands say, names of resources, and hints which kernel to use.
    implied=frozenset(
        (
            *("T", "Tin", "Tidx", "Tdim", "Tindices", "Tparams", "Tshape", "Taxis", "Tpaddings", "Tmultiples", "SrcT", "Index", "N"),
            *("container", "shared_name", "debug_name", "allowed_devices", "use_locking", "use_cudnn_on_gpu"),
        )
    ),
)
