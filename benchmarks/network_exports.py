"""Exports networks at random weights, for `ir_quality.py` to compare what the converters make of them.

    python benchmarks/network_exports.py onnx FOLDER [--only GLOB]    where torch, torchvision, timm, transformers are
    python benchmarks/network_exports.py keras FOLDER [--only GLOB]   where TensorFlow is
    python benchmarks/network_exports.py quantized FOLDER             where ONNX Runtime is, after the first

The first command writes the corpus of `pytorch_exports.py` as ONNX models, by both exporters of torch: the one that
traces, with operator set 14, and the one of exported programs. The second writes SavedModels, the third quantizes some
of the ONNX models.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        "python benchmarks/network_exports.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("onnx", "keras", "quantized"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", metavar="GLOB", default="*", help="networks; several globs separated by commas")
    parser.add_argument("--again", action="store_true", help="export networks that exist, too")
    parser.add_argument("--forms", nargs="+", default=["old", "new"], choices=("old", "new"), help="exporters of torch (default: both)")
    options = parser.parse_args()
    if options.command == "onnx":
        from exports.onnx_models import export_onnx

        return export_onnx(options.folder, options.only, options.again, options.forms)
    if options.command == "quantized":
        from exports.quantized_models import export_quantized

        return export_quantized(options.folder, options.only, options.again)
    from exports.keras_models import export_keras

    return export_keras(options.folder, options.only, options.again)


if __name__ == "__main__":
    sys.exit(main())
