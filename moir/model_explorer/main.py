"""moir as an extension of Model Explorer, which opens the models and stages that moir reads.

    model-explorer --extensions=moir.model_explorer model.xml

Model Explorer imports the module `main` of an extension, and finds the classes in it that derive from its `Adapter`.
"""

from __future__ import annotations

from contextlib import ExitStack
from importlib import import_module
from typing import Any, ClassVar

from moir.frameworks import FRAMEWORKS
from moir.options import ConversionOptions
from moir.report_page.model_explorer import graphs_of

_EXPLORER: Any = import_module("model_explorer")
"""The package model_explorer, which imports this module; moir does not depend on it."""

TEXTS = ("mlir",)
"""The endings of the names of files with texts of moir, such as those of `--dump-ir`."""


def endings() -> list[str]:
    """The endings, without a dot, of the names of files that moir reads; `json` is left out, since such files are Model
    Explorer's own.
    """
    suffixes = {suffix.rpartition(".")[2] for framework in FRAMEWORKS.values() for suffix in framework.suffixes}
    return sorted({*suffixes, *TEXTS} - {"", "json"})


class MoirAdapter(_EXPLORER.Adapter):
    """Opens a model as it is, or a stage of a conversion."""

    metadata: ClassVar[Any] = _EXPLORER.AdapterMetadata(
        id="moir",
        name="moir",
        description="Models of all frameworks that moir reads, OpenVINO IR, and the stages of --dump-ir",
        fileExts=endings(),
    )

    def convert(self, model_path: str, settings: dict[str, Any]) -> dict[str, Any]:
        """The graphs of a file, as Model Explorer expects them; `settings`, those of the page, are ignored.

        Raises ConversionError for a file that cannot be read.
        """
        from moir.tools.model_reading import read_any

        with ExitStack() as stack:
            module, _ = read_any(model_path, ConversionOptions(), stack)
            return {"graphs": graphs_of(module)}
