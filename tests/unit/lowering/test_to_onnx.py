"""The table of the lowering to ONNX: its handlers name properties that the operations have."""

from __future__ import annotations

import pytest

from moir.dialects import opset as operation_sets
from moir.dialects.opset.interfaces.properties import property_table
from moir.errors import UsageError
from moir.lowering.signatures import signature_of
from moir.lowering.to_onnx.table import NEWEST, OLDEST, check_version, opset

KINDS = sorted(opset.kinds())


@pytest.mark.parametrize("kind", KINDS)
def test_the_properties_in_a_signature_exist(kind: str) -> None:
    names = [kind] if "." in kind else operation_sets.versions(kind)
    known = {name for each in names for name in property_table(operation_sets.operation(each)).specs}
    for since in opset.since(kind):
        handler = opset.handler(kind, since)
        assert handler is not None
        handler = getattr(handler, "__wrapped__", handler)
        assert {each.name for each in signature_of(handler).attributes} <= known


@pytest.mark.parametrize("kind", KINDS)
def test_the_defaults_in_a_signature_are_those_of_the_operation(kind: str) -> None:
    operation = operation_sets.operation(kind if "." in kind else operation_sets.versions(kind)[-1])
    specs = property_table(operation).specs
    for since in opset.since(kind):
        handler = opset.handler(kind, since)
        handler = getattr(handler, "__wrapped__", handler)
        assert handler is not None
        for each in signature_of(handler).attributes:
            # A property that the newest version has no longer, and one without default, are of older versions.
            if each.name in specs and not each.is_required and each.default is not None and specs[each.name].default is not None:
                assert specs[each.name].kind.attribute(each.default) == specs[each.name].default, each.name


@pytest.mark.parametrize("version", [OLDEST - 1, NEWEST + 1])
def test_other_versions_are_refused(version: int) -> None:
    with pytest.raises(UsageError, match=f"version {version}"):
        check_version(version)
