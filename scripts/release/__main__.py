"""Makes a release, but for the upload.

    python -m scripts.release 0.2.0       packages, tried in fresh environments; a commit and a tag
    python -m scripts.release             the same for the checkout as it is, without a commit

The packages are in `dist/` afterwards, for `twine upload`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import date
from pathlib import Path

from moir.version import VERSION
from scripts.release.changelog import cut
from scripts.release.installations import PYTHONS, ROOT, check, installations, interpreters

VERSION_FILE = ROOT / "moir" / "version.py"
CHANGELOG = ROOT / "CHANGELOG.md"
DIST = ROOT / "dist"


def prepare(version: str) -> None:
    """Write a version to the package and to the changelog. Raises ValueError if it is no later version."""
    if re.fullmatch(r"\d+\.\d+\.\d+", version) is None:
        raise ValueError(f"{version} is no version of the form 1.2.3")
    if [*map(int, version.split("."))] < [*map(int, VERSION.split("."))]:
        raise ValueError(f"{version} is before {VERSION}")
    if _output("git", "status", "--porcelain"):
        raise ValueError("there are changes that are not committed")
    CHANGELOG.write_text(cut(CHANGELOG.read_text(encoding="utf-8"), version, date.today()), encoding="utf-8")
    VERSION_FILE.write_text(VERSION_FILE.read_text(encoding="utf-8").replace(f'"{VERSION}"', f'"{version}"'), encoding="utf-8")


def packages() -> tuple[Path, Path]:
    """Build the wheel and the sdist, and let twine check them."""
    for old in DIST.glob("moir-*"):
        old.unlink()
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT)], check=True, stdout=subprocess.DEVNULL)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)], check=True)
    return wheel, sdist


def _output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def main(arguments: list[str]) -> int:
    """Make a release of the version that is given, or packages of the checkout as it is."""
    version = arguments[0] if arguments else None
    try:
        if version is not None:
            prepare(version)
        absent = [each for each in PYTHONS if each not in interpreters()]
        if absent:
            raise ValueError(f"there is no Python {' and '.join(absent)} to try the packages on; put python{absent[0]} on the PATH")
        for installation in installations(*packages()):
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
    sys.exit(main(sys.argv[1:]))
