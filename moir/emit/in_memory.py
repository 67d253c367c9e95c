"""A module as OpenVINO IR in memory, and as a model of OpenVINO Runtime."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from moir.dialects.moir import ModelOp, ModuleLevel, models_of
from moir.dialects.properties import value_of
from moir.emit.model import ModelWriter
from moir.emit.weights import Weights
from moir.errors import EmissionError
from moir.files.source_files import check_as_read
from moir.parameters.arguments import MODULE, TEXTS, Expected, checked
from moir.support.turns import in_turn

if TYPE_CHECKING:
    import openvino


def write_xml(
    module: ModuleOp, write: Callable[[str], object], weights: Weights, conversion_parameters: Mapping[str, str] | None = None
) -> int:
    """Write the XML of a module with one model, and collect its constants; returns the number of layers.

    Args:
        module: the module.
        write: called with each piece of the XML.
        weights: collects the constants.
        conversion_parameters: options of the conversion to record.

    Raises EmissionError for a module that IR cannot represent.
    """
    writer = ModelWriter(write, weights)
    writer.model(model_of(module), conversion_parameters)
    return writer.layers


def model_of(module: ModuleOp) -> ModelOp:
    """The only model of a module. Raises EmissionError if the module has no model or several."""
    models = models_of(module)
    if len(models) != 1:
        raise EmissionError(f"the IR holds one model, the module has {len(models)}")
    return models[0]


def serialize(module: ModuleOp, *, conversion_parameters: Mapping[str, str] | None = None) -> tuple[bytes, Weights]:
    """The `.xml` of a module, and the weights for its `.bin`, which are not copied."""
    weights = Weights()
    text = io.StringIO()
    write_xml(module, text.write, weights, conversion_parameters)
    return text.getvalue().encode(), weights


CORE = Expected("an openvino.Core", lambda value: callable(getattr(value, "read_model", None)))


@in_turn
@checked(module=MODULE, conversion_parameters=TEXTS.or_none(), core=CORE.or_none())
def to_openvino(
    module: ModuleOp, *, conversion_parameters: Mapping[str, str] | None = None, core: openvino.Core | None = None
) -> openvino.Model:
    """The model of a module as a model of OpenVINO Runtime, without files. The runtime's model owns a copy of the
    weights.

    Args:
        module: a module in opset dialects.
        conversion_parameters: options of the conversion to record.
        core: a core in which the operations of the dialect `extension` are registered; needed if the model has such
    operations other than those of OpenVINO Tokenizers.

    Raises ArgumentError for arguments of other types, EmissionError if OpenVINO is not installed or rejects the model,
    and ModelFileError if a file from which the module was read has changed.
    """
    try:
        import openvino
    except ImportError as error:
        raise EmissionError("a model in memory needs OpenVINO Runtime", hint="install the package openvino, or write files") from error
    xml, weights = serialize(module, conversion_parameters=conversion_parameters)
    tensor = openvino.Tensor(openvino.Type.u8, openvino.Shape([weights.size]))
    if weights.size:
        weights.fill(np.asarray(tensor.data))
    check_as_read(module)
    try:
        reader: Any = core or _core_for(model_of(module))
        return reader.read_model(xml, tensor)
    except RuntimeError as error:
        raise EmissionError(f"OpenVINO Runtime refuses the model: {_last_line(str(error))}") from error


def _core_for(model: ModelOp) -> openvino.Core:
    """A core with the extension packages that a model needs. Raises EmissionError if one of them is not installed."""
    import openvino

    extensions = model.attributes.get(ModuleLevel.RUNTIME_EXTENSIONS)
    for name in value_of(extensions) if extensions is not None else ():
        try:
            # Once imported, the packages register their operations with each new core.
            import_module(name)
        except ImportError as error:
            raise EmissionError(f"the model needs the extension {name} of the runtime", hint=f"install the package {name}") from error
    return openvino.Core()


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"
