"""What a release writes, and the versions that it is tried with."""

from __future__ import annotations

import hashlib
import io
import json
import re
import subprocess
import tarfile
import time
import tomllib
import zipfile
from datetime import date
from pathlib import Path

import pytest

from scripts.release.__main__ import main
from scripts.release.bill_of_materials import bill_of_materials, checksums
from scripts.release.changelog import cut
from scripts.release.index_page import with_absolute_links, with_addresses
from scripts.release.installations import EXTRAS
from scripts.release.oldest import FILE
from scripts.release.reproducible import normalize
from scripts.release.requirements import PROJECT, constraints, dependencies, oldest
from scripts.release.settings import ReleaseSettings, as_told, release_settings
from tests.unit.documents import DOCUMENTS, text_of

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


COMPLETE = ReleaseSettings(SOURCE, "Jane Doe <jane@example.org>", "security@example.org")


def test_a_package_says_where_its_source_is_and_who_answers_for_it() -> None:
    project = tomllib.loads(with_addresses(PROJECT.read_text(encoding="utf-8"), COMPLETE))["project"]
    assert project["urls"]["Source"] == SOURCE
    assert project["urls"]["Security"] == f"{SOURCE}/blob/HEAD/SECURITY.md"
    assert "OpenVINO" in project["urls"]
    assert project["authors"] == [{"name": "Jane Doe", "email": "jane@example.org"}]


def test_a_page_for_reports_of_weaknesses_is_an_address_of_the_package() -> None:
    page = "https://example.org/report"
    project = tomllib.loads(with_addresses(PROJECT.read_text(encoding="utf-8"), COMPLETE.with_fields(security=page)))["project"]
    assert project["urls"]["Security"] == page


def test_a_package_without_settings_is_that_of_the_checkout() -> None:
    text = PROJECT.read_text(encoding="utf-8")
    assert with_addresses(text, ReleaseSettings()) == text


def test_the_settings_of_the_checkout_are_read() -> None:
    assert release_settings().by_name().keys() == {"source", "author", "security", "published"}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('url = "https://x"', "no setting 'url'; it has source, author, security, published"),
        ('published = "yes"', "published of .* is 'yes', not a bool"),
    ],
)
def test_settings_that_do_not_exist(table: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        release_settings(f"[tool.moir.release]\n{table}\n")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": ""}, "set source in"),
        ({"source": "", "author": "", "security": ""}, "set source, author, security in"),
        ({"source": "http://x"}, "not an https:// address"),
        ({"author": "Jane"}, "not 'Name <mail>'"),
        ({"security": "at my desk"}, "neither an https:// address nor one of mail"),
    ],
)
def test_settings_that_a_release_refuses(changes: dict[str, str], message: str) -> None:
    COMPLETE.check()
    with pytest.raises(ValueError, match=message):
        COMPLETE.with_fields(**changes).check()


def test_a_release_asks_for_the_settings(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scripts.release.__main__.release_settings", ReleaseSettings)
    assert main(["9.9.9"]) == 1
    assert "[tool.moir.release]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("`python -m pip install '.[openvino]' torch`", "`python -m pip install 'moir[openvino]' torch`"),
        ("python -m pip install .\n", "python -m pip install moir\n"),
        ("pip install transformers", "pip install transformers"),
        ("pip install ./other", "pip install ./other"),
    ],
)
def test_documents_tell_to_install_moir_once_it_is_published(given: str, expected: str) -> None:
    assert as_told(given, COMPLETE.with_fields(published=True)) == expected
    assert as_told(given, COMPLETE) == given


def test_the_page_on_security_has_the_address_for_reports() -> None:
    text = (PROJECT.parent / "SECURITY.md").read_text(encoding="utf-8")
    assert "Report it to [security@example.org](mailto:security@example.org)" in as_told(text, COMPLETE)
    assert as_told(text, ReleaseSettings()) == text


def test_no_document_tells_to_install_what_is_not_there() -> None:
    """`as_told` writes the name of the package where a release says that it is published."""
    if release_settings().published:
        pytest.skip("moir is published")
    pattern = re.compile(r"pip install[^`\n#]*\bmoir\b")
    assert [line for document in DOCUMENTS for line in pattern.findall(text_of(document))] == []


