"""Tries the checkout with the oldest versions of all dependencies, in a fresh environment of the Python that runs this.

    python -m scripts.release.oldest           # `make oldest`
    python -m scripts.release.oldest --write   # writes .ci/oldest.txt from pyproject.toml

The versions are those of `.ci/oldest.txt`, a file of constraints for pip. A sample of each framework is converted, with
warnings as errors.
"""

from __future__ import annotations

import argparse
import sys

from scripts.release.installations import EXTRAS, ROOT, Installation, check
from scripts.release.requirements import constraints, dependencies

FILE = ROOT / ".ci" / "oldest.txt"


def main() -> int:
    """Run the command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m scripts.release.oldest", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the file of constraints")
    if parser.parse_args().write:
        FILE.write_text(constraints(dependencies(*EXTRAS)), encoding="utf-8")
        return 0
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    check(Installation(sys.executable, version, ROOT, is_oldest=True), ["-c", str(FILE)])
    sys.stdout.write(f"Python {version} with the versions of {FILE.relative_to(ROOT)}: all samples are converted\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
