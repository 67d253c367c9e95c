"""A module as the files `.xml` and `.bin`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from moir.emit.files import replacing, weights_path
from moir.emit.in_memory import write_xml
from moir.emit.weights import Weights


@dataclass(frozen=True)
class WrittenModel:
    """What `write_model` wrote: the two files, the number of layers (those of bodies among them) and the size of the
    `.bin`.
    """

    xml_path: Path
    bin_path: Path
    layers: int
    weights_bytes: int


def write_model(module: ModuleOp, xml_path: str | Path, *, conversion_parameters: Mapping[str, str] | None = None) -> WrittenModel:
    """Write the one model of a module as OpenVINO IR version 11.

    Args:
        module: holds one `moir.model`, all of its operations in opset dialects.
        xml_path: the file to write; the weights go to the `.bin` beside it. A missing directory is made.
        conversion_parameters: options of the conversion, recorded in the file; of paths only the last part.

    Raises EmissionError for what the IR cannot hold and where the files cannot be written. Then no new file is left,
    and older ones stay as they were; only if the very renaming fails, the older `.xml` is gone.
    """
    path = Path(xml_path)
    weights = Weights()
    with replacing(path) as files:
        layers = write_xml(module, lambda text: files.xml.write(text.encode()), weights, conversion_parameters)
        weights.write(files.weights.write)
    return WrittenModel(path, weights_path(path), layers, weights.size)
