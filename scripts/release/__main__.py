"""Makes a release, but for the upload.

    python -m scripts.release 0.2.0    packages, tried in fresh environments; a commit and a tag
    python -m scripts.release          the same for the checkout as it is, without a commit

The table `[tool.moir.release]` of pyproject.toml says where the project is (`scripts/release/settings.py`). The
packages are in `dist/` afterwards, for `twine upload`, with their bill of materials and checksums. They are built
twice, and have to have the same bytes; `make release` at the tag gives them again.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from moir.version import VERSION
from scripts.release.bill_of_materials import CHECKSUMS, bill_of_materials, checksums, resolved
from scripts.release.changelog import cut
from scripts.release.index_page import export
from scripts.release.installations import PYTHONS, ROOT, check, installations, interpreters
from scripts.release.reproducible import normalize
from scripts.release.requirements import dependencies
from scripts.release.settings import ReleaseSettings, release_settings

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


def packages(settings: ReleaseSettings, version: str, epoch: int) -> tuple[Path, Path]:
    """Build the wheel and the sdist of the committed files in `dist`, and let twine check them.

    Raises ValueError if a second build gives other bytes.
    """
    DIST.mkdir(exist_ok=True)
    for old in (*DIST.glob("moir-*"), *DIST.glob(CHECKSUMS)):
        old.unlink()
    first = _built(DIST, settings, version, epoch)
    with tempfile.TemporaryDirectory() as folder:
        for path, again in zip(first, _built(Path(folder), settings, version, epoch), strict=True):
            if path.read_bytes() != again.read_bytes():
                raise ValueError(f"{path.name} has other bytes when it is built again")
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *map(str, first)], check=True)
    return first


def _built(target: Path, settings: ReleaseSettings, version: str, epoch: int) -> tuple[Path, Path]:
    """Build the wheel and the sdist in a folder, from a copy of the files that git tracks."""
    with tempfile.TemporaryDirectory() as folder:
        export(ROOT, Path(folder), settings, version)
        environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch)}
        command = [sys.executable, "-m", "build", "--outdir", str(target), folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    (wheel,), (sdist,) = target.glob("*.whl"), target.glob("*.tar.gz")
    for path in (wheel, sdist):
        normalize(path, epoch)
    return wheel, sdist


def describe(wheel: Path, sdist: Path, version: str, epoch: int) -> None:
    """Write the bill of materials and the checksums beside the packages."""
    materials = DIST / f"moir-{version}.cdx.json"
    installed = resolved(sys.executable, wheel)
    materials.write_text(bill_of_materials(wheel, installed, dependencies(), version, epoch), encoding="utf-8")
    (DIST / CHECKSUMS).write_text(checksums([wheel, sdist, materials]), encoding="utf-8")


def _output(*command: str, **variables: str) -> str:
    environment = os.environ | variables
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, env=environment).stdout


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a release of the version that is given, or packages of the checkout as it is."""
    parser = argparse.ArgumentParser("python -m scripts.release", description="Make a release, but for the upload.")
    parser.add_argument("version", nargs="?", help="version of the release; without it, packages of the checkout as it is")
    options = parser.parse_args(arguments)
    version = options.version
    try:
        settings = release_settings()
        if version is not None:
            settings.check()
        absent = [each for each in PYTHONS if each not in interpreters()]
        if absent:
            raise ValueError(f"there is no Python {' and '.join(absent)} to try the packages on; put python{absent[0]} on the PATH")
        if version is not None:
            prepare(version)
        # The time of the commit: of that which this makes, or of the last one.
        epoch = int(time.time()) if version is not None else int(_output("git", "log", "-1", "--format=%ct"))
        built = packages(settings, version or VERSION, epoch)
        describe(*built, version or VERSION, epoch)
        for installation in installations(*built):
            print(f"{installation} …", flush=True)
            check(installation)
    except (ValueError, subprocess.CalledProcessError) as error:
        print(f"release: error: {error}", file=sys.stderr)
        return 1
    if version is not None:
        dates = dict.fromkeys(("GIT_COMMITTER_DATE", "GIT_AUTHOR_DATE"), f"@{epoch} +0000")
        _output("git", "commit", "--quiet", "--message", f"Version {version}", "--", str(CHANGELOG), str(VERSION_FILE), **dates)
        _output("git", "tag", "--annotate", f"v{version}", "--message", f"moir {version}")
        print(f"tagged v{version}; to upload: python -m twine upload dist/* && git push --follow-tags")
    return 0


if __name__ == "__main__":
    sys.exit(main())
