"""Exports networks by torch and compares what moir makes of the programs with what torch computes.

    python benchmarks/pytorch_exports.py export FOLDER [--only GLOB]    where torch, torchvision, timm, transformers are
    python benchmarks/pytorch_exports.py compare FOLDER [--only GLOB]   in an environment of moir with OpenVINO Runtime
    python benchmarks/pytorch_exports.py operators FOLDER

The first command writes a folder a program: the `.pt2`, its inputs and torch's results as `.npz`. The second converts
each as a process, runs it and prints what differs, with the error relative to the largest value of an output. The third
counts the operators of the programs in `exports/operators.md`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        "python benchmarks/pytorch_exports.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("export", "compare", "operators"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", metavar="GLOB", default="*", help="networks; several globs separated by commas")
    parser.add_argument("--again", action="store_true", help="export programs that exist, too")
    options = parser.parse_args()
    if options.command == "export":
        from exports.exporting import export

        return export(options.folder, options.only, options.again)
    if options.command == "operators":
        from exports.counting import count

        return count(options.folder)
    from exports.comparing import compare

    return compare(options.folder, options.only)


if __name__ == "__main__":
    sys.exit(main())