def archives(folder: Path, when: int, umask: int, order: int) -> tuple[Path, Path]:
    """A wheel and an sdist of the same files, made at another time, by somebody else."""
    folder.mkdir()
    members = [("moir/a.py", b"a"), ("moir-1.dist-info/RECORD", b"r")]
    with zipfile.ZipFile(folder / "m.whl", "w") as wheel:
        for name, content in members:
            info = zipfile.ZipInfo(name, time.gmtime(when)[:6])
            info.external_attr = (0o100666 & ~umask) << 16
            wheel.writestr(info, content)
    with tarfile.open(folder / "m.tar.gz", "w:gz") as sdist:
        for name, content in members[::order]:
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.uname, info.mode = len(content), when, str(umask), 0o666 & ~umask
            sdist.addfile(info, io.BytesIO(content))
    return folder / "m.whl", folder / "m.tar.gz"


def test_packages_have_the_same_bytes_whoever_builds_them(tmp_path: Path) -> None:
    first = archives(tmp_path / "1", 1_700_000_000, 0o022, 1)
    second = archives(tmp_path / "2", 1_800_000_002, 0o077, -1)
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() != other.read_bytes()
        normalize(one, 1_750_000_000)
        normalize(other, 1_750_000_000)
        assert one.read_bytes() == other.read_bytes()
    with zipfile.ZipFile(first[0]) as wheel:
        assert wheel.namelist() == ["moir/a.py", "moir-1.dist-info/RECORD"]
        assert wheel.read("moir/a.py") == b"a"
    with tarfile.open(first[1]) as sdist:
        assert {each.mtime for each in sdist} == {1_750_000_000}
    with pytest.raises(ValueError, match="neither a wheel nor an sdist"):
        normalize(tmp_path / "x.zip", 0)


def test_the_bill_of_materials_and_the_checksums(tmp_path: Path) -> None:
    wheel = tmp_path / "moir-1-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    installed = [
        {
            "metadata": {
                "name": "Rich",
                "version": "13.0",
                "license_expression": "MIT",
                "requires_dist": ["Pygments>=2", "ipywidgets; extra == 'jupyter'", "tomli; python_version < '3'"],
            },
            "download_info": {"archive_info": {"hashes": {"sha256": "ab"}}},
        },
        {"metadata": {"name": "pygments", "version": "2.1", "classifier": ["License :: OSI Approved :: BSD License"]}},
    ]
    content = json.loads(bill_of_materials(wheel, installed, ["rich>=13", "h5py; extra == 'keras'"], "1", 0))
    assert (content["bomFormat"], content["specVersion"]) == ("CycloneDX", "1.6")
    assert content["metadata"]["timestamp"] == "1970-01-01T00:00:00Z"
    assert content["metadata"]["component"]["hashes"][0]["content"] == hashlib.sha256(b"wheel").hexdigest()
    pygments, rich = content["components"]
    assert (rich["purl"], rich["licenses"], rich["hashes"][0]["content"]) == ("pkg:pypi/rich@13.0", [{"expression": "MIT"}], "ab")
    assert pygments["licenses"] == [{"license": {"name": "BSD License"}}]
    assert {each["ref"]: each["dependsOn"] for each in content["dependencies"]} == {
        "pkg:pypi/moir@1": ["pkg:pypi/rich@13.0"],
        "pkg:pypi/rich@13.0": ["pkg:pypi/pygments@2.1"],
        "pkg:pypi/pygments@2.1": [],
    }
    (tmp_path / "SHA256SUMS").write_text(checksums([wheel]), encoding="utf-8")
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=tmp_path, check=True)


def test_constraints_have_the_lower_bounds_and_the_markers() -> None:
    text = constraints(["a>=1.2,<2", "b>=3; python_version < '3.13'", "c[extra]>=4"])
    assert text == 'a==1.2\nb==3; python_version < "3.13"\nc==4\n'
    with pytest.raises(ValueError, match="d has no lower bound"):
        constraints(["d"])


def test_the_file_of_constraints_is_that_of_the_dependencies() -> None:
    assert FILE.read_text(encoding="utf-8") == constraints(dependencies(*EXTRAS)), "run `python -m scripts.release.oldest --write`"
