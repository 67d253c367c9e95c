"""Handles memory maps of files that become shorter: missing pages read as zeros, and the file is recorded as shrunken.

A process that reads a page of a map after the end of its file gets the signal SIGBUS, which ends it. Another program
may shorten a file of weights at any time. So a handler maps zeros in place of the missing pages, and records the file;
`moir/files/unchanged_files.py` makes an error of it before anything is written.

Only faults in the maps of moir are handled, and only on Linux. Any other one ends as it would without the handler.
"""

from __future__ import annotations

import mmap
import sys
import threading
from pathlib import Path
from typing import Any
from weakref import ref

from moir.support.records import Record

_SIGBUS = 7
_WITH_INFORMATION = 4
"""SA_SIGINFO of <signal.h>: the handler gets the address of the fault."""
_PLACE_OF_ADDRESS = 16
"""Offset of the address in `siginfo_t`, after three integers."""
_FIXED = 0x10
"""MAP_FIXED of <sys/mman.h>: existing pages are replaced."""


class _Map(Record):
    """An entry of the list of maps, valid while `owner()` returns an object: first address, size in bytes, file, and
    state of the file.
    """

    owner: ref[mmap.mmap]
    start: int
    size: int
    state: object
    path: Path


def _action() -> type[Any]:
    """The class of `struct sigaction` for `ctypes`, which is imported when the first map is watched."""
    import ctypes

    class Action(ctypes.Structure):
        _fields_ = [
            ("handler", ctypes.c_void_p),
            ("mask", ctypes.c_ubyte * 128),
            ("flags", ctypes.c_int),
            ("restorer", ctypes.c_void_p),
        ]

    return Action


class ShrunkenMaps:
    """The maps of a process, and the handler of faults in them, which is installed with the first one."""

    def __init__(self) -> None:
        self.files: dict[object, Path] = {}
        """The files that had become shorter when they were read, by their states when they were opened."""
        self._maps: dict[int, _Map] = {}
        self._lock = threading.Lock()
        self._ctypes: Any = None
        self._handler: Any = None
        self._previous: Any = None
        self._library: Any = None

    def watch(self, mapped: mmap.mmap, state: object, path: Path) -> None:
        """Handle the SIGBUS that reading a memory map raises after its file has become shorter; Linux only.

        Args:
            mapped: the map.
            state: size and time of the file when it was opened.
            path: the file, for the error.
        """
        if sys.platform != "linux":
            return
        import numpy as np

        start = np.frombuffer(mapped, np.uint8).__array_interface__["data"][0]
        owner = ref(mapped, lambda _: self._maps.pop(start, None))
        self._maps[start] = _Map(owner, start, len(mapped), state, path)
        with self._lock:
            if self._handler is None:
                self._install()

    def _install(self) -> None:
        import ctypes

        self._ctypes = ctypes
        action_class = _action()
        self._library = ctypes.CDLL(None, use_errno=True)
        self._library.mmap.restype = ctypes.c_void_p
        self._library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        self._handler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(self._fault)
        self._previous = action_class()
        action = action_class(ctypes.cast(self._handler, ctypes.c_void_p), flags=_WITH_INFORMATION)
        self._library.sigaction(_SIGBUS, ctypes.byref(action), ctypes.byref(self._previous))

    def _fault(self, _signal: int, information: int, _context: int) -> None:
        """The handler of the signal: map zeros in place of the missing end of the file, from the page of the fault on.

        The thread that reads is in the midst of an instruction that copies memory. It holds no lock that Python needs,
        so Python code may run here.
        """
        ctypes = self._ctypes
        address: int = ctypes.c_size_t.from_address(information + _PLACE_OF_ADDRESS).value
        for each in list(self._maps.values()):
            if each.start <= address < each.start + each.size:
                page = address & -mmap.PAGESIZE
                kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _FIXED
                mapped = self._library.mmap(page, each.start + each.size - page, mmap.PROT_READ, kind, -1, 0)
                if mapped == page:
                    self.files[each.state] = each.path
                    return
        # The instruction is repeated, and faults again without this handler.
        self._library.sigaction(_SIGBUS, ctypes.byref(self._previous), None)


SHRUNKEN_MAPS = ShrunkenMaps()
"""The maps of this process."""
