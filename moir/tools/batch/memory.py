"""The memory that conversions need: an estimate from the sizes of files, and a limit for a process.

Weights stay in their files, so what a conversion needs depends on the number of operations. Measured with the graphs of
`benchmarks/scaling.py` and `benchmarks/weights.py`: a process without a model takes 45 MB; operations take up to 100
times their size in the file, and 50,000 of them 200 to 450 MB; compressing weights takes up to 50 MB. How much of a
file are weights is not known before it is read.
"""

from __future__ import annotations

import os
from pathlib import Path

from moir.files.remote.addresses import is_address
from moir.parameters.compression import COMPRESS_TO_FP16, COMPRESS_WEIGHTS
from moir.tools.batch.work import Work

_OF_A_PROCESS = 60_000_000
_OF_COMPRESSION = 60_000_000
_TIMES_THE_FILE = 100
_OF_MOST_OPERATIONS = 450_000_000


def need_of(work: Work) -> int:
    """An upper estimate of the memory in bytes that a conversion needs; that of a process alone if there is no
    model.
    """
    # The size of a file that lies elsewhere is not known before it is downloaded.
    is_elsewhere = is_address(work.model)
    operations = _OF_MOST_OPERATIONS if is_elsewhere else min(_TIMES_THE_FILE * _size(Path(work.model)), _OF_MOST_OPERATIONS)
    is_compressed = work.conversion[COMPRESS_TO_FP16] or work.conversion[COMPRESS_WEIGHTS] is not None
    return _OF_A_PROCESS + operations + (_OF_COMPRESSION if is_compressed else 0)


def _size(path: Path) -> int:
    try:
        if not path.is_dir():
            return path.stat().st_size
        return sum(os.stat(Path(folder, name)).st_size for folder, _, names in os.walk(path) for name in names)
    except OSError:
        return 0


def limit_memory(size: int) -> None:
    """Make allocations of this process fail once it has more than `size` bytes; memory maps of files do not count.

    Does nothing on systems without such a limit.
    """
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (size if hard == resource.RLIM_INFINITY else min(size, hard), hard))
