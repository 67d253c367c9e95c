"""What a release writes, and the versions that it is tried with."""

from __future__ import annotations

import re
import tomllib
from datetime import date

import pytest

from scripts.release.__main__ import main
from scripts.release.changelog import cut
from scripts.release.index_page import with_absolute_links, with_addresses
from scripts.release.requirements import PROJECT, dependencies, oldest

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


SOURCE = "https://example.org/moir"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("[how](docs/batch.md#manifest)", f"[how]({SOURCE}/blob/v0.2.0/docs/batch.md#manifest)"),
        ("![a\nstep](docs/step.png)", f"![a\nstep]({SOURCE}/raw/v0.2.0/docs/step.png)"),
        ("[xDSL](https://xdsl.dev) and [below](#licence)", "[xDSL](https://xdsl.dev) and [below](#licence)"),
    ],
)
def test_links_lead_to_the_repository(given: str, expected: str) -> None:
    assert with_absolute_links(given, SOURCE, "0.2.0") == expected


def test_no_link_of_the_readme_stays_relative() -> None:
    text = with_absolute_links((PROJECT.parent / "README.md").read_text(encoding="utf-8"), SOURCE, "0.2.0")
    assert re.findall(r"\]\((?!https?://)[^)]*\)", text) == []


def test_a_package_says_where_its_source_is() -> None:
    urls = tomllib.loads(with_addresses(PROJECT.read_text(encoding="utf-8"), SOURCE))["project"]["urls"]
    assert urls["Source"] == SOURCE
    assert "OpenVINO" in urls


def test_a_release_needs_an_address(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["9.9.9"]) == 1
    assert "--source URL" in capsys.readouterr().err
