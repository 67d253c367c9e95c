"""Quantizes exported ONNX models by ONNX Runtime: static with QDQ, and dynamic."""

from __future__ import annotations

import logging
import shutil
import time
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

STATIC = (
    "resnet18_old",
    "squeezenet1_1_old",
    "mobilenet_v3_small_old",
    "shufflenet_v2_x0_5_old",
    "mnasnet0_5_old",
    "lraspp_mobilenet_v3_large_old",
)
"""Networks of convolutions, whose activations are quantized, too."""

DYNAMIC = ("hf_Bert_old", "hf_ViT_old", "hf_GPT2_old", "hf_Segformer_old", "hf_Wav2Vec2_old")
"""Networks of products, which quantize their activations while they run."""


class Inputs(CalibrationDataReader):
    """The inputs of a model, once."""

    def __init__(self, path: Path) -> None:
        self.values: list[dict[str, Any]] = [dict(np.load(path))]

    def get_next(self) -> dict[str, Any] | None:
        return self.values.pop() if self.values else None


def export_quantized(folder: Path, only: str, again: bool) -> int:
    """Write `NAME_qdq/model.onnx` and `NAME_dynamic/model.onnx` beside the networks; returns how many failed."""
    logging.disable(logging.WARNING)
    failed = 0
    for name in (*STATIC, *DYNAMIC):
        source, suffix = folder / name, "qdq" if name in STATIC else "dynamic"
        path = folder / f"{name}_{suffix}" / "model.onnx"
        if not fnmatch(name, only) or not (source / "model.onnx").exists() or (path.exists() and not again):
            continue
        start = time.perf_counter()
        path.parent.mkdir(exist_ok=True)
        shutil.copy(source / "inputs.npz", path.parent)
        try:
            if name in STATIC:
                reader = Inputs(source / "inputs.npz")
                kinds = {"activation_type": QuantType.QUInt8, "weight_type": QuantType.QInt8}
                quantize_static(source / "model.onnx", path, reader, quant_format=QuantFormat.QDQ, per_channel=True, **kinds)
            else:
                quantize_dynamic(source / "model.onnx", path, weight_type=QuantType.QInt8)
        except Exception as error:
            failed += 1
            print(f"{name}: not quantized: {str(error).strip().splitlines()[0][:200]}", flush=True)
        else:
            print(f"{name}_{suffix}: {time.perf_counter() - start:.1f} s", flush=True)
    return failed
