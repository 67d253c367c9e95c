"""Importing the files of extensions while other threads import, too."""

from __future__ import annotations

import sys
from pathlib import Path

from moir.extensions.importing import AliasFinder, ExtensionPackage
from tests.unit.other_threads import importing_elsewhere


def test_modules_are_taken_out_while_another_thread_imports(tmp_path: Path) -> None:
    (tmp_path / "my_extension" / "ops").mkdir(parents=True)
    (tmp_path / "my_extension" / "ops" / "mine.py").write_text("X = 1")
    with importing_elsewhere("_of_another_thread_"):
        for _ in range(100):
            package = ExtensionPackage(tmp_path / "my_extension")
            finder = AliasFinder([package])
            package.open()
            finder.open()
            finder.prefer(package)
            finder.close()
            package.close()
    assert not [name for name in list(sys.modules) if name.startswith("_moir_extension_") and sys.modules[name].__name__ == package.name]
