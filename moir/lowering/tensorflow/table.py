"""The table of TensorFlow lowerings, in which the family modules of this package register their handlers."""

from moir.lowering.table import LoweringTable
from moir.lowering.tensorflow.complex.layout import adapted, check_complex

tf = LoweringTable(
    "tf",
    "moir.lowering.tensorflow",
    check_complex,
    adapted,
    ranks="moir.lowering.tensorflow.ranks_by_use:RULES",
    # The types and the number of operands, names of resources, and choices among kernels.
    implied=frozenset(
        (
            *("T", "Tin", "Tidx", "Tdim", "Tindices", "Tparams", "Tshape", "Taxis", "Tpaddings", "Tmultiples", "SrcT", "Index", "N"),
            *("container", "shared_name", "debug_name", "allowed_devices", "use_locking", "use_cudnn_on_gpu"),
        )
    ),
)
