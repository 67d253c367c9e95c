"""Certificates: mistakes in passes, lowerings and constants are found and named, and what is right is justified."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import moir
import moir.certificate.certify as certifying
from moir.certificate.certify import CertifiedConversion, certify
from moir.certificate.json_form import of_json, read_certificate, to_json, write_certificate
from moir.certificate.verification import certified_again, differences
from moir.conversion import convert, save_model
from moir.dialects.opset.infrastructure import Constant
from moir.errors import UsageError
from moir.execution import onnx_runtime
from moir.options import ConversionOptions
from moir.tools.convert import main
from tests.numerical.bisection.faults import MISTAKES, Mistake
from tests.numerical.bisection.networks import network
from tests.unit.language_models.folders import write_folder

WRONG_PASS = """
from moir.rewriting.rules import FusionRule, RulePass


class FuseGelu(RulePass):
    name = "fuse-quick-gelu"
    run_before = ("fuse-swish",)
    RULES = (FusionRule(lambda op, x: op.Multiply(x, op.Sigmoid(x)), lambda op, match: op.Swish(op.Negative(match["x"]))),)
"""

OF_THE_NETWORK = ("rounding", "swapped_permutation", "shape_value")
"""The mistakes of a bisection that a certificate has to find here: of a lowering, of a layout, of a shape."""


def certified(model: Path, **options: object) -> CertifiedConversion:
    """The certificate of a conversion, whose IR is written beside the model."""
    chosen, xml = ConversionOptions(**options), model.with_suffix(".xml")
    save_model(convert(model, chosen), xml)
    return certify(model, xml, model.parent, chosen)


def write_layers(path: Path, count: int = 3) -> Path:
    """A model of equal layers x + x·σ(x)·W, all with the same weight."""
    weight = np.random.default_rng(0).normal(size=(8, 8)).astype(np.float32) / 4
    nodes, x = [], "x"
    for layer in range(count):
        gate, swish, product, x_next = (f"{name}{layer}" for name in ("gate", "swish", "product", "sum"))
        nodes += [
            helper.make_node("Sigmoid", [x], [gate], gate),
            helper.make_node("Mul", [x, gate], [swish], swish),
            helper.make_node("MatMul", [swish, "w"], [product], product),
            helper.make_node("Add", [x, product], [x_next], x_next),
        ]
        x = x_next
    first, last = ([helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", 8])] for name in ("x", x))
    graph = helper.make_graph(nodes, "layers", first, last, [numpy_helper.from_array(weight, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network with a part for each kind of mistake."""
    path = tmp_path_factory.mktemp("network") / "network.onnx"
    onnx.save(network(1), path)
    return path


