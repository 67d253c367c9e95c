"""What a release writes, and the versions that it is tried with."""

from __future__ import annotations

from datetime import date

import pytest

from scripts.release.changelog import cut
from scripts.release.requirements import dependencies, oldest

CHANGELOG = """# Changelog

What changes. There has been no release yet.

## Unreleased

### Added

- **Something**.
"""


def test_what_is_not_released_becomes_a_section() -> None:
    once = cut(CHANGELOG, "0.1.0", date(2026, 12, 1))
    assert once == CHANGELOG.replace(" There has been no release yet.", "").replace(
        "## Unreleased\n", "## Unreleased\n\n## 0.1.0 - 2026-12-01\n"
    )
    twice = cut(once.replace("## Unreleased\n", "## Unreleased\n\n### Fixed\n\n- More.\n"), "0.2.0", date(2027, 1, 1))
    assert twice.index("## 0.2.0 - 2027-01-01") < twice.index("- More.") < twice.index("## 0.1.0") < twice.index("- **Something**")


@pytest.mark.parametrize(
    ("text", "version", "message"),
    [
        (CHANGELOG.replace("- **Something**.", ""), "0.1.0", "nothing to release"),
        (CHANGELOG.replace("Unreleased", "Next"), "0.1.0", "no line '## Unreleased'"),
        (cut(CHANGELOG, "0.1.0", date(2026, 12, 1)), "0.2.0", "nothing to release"),
        (CHANGELOG + "\n## 0.1.0 - 2026-01-01\n", "0.1.0", "has a section for 0.1.0"),
    ],
)
def test_what_cannot_be_released(text: str, version: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cut(text, version, date(2026, 12, 1))


def test_the_oldest_versions_are_those_of_the_python() -> None:
    given = ["numpy>=1.26; python_version < '3.13'", "numpy>=2.1; python_version >= '3.13'", "xdsl>=0.74,<0.75"]
    assert oldest(given, "3.12") == ["numpy==1.26", "xdsl==0.74"]
    assert oldest(given, "3.13") == ["numpy==2.1", "xdsl==0.74"]
    with pytest.raises(ValueError, match="no lower bound"):
        oldest(["rich"], "3.11")


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_every_dependency_has_an_oldest_version(python: str) -> None:
    names = [each.partition("==")[0] for each in oldest(dependencies(), python)]
    assert len(names) == len(set(names))
    assert {"xdsl", "numpy", "onnx", "protobuf", "ml-dtypes"} <= set(names)
