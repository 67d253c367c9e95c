"""The weights and constants of a program by their names, in all three layouts of the archive.

torch ≤ 2.7   serialized_state_dict.pt and serialized_constants.pt, pickles
torch 2.8     data/weights/NAME.pt and data/constants/NAME.pt, pickles
torch ≥ 2.9   data/weights/NAME_weights_config.json: sizes and strides over records of bytes
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from moir.dialects.data import DataAttr
from moir.files.json_fields import Fields
from moir.frontends.pytorch.archive import Archive
from moir.frontends.pytorch.pickles import Subclass, read_pickled
from moir.frontends.pytorch.program import read_json
from moir.frontends.pytorch.storages import ELEMENTS
from moir.frontends.strided_tensors import tensor_over

Value = DataAttr | Subclass


class ProgramFiles:
    """Finds the records of the programs in an archive.

    Args:
        archive: the archive. Raises ModelFileError if it has no program.
    """

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.programs: dict[str, str] = {}
        """The records of the programs by their names."""
        if "serialized_exported_program.json" in archive:
            self.root = ""
            self.programs["model"] = "serialized_exported_program.json"
            return
        marks = [name for name in archive.names if name.rpartition("/")[2] in ("archive_format", "archive_version")]
        self.root = marks[0].rpartition("/")[0] + "/" if marks and "/" in marks[0] else ""
        folder = f"{self.root}models/"
        for name in archive.names:
            if name.startswith(folder) and name.endswith(".json"):
                self.programs[name[len(folder) : -5]] = name

    def values(self, name: str, weights: frozenset[str] = frozenset()) -> dict[str, Value]:
        """The weights and constants of a program, by the names of parameters, buffers and constants.

        Without those whose elements are not in the archive, and those in `weights`, which come from another file.
        """
        values: dict[str, Value] = {}
        for kind, former in (("weights", "serialized_state_dict.pt"), ("constants", "serialized_constants.pt")):
            config, pickled = f"{self.root}data/{kind}/{name}_{kind}_config.json", f"{self.root}data/{kind}/{name}.pt"
            if config in self.archive:
                values.update(self._configured(config, kind, weights))
            elif (record := pickled if pickled in self.archive else former) in self.archive and len(self.archive.record(record)):
                values.update(self._pickled(record))
        return values

    def _pickled(self, place: str) -> dict[str, Value]:
        inner = self.archive.inner(place)
        content: Any = read_pickled(inner)
        if not isinstance(content, Mapping):
            raise inner.error("the pickle is not a dict of tensors")
        values = cast("Mapping[object, object]", content)
        return {str(name): value for name, value in values.items() if isinstance(value, DataAttr | Subclass)}

    def _configured(self, config: str, kind: str, weights: frozenset[str]) -> dict[str, Value]:
        configured: dict[str, Value] = {}
        entries = read_json(self.archive, config).fields("config", {})
        for name in entries.content:
            if name in weights:
                continue
            entry = entries.fields(name)
            record = f"{self.root}data/{kind}/{entry.text('path_name')}"
            if entry.content.get("use_pickle"):
                value = read_pickled(self.archive.inner(record))
                if isinstance(value, DataAttr | Subclass):
                    configured[name] = value
            elif entry.content.get("tensor_meta") is not None and not self._is_left_out(record, entry.fields("tensor_meta")):
                configured[name] = self._tensor(record, entry.fields("tensor_meta"), name)
        return configured

    def _is_left_out(self, record: str, meta: Fields) -> bool:
        """Whether a program was exported without the elements of a tensor that has some: its record is empty then."""
        return len(self.archive.record(record)) == 0 and all(each.integer("as_int") for each in meta.objects("sizes"))

    def _tensor(self, record: str, meta: Fields, name: str) -> DataAttr:
        element = ELEMENTS.get(number := meta.integer("dtype"))
        if element is None:
            raise meta.error(f"the unknown element type {number}")
        sizes, strides = ([each.integer("as_int") for each in meta.objects(key)] for key in ("sizes", "strides"))
        offset = meta.fields("storage_offset", {"as_int": 0}).integer("as_int")
        try:
            return tensor_over(self.archive.record(record), element, sizes, strides, offset)
        except ValueError as error:
            raise self.archive.error(f"the weight {name!r}: {error}") from None
