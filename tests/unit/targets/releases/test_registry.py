"""The records of releases, and the tables of older operations."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

import moir
from moir.dialects import opset
from moir.dialects.opset.interfaces.properties import property_table
from moir.errors import UnsupportedOperationError, UsageError
from moir.frameworks import load
from moir.targets.releases.earlier_versions import EARLIER_VERSIONS
from moir.targets.releases.expansions import FAMILIES
from moir.targets.releases.limitations import LIMITATIONS
from moir.targets.releases.registry import RELEASES, accepts, accepts_element, first_with, first_with_element, release_named
from tests.unit.small_models import matmul_model, save


def test_releases_accept_what_earlier_ones_do() -> None:
    names, releases = [*opset.names()], [*RELEASES.values()]
    assert [each.name for each in releases] == sorted(RELEASES, key=lambda name: [*map(int, name.split("."))])
    for earlier, later in pairwise(releases):
        lost = {name for name in names if accepts(earlier, name) and not accepts(later, name)}
        assert lost <= {*later.lacks.split()}
    assert all(accepts(releases[-1], name) for name in names)
    assert {name for each in releases for name in (*each.also.split(), *each.lacks.split())} <= {*names}


@pytest.mark.parametrize(
    ("operation", "release"),
    [("opset8.If", "2022.1"), ("opset13.NMSRotated", "2023.2"), ("opset7.Einsum", "2021.4"), ("opset17.GroupedMatMul", "2026.4")],
)
def test_the_first_release_with_an_operation(operation: str, release: str) -> None:
    assert first_with(operation) == RELEASES[release]


def test_element_types() -> None:
    assert first_with_element("nf4") == RELEASES["2023.2"]
    assert accepts_element(RELEASES["2020.4"], "i4")
    assert not accepts_element(RELEASES["2024.2"], "f4e2m1")


def test_names_of_releases() -> None:
    assert release_named("2022.3.2") is release_named("2022.3") is RELEASES["2022.3"]
    with pytest.raises(UsageError, match=r"there is no release '2021.5'.*; did you mean"):
        release_named("2021.5")


def test_older_versions_have_the_operands_and_results_of_the_newer() -> None:
    for each in EARLIER_VERSIONS:
        newer, older = opset.operation(each.newer), opset.operation(each.older)
        results = [len(operation.get_irdl_definition().results) for operation in (newer, older)]
        assert results[0] == results[1] + each.unused_results, each
        assert each.only.keys() <= property_table(newer).specs.keys(), each
        assert next(release for release in RELEASES.values() if accepts(release, each.older)) is not first_with(each.newer)


def test_every_expansion_is_in_the_table_of_its_family() -> None:
    for family, names in FAMILIES.items():
        assert {*names.split()} == {*load(f"moir.targets.releases.expansions.{family}:EXPANSIONS")}
    for each in LIMITATIONS:
        assert each.until in RELEASES
        assert callable(load(each.instead))


def test_a_conversion_for_an_older_release(tmp_path: Path) -> None:
    save(matmul_model(), tmp_path / "model.onnx")
    versions: dict[str, str | None] = {}
    for release in ("2021.4", "2022.1"):
        moir.save_model(moir.convert_model(tmp_path / "model.onnx", runtime=release), tmp_path / f"{release}.xml")
        root = ElementTree.parse(tmp_path / f"{release}.xml").getroot()
        versions[release] = root.get("version")
        recorded = root.find("rt_info/conversion_parameters/runtime")
        assert recorded is not None
        assert recorded.get("value") == release
    assert versions == {"2021.4": "10", "2022.1": "11"}
    with pytest.raises(UsageError):
        moir.convert_model(tmp_path / "model.onnx", runtime="1.0")


def test_a_dynamic_model_for_a_release_without_dynamic_dimensions() -> None:
    digits = Path(__file__).parents[4] / "examples" / "digits" / "digits.onnx"
    with pytest.raises(UnsupportedOperationError, match=r"Runtime 2021.4 does not read tensors with dynamic dimensions.*--input"):
        moir.convert_model(digits, runtime="2021.4")
    moir.convert_model(digits, runtime="2021.4", input="image[1,1,8,8]")
