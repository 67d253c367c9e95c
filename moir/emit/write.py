"""Writing a module as the files `.xml` and `.bin`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from moir.emit.files import replacing, weights_path
from moir.emit.flushing import FlushedFile
from moir.emit.in_memory import write_xml
from moir.emit.weights import Weights


class WrittenModel(NamedTuple):
    """The result of `write_model`.

    Args:
        xml_path: path of the `.xml`.
        bin_path: path of the `.bin`.
        layers: number of layers, with those in bodies.
        weights_bytes: size of the `.bin` in bytes.
        address: the address of the `.xml` if the model lies elsewhere, empty on this machine; see `at`.
    """

    xml_path: Path
    bin_path: Path
    layers: int
    weights_bytes: int
    address: str = ""

    @property
    def files(self) -> list[Path]:
        """The paths of both files."""
        return [self.xml_path, self.bin_path]

    def at(self, address: str) -> WrittenModel:
        """This result for a model that was sent to an address: the paths are the names of files in its folder.

        This result itself for an empty address.
        """
        if not address:
            return self
        return self._replace(xml_path=Path(self.xml_path.name), bin_path=Path(self.bin_path.name), address=address)


def write_model(
    module: ModuleOp,
    xml_path: str | Path,
    *,
    conversion_parameters: Mapping[str, str] | None = None,
    check: Callable[[], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> WrittenModel:
    """Write a module with one model as OpenVINO IR version 11.

    Args:
        module: a module with one `moir.model`, all of its operations in opset dialects.
        xml_path: the file to write; the weights are written to the `.bin` beside it. A missing directory is created.
        conversion_parameters: options of the conversion to record in the file; paths without their directories.
        check: called after both files are written, before they replace older ones; an exception prevents that.
        progress: called with the bytes of the weights that are written, and with their sum, after each piece.

    Raises EmissionError for a module that IR cannot represent, and for errors of the file system. Then no new file is
    left and the old ones are unchanged.
    """
    path = Path(xml_path)
    weights = Weights()
    with replacing(path) as files:
        layers = write_xml(module, files.xml.write, weights, conversion_parameters)
        with FlushedFile(files.weights) as flushed:
            weights.write(flushed.write if progress is None else _reporting(flushed.write, weights.size, progress))
        if check is not None:
            # Only what is on the disk is complete.
            files.flush()
            check()
    return WrittenModel(path, weights_path(path), layers, weights.size)


def _reporting(write: Callable[[memoryview], None], total: int, progress: Callable[[int, int], None]) -> Callable[[memoryview], None]:
    """A function that writes bytes as `write` does, and then calls `progress` with the number of bytes so far and with
    `total`.
    """
    done = 0

    def write_and_report(piece: memoryview) -> None:
        nonlocal done
        write(piece)
        done += len(piece)
        progress(done, total)

    return write_and_report
