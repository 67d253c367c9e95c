"""AutoRound (Cheng et al., "Optimize Weight Rounding via Signed Gradient Descent for the Quantization of LLMs", 2023).

It stores codes in the layouts of others, which `packing_format` names.
"""

from __future__ import annotations

from moir.frontends.quantized_checkpoints.awq import AWQ
from moir.frontends.quantized_checkpoints.compressed_tensors import CompressedTensors
from moir.frontends.quantized_checkpoints.gptq import GPTQ
from moir.frontends.quantized_checkpoints.quantization import Quantization, Settings

LAYOUTS = {
    "auto_round": "gptq_v2",
    "auto_round:gptqmodel": "gptq_v2",
    "auto_round:auto_gptq": "gptq",
    "auto_round:gptq": "gptq",
    "auto": "gptq",
    "auto_round:auto_awq": "awq",
    "auto_round:awq": "awq",
    "auto_round:llm_compressor": "compressed-tensors",
}
"""For each name of a layout in AutoRound, the name of the layout here."""


def method(settings: Settings) -> Quantization:
    """The method whose layout the settings name. Raises ModelFileError for layouts that are not supported."""
    form = settings.text("packing_format", "auto")
    layout = LAYOUTS.get(form)
    if layout is None:
        raise settings.error(f"AutoRound's layout {form!r} is not supported", f"those that are: {', '.join(LAYOUTS)}")
    if layout == "awq":
        return AWQ(settings)
    if layout == "compressed-tensors":
        return CompressedTensors(Settings({}, settings.location))
    # Layers with settings of their own.
    exceptions = {"dynamic": settings.table("extra_config")} if settings.table("extra_config") else {}
    return GPTQ(Settings({**settings.values, "checkpoint_format": layout, **exceptions}, settings.location))
