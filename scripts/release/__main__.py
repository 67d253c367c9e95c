"""Makes a release, but for the upload.

    python -m scripts.release 0.2.0 --source URL    packages, tried in fresh environments; a commit and a tag
    python -m scripts.release                       the same for the checkout as it is, without a commit

URL is the address of the public repository, where the links of the page of a package index lead. The packages are in
`dist/` afterwards, for `twine upload`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from moir.version import VERSION
from scripts.release.changelog import cut
from scripts.release.index_page import export
from scripts.release.installations import PYTHONS, ROOT, check, installations, interpreters

VERSION_FILE = ROOT / "moir" / "version.py"
CHANGELOG = ROOT / "CHANGELOG.md"
DIST = ROOT / "dist"


def prepare(version: str) -> None:
    """Write a version to the package and to the changelog. Raises ValueError if the version is not later than the
    present one.
    """
    if re.fullmatch(r"\d+\.\d+\.\d+", version) is None:
        raise ValueError(f"{version} is no version of the form 1.2.3")
    if [*map(int, version.split("."))] < [*map(int, VERSION.split("."))]:
        raise ValueError(f"{version} is before {VERSION}")
    if _output("git", "status", "--porcelain"):
        raise ValueError("there are changes that are not committed")
    CHANGELOG.write_text(cut(CHANGELOG.read_text(encoding="utf-8"), version, date.today()), encoding="utf-8")
    VERSION_FILE.write_text(VERSION_FILE.read_text(encoding="utf-8").replace(f'"{VERSION}"', f'"{version}"'), encoding="utf-8")


def packages(tree: Path) -> tuple[Path, Path]:
    """Build the wheel and the sdist of a source tree, and let twine check them."""
    for old in DIST.glob("moir-*"):
        old.unlink()
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(DIST), str(tree)], check=True, stdout=subprocess.DEVNULL)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)], check=True)
    return wheel, sdist


def _output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a release of the version that is given, or packages of the checkout as it is."""
    parser = argparse.ArgumentParser("python -m scripts.release", description="Make a release, but for the upload.")
    parser.add_argument("version", nargs="?", help="version of the release; without it, packages of the checkout as it is")
    parser.add_argument("--source", metavar="URL", help="address of the public repository")
    options = parser.parse_args(arguments)
    version, source = options.version, options.source and options.source.rstrip("/")
    try:
        if version is not None and not source:
            raise ValueError("a release says where its source is; add --source URL (make release VERSION=… SOURCE=URL)")
        absent = [each for each in PYTHONS if each not in interpreters()]
        if absent:
            raise ValueError(f"there is no Python {' and '.join(absent)} to try the packages on; put python{absent[0]} on the PATH")
        if version is not None:
            prepare(version)
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder) if source else ROOT
            if source:
                export(ROOT, tree, source, version or VERSION)
            built = packages(tree)
        for installation in installations(*built):
            print(f"{installation} …", flush=True)
            check(installation)
    except (ValueError, subprocess.CalledProcessError) as error:
        print(f"release: error: {error}", file=sys.stderr)
        return 1
    if version is not None:
        _output("git", "commit", "--quiet", "--message", f"Version {version}", "--", str(CHANGELOG), str(VERSION_FILE))
        _output("git", "tag", "--annotate", f"v{version}", "--message", f"moir {version}")
        print(f"tagged v{version}; to upload: python -m twine upload dist/* && git push --follow-tags")
    return 0


if __name__ == "__main__":
    sys.exit(main())
