"""Importing the files of extensions while other threads import, too."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Event, Thread
from types import ModuleType

from moir.extensions.importing import AliasFinder, ExtensionPackage


def test_modules_are_taken_out_while_another_thread_imports(tmp_path: Path) -> None:
    (tmp_path / "my_extension" / "ops").mkdir(parents=True)
    (tmp_path / "my_extension" / "ops" / "mine.py").write_text("X = 1")
    stop = Event()

    def import_and_forget() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            sys.modules[f"_of_another_thread_{number}"] = ModuleType("m")
            sys.modules.pop(f"_of_another_thread_{number - 50}", None)

    interval = sys.getswitchinterval()
    thread = Thread(target=import_and_forget)
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        for _ in range(100):
            package = ExtensionPackage(tmp_path / "my_extension")
            finder = AliasFinder([package])
            package.open()
            finder.open()
            finder.prefer(package)
            finder.close()
            package.close()
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)
        for name in [name for name in list(sys.modules) if name.startswith("_of_another_thread_")]:
            del sys.modules[name]
    assert not [name for name in list(sys.modules) if name.startswith("_moir_extension_") and sys.modules[name].__name__ == package.name]