@pytest.mark.parametrize(
    "mistake", [each for each in MISTAKES if each.put.__name__ in OF_THE_NETWORK], ids=lambda mistake: mistake.put.__name__
)
def test_a_mistake_is_found_and_named(mistake: Mistake, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mistake.put(monkeypatch)
    done = certified(path, **mistake.options)
    (piece,) = done.certificate.wrong
    assert mistake.tensor in (piece.tensor, "")
    assert any(rule.startswith(mistake.stage) and mistake.rewrite in rule for rule in piece.rules)
    assert done.changed == []


def test_a_right_conversion_is_justified_and_equal_pieces_are_executed_once(path: Path, tmp_path: Path) -> None:
    certificate = certified(path).certificate
    assert certificate.reference.startswith("ONNX Runtime")
    assert certificate.counts["wrong"] == certificate.counts["not judged"] == 0
    assert certificate.counts["exact"] > 20
    assert certificate.counts["executed"] > 100
    layers = certified(write_layers(tmp_path / "layers.onnx")).certificate
    equal = {piece.tensor: piece.equal_to for piece in layers.pieces if piece.equal_to}
    assert (equal["swish2"], equal["product1"], equal["product2"]) == ("swish1", "product0", "product0")


def test_a_wrong_pass_of_an_extension_is_named(tmp_path: Path) -> None:
    extension = tmp_path / "rules" / "middle" / "fuse_gelu.py"
    extension.parent.mkdir(parents=True)
    extension.write_text(WRONG_PASS)
    certificate = certified(write_layers(tmp_path / "layers.onnx", 1), extensions=[str(tmp_path / "rules")]).certificate
    (piece,) = certificate.wrong
    assert piece.tensor == "swish0"
    assert {"onnx.Sigmoid gate0", "onnx.Mul swish0"} == {*piece.nodes}
    assert any(rule.startswith("fuse-quick-gelu") for rule in piece.rules)
    assert [*certificate.extensions] == [str(tmp_path / "rules")]


def test_a_wrong_constant_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A weight is changed after the passes, as by damaged memory or a pass that reports nothing."""
    recorded = certifying.recorded_conversion

    def damaged(*arguments: object) -> object:
        conversion = recorded(*arguments)  # pyright: ignore[reportArgumentType]
        for op in conversion.module.walk():
            if isinstance(op, Constant) and op.value.shape == (8, 8):
                values = np.array(op.value.array)
                values[0, 0] += 1
                op.properties["value"] = type(op.value).of(values, op.value.element)
        return conversion

    monkeypatch.setattr(certifying, "recorded_conversion", damaged)
    done = certified(write_layers(tmp_path / "layers.onnx", 1))
    assert [piece.tensor for piece in done.certificate.wrong] == ["product0"]
    assert done.changed == ["layers.bin"]


def test_without_a_runtime_of_the_framework_the_lowering_is_not_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_runtime.OnnxRunner, "is_installed", classmethod(lambda _: False))
    certificate = certified(write_layers(tmp_path / "layers.onnx")).certificate
    assert certificate.counts["executed"] > 2
    assert not certificate.wrong
    assert "the lowering of the model was not judged" in certificate.notes[0]


def test_verification_names_what_has_changed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model, xml, path = write_layers(tmp_path / "layers.onnx"), tmp_path / "ir" / "net.xml", tmp_path / "ir" / "certificate.json"
    assert main([str(model), "-o", str(xml), "--certify", str(path)]) == 0
    assert main(["certify", str(path), "--verify"]) == 0
    assert "the conversion and its checks give the same" in capfd.readouterr().out
    certificate = read_certificate(path)
    assert differences(certificate, certified_again(certificate, path.parent)) == []
    xml.with_suffix(".bin").write_bytes(xml.with_suffix(".bin").read_bytes()[:-1] + b"\1")
    write_layers(model, 2)
    assert main(["certify", str(path), "--verify", "--json"]) == 1
    changed = json.loads(capfd.readouterr().out)["differences"]
    expected = ("the source layers.onnx has changed", "the IR net.bin has changed", "net.xml: the conversion gives other bytes")
    assert {*expected, "there is no piece swish2 any more"} <= {*changed}
    model.unlink()
    assert main(["certify", str(path), "--verify"]) == 2
    assert "there is no such file" in capfd.readouterr().err


def test_pieces_whose_rewrites_are_proved_say_so(tmp_path: Path) -> None:
    certificate = certified(write_layers(tmp_path / "layers.onnx", 1)).certificate
    pieces = {piece.tensor: piece for piece in certificate.pieces}
    assert pieces["swish0"].justification == "proved"
    assert any(rule.startswith("fuse-swish: ") for rule in pieces["swish0"].rules)
    assert pieces["swish0"].error is not None
    assert pieces["product0"].justification == "executed"


def test_a_language_model_is_judged_with_its_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_folder(tmp_path / "model")
    certificate = certified(folder).certificate
    pieces = {piece.tensor: piece for piece in certificate.pieces}
    assert certificate.counts["wrong"] == certificate.counts["not judged"] == 0
    assert {"model.embed_tokens", "model.layers.0.mlp", "logits"} <= {*pieces}
    states = [name for name in pieces if name.startswith("state ")]
    assert len(states) == 2
    assert all(pieces[f"next {name.removeprefix('state ')}"].justification in ("executed", "proved") for name in states)
    assert all(pieces[name.removeprefix("state ")].justification == "exact" for name in states)

    recorded = certifying.recorded_conversion

    def confused(*arguments: object) -> object:
        """The keys are assigned to the state of the values, and the values to that of the keys."""
        conversion = recorded(*arguments)  # pyright: ignore[reportArgumentType]
        first, second = (op for op in conversion.module.walk() if op.name == "opset6.Assign")
        ids = first.properties["variable_id"], second.properties["variable_id"]
        second.properties["variable_id"], first.properties["variable_id"] = ids
        return conversion

    monkeypatch.setattr(certifying, "recorded_conversion", confused)
    assert {f"next {name.removeprefix('state ')}" for name in states} <= {piece.tensor for piece in certified(folder).certificate.wrong}


def test_certificates_in_python(tmp_path: Path) -> None:
    model, xml, path = write_layers(tmp_path / "layers.onnx", 1), tmp_path / "layers.xml", tmp_path / "certificate.json"
    moir.save_model(moir.convert_model(model), xml)
    done = moir.certify(model, xml, path)
    assert done.is_right
    assert moir.verify_certificate(path) == []
    assert moir.certify(model, xml, disable=["fuse-swish"]).changed == ["layers.xml"]
    with pytest.raises(UsageError, match="there is no such file"):
        moir.certify(model, tmp_path / "other.xml")


def test_a_certificate_is_read_as_it_was_written_and_nothing_else_is(tmp_path: Path) -> None:
    certificate = certified(write_layers(tmp_path / "layers.onnx", 1)).certificate
    path = tmp_path / "certificate.json"
    write_certificate(certificate, path)
    assert to_json(read_certificate(path)) == json.loads(path.read_text()) | {"pieces": to_json(certificate)["pieces"]} | {
        "notes": certificate.notes
    }
    whole = json.loads(path.read_text())
    for text in ("", "[]", "null", "{}", "[" * 100_000, json.dumps(whole | {"pieces": [1]}), json.dumps(whole | {"ir": {"a": 1}})):
        path.write_text(text)
        with pytest.raises(UsageError, match="this is not a certificate"):
            read_certificate(path)
    with pytest.raises(UsageError, match="form 99"):
        of_json(whole | {"certificate": 99})


def test_the_bytes_depend_neither_on_the_hash_seed_nor_on_the_number_of_threads(path: Path, tmp_path: Path) -> None:
    written: set[tuple[bytes, bytes]] = set()
    for seed, threads in (("0", "1"), ("1", "2"), ("12345", "7")):
        xml = tmp_path / seed / "network.xml"
        environment = {**os.environ, "PYTHONHASHSEED": seed} | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), threads)
        subprocess.run([sys.executable, "-m", "moir", str(path), "-o", str(xml), "--silent"], env=environment, check=True, timeout=120)
        written.add((xml.read_bytes(), xml.with_suffix(".bin").read_bytes()))
    assert len(written) == 1


@pytest.mark.parametrize(
    "arguments", [["a.onnx", "b.onnx"], ["a.onnx", "-o", "b.onnx"], ["a.onnx", "-o", "-"]], ids=["several", "onnx", "archive"]
)
def test_a_certificate_is_of_one_ir(arguments: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([*arguments, "--certify", str(tmp_path / "certificate.json")]) == 2
    assert "--certify" in capfd.readouterr().err
