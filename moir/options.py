"""The options of a conversion: one record, which the command line or `convert_model` hands to every stage."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from moir.records import Record

ENABLED_VARIABLE, DISABLED_VARIABLE = "MO_ENABLED_TRANSFORMS", "MO_DISABLED_TRANSFORMS"
"""The environment variables that switch transformations on and off."""

NO_TOKENIZERS = "none"
"""What models record as their conversion parameter `tokenizers` if operations of OpenVINO Tokenizers are ruled out."""


class ConversionOptions(Record):
    """The options of a conversion.

    Args:
        reading: options of the framework's reader that were given, by the names in the framework's record.
        extensions: directories of extensions, or names of their entry points.
        transformations_config: a JSON file that configures transformations of extensions.
        enable: ids, names or full class names of transformations to run although they are not enabled.
        disable: ids, names or full class names of transformations, and names of passes, not to run.
        compress_to_fp16: store weights in half precision.
        layout_change: move the transpositions around channel-last operations until they cancel.
        tokenizers: use operations of OpenVINO Tokenizers for strings that the operation sets cannot express.
    """

    reading: Mapping[str, object] = MappingProxyType({})
    extensions: tuple[str, ...] = ()
    transformations_config: str | Path | None = None
    enable: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    compress_to_fp16: bool = False
    layout_change: bool = True
    tokenizers: bool = True

    @property
    def needs_extensions(self) -> bool:
        """Whether the options or the environment name extensions to load, or transformations to enable or disable."""
        given = self.extensions or self.transformations_config or self.enable or self.disable
        return bool(given) or any(map(os.environ.get, (ENABLED_VARIABLE, DISABLED_VARIABLE)))

    def parameters(self, path: str | Path) -> dict[str, object]:
        """The options that extensions find in `graph.graph["cmd_params"]` when the model file `path` is converted."""
        return {
            "input_model": str(path),
            "compress_to_fp16": self.compress_to_fp16,
            "layout_change": self.layout_change,
            "tokenizers": self.tokenizers,
            **self.reading,
        }

    def recorded(self) -> Mapping[str, str]:
        """The options that are not at their defaults, as texts for the runtime information of the IR.

        Paths are reduced to their last component, as folders are private.
        """
        texts = {
            "compress_to_fp16": "True" if self.compress_to_fp16 else "",
            "layout_change": "" if self.layout_change else "none",
            "tokenizers": "" if self.tokenizers else NO_TOKENIZERS,
            "extensions": ",".join(Path(each).name for each in self.extensions),
            "transformations_config": Path(self.transformations_config or "").name,
            "enable": ",".join(self.enable),
            "disable": ",".join(self.disable),
        }
        return {name: text for name, text in texts.items() if text}
