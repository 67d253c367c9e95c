"""Weights as former versions of Keras stored them, and models whose layers and weights are in different files."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from moir.errors import MoirError
from moir.tools.convert import main
from tests.numerical.keras.models import inputs_of, keras, randomize
from tests.numerical.runtime import Array, core
from tests.unit.frontends.tensorflow_js.exporter import functional, input_layer, layer

h5py: Any = import_module("h5py")
RANDOM = np.random.default_rng(0)


def weights(*shape: int) -> Array:
    """Random values of float32."""
    return RANDOM.standard_normal(shape).astype(np.float32)


def dense(name: str, operand: str, units: int, **config: Any) -> dict[str, Any]:
    """A dense layer of Keras 2."""
    return layer("Dense", name, [operand], units=units, use_bias=True, dtype="float32", trainable=True, **config)


def archive(path: Path, config: Any, members: Mapping[str, bytes], version: str = "2.13.1") -> Path:
    """A `.keras` archive."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("metadata.json", json.dumps({"keras_version": version}))
        file.writestr("config.json", json.dumps(config))
        for name, content in members.items():
            file.writestr(name, content)
    return path


def hdf5(groups: Mapping[str, Sequence[Array]]) -> bytes:
    """An HDF5 file with variables in groups."""
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        for name, arrays in groups.items():
            group = file.create_group(f"{name}/vars")
            for index, array in enumerate(arrays):
                group[str(index)] = array
    return content.getvalue()


def results(path: Path, *inputs: Array, **options: Any) -> list[Array]:
    """The results of a model in OpenVINO Runtime."""
    compiled = core().compile_model(moir.to_openvino(moir.convert_model(path, **options)), "CPU")
    return [*compiled([*inputs]).values()]


def chain() -> tuple[dict[str, Any], list[Array], Array, Array]:
    """Three dense layers with an activation between them, their variables, an input and the result."""
    layers = [input_layer("x", [4]), dense("fc0", "x", 3, activation="relu"), layer("Activation", "act", ["fc0"], activation="tanh")]
    layers += [dense("fc1", "act", 5), dense("fc2", "fc1", 2)]
    variables = [weights(4, 3), weights(3), weights(3, 5), weights(5), weights(5, 2), weights(2)]
    x = weights(2, 4)
    y = np.tanh(np.maximum(x @ variables[0] + variables[1], 0))
    return functional(layers, ["x"], ["fc2"]), variables, x, (y @ variables[2] + variables[3]) @ variables[4] + variables[5]


def test_layers_that_count_twice(tmp_path: Path) -> None:
    """Keras 2.12 and 2.13: groups are counted by class, a layer with variables once more than one without."""
    config, variables, x, expected = chain()
    names = ["input_layer", "dense", "activation", "dense_2", "dense_4"]
    held = [[], variables[:2], [], variables[2:4], variables[4:]]
    content = hdf5({f"_layer_checkpoint_dependencies/{name}": arrays for name, arrays in zip(names, held, strict=True)})
    path = archive(tmp_path / "m.keras", config, {"model.weights.h5": content})
    np.testing.assert_allclose(results(path, x)[0], expected, rtol=1e-4, atol=1e-5)


def test_nested_models_that_count_twice(tmp_path: Path) -> None:
    config, variables, x, expected = chain()
    names = ["input_layer", "dense", "activation", "dense_2", "dense_4"]
    held = [[], variables[:2], [], variables[2:4], variables[4:]]
    inner = "_layer_checkpoint_dependencies/functional/_layer_checkpoint_dependencies"
    groups = {f"{inner}/{name}": arrays for name, arrays in zip(names, held, strict=True)}
    last = [weights(2, 2), weights(2)]
    content = hdf5({**groups, "_layer_checkpoint_dependencies/dense": last, "_layer_checkpoint_dependencies/input_layer": []})
    tower = {"class_name": "Functional", "name": "tower", "config": config["config"] | {"name": "tower"}}
    tower["inbound_nodes"] = [[["x", 0, 0, {}]]]
    outer = functional([input_layer("x", [4]), tower, dense("last", "tower", 2)], ["x"], ["last"])
    outer["config"]["layers"][-1]["inbound_nodes"] = [[["tower", 1, 0, {}]]]
    path = archive(tmp_path / "m.keras", outer, {"model.weights.h5": content})
    np.testing.assert_allclose(results(path, x)[0], expected @ last[0] + last[1], rtol=1e-4, atol=1e-5)


def test_groups_with_the_names_of_layers(tmp_path: Path) -> None:
    config, variables, x, expected = chain()
    names = ["x", "fc0", "act", "fc1", "fc2"]
    held = [[], variables[:2], [], variables[2:4], variables[4:]]
    content = hdf5({f"_layer_checkpoint_dependencies/{name}": arrays for name, arrays in zip(names, held, strict=True)})
    path = archive(tmp_path / "m.keras", config, {"model.weights.h5": content})
    np.testing.assert_allclose(results(path, x)[0], expected, rtol=1e-4, atol=1e-5)


def npz(groups: Mapping[str, Sequence[Array]]) -> bytes:
    """An `.npz` file with variables in groups, as Keras writes it."""
    content = io.BytesIO()
    named: dict[str, Any] = {name: {str(index): array for index, array in enumerate(arrays)} for name, arrays in groups.items()}
    np.savez(content, **named)
    return content.getvalue()


@pytest.mark.parametrize("holder", ["layers", "_layer_checkpoint_dependencies"])
def test_arrays_in_place_of_hdf5(holder: str, tmp_path: Path) -> None:
    config, variables, x, expected = chain()
    names = ["dense", "dense_1", "dense_2"] if holder == "layers" else ["dense", "dense_2", "dense_4"]
    variables[2] = np.asfortranarray(variables[2])
    groups = {f"{holder}/{name}": variables[2 * index : 2 * index + 2] for index, name in enumerate(names)}
    content = npz({"__root__": [], f"{holder}/activation": [], **groups})
    path = archive(tmp_path / "m.keras", config, {"model.weights.npz": content})
    np.testing.assert_allclose(results(path, x)[0], expected, rtol=1e-4, atol=1e-5)


class _Call:
    """An object whose pickle calls a function."""

    def __reduce__(self) -> Any:
        return (print, ("called",))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (npz({"layers/dense": [np.array([_Call()], object)]}), "it names builtins.print, which is no array"),
        (npz({"layers/dense": []})[:-30], "npz is damaged"),
        (b"PK", "npz is damaged"),
    ],
)
def test_damaged_arrays(content: bytes, reason: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = archive(tmp_path / "m.keras", chain()[0], {"model.weights.npz": content})
    with pytest.raises(MoirError, match=reason):
        moir.read_model(path)
    assert "called" not in capfd.readouterr().out


def test_a_plain_array_in_place_of_a_dictionary(tmp_path: Path) -> None:
    content = io.BytesIO()
    np.savez(content, a=np.ones(3))
    path = archive(tmp_path / "m.keras", chain()[0], {"model.weights.npz": content.getvalue()})
    with pytest.raises(MoirError, match="dictionary of variables"):
        moir.read_model(path)
    assert pickle.HIGHEST_PROTOCOL >= 3


def network() -> Any:
    """A model of Keras 3 with a nested model and two layers of one class."""
    x = keras.Input((6, 6, 2), name="x")
    y = keras.layers.BatchNormalization(name="norm")(keras.layers.Conv2D(3, 3, name="conv")(x))
    tower = keras.Sequential([keras.Input((4, 4, 3)), keras.layers.Flatten(), keras.layers.Dense(5, name="inner")], name="tower")
    model = keras.Model(x, keras.layers.Dense(2, name="head")(keras.layers.Dense(4, name="hidden")(tower(y))), name="m")
    randomize(model)
    return model


@pytest.mark.parametrize("suffix", [".weights.h5", ".h5", ".keras"])
def test_json_with_weights(suffix: str, tmp_path: Path) -> None:
    """`model.to_json()` with the weights of save_weights, in both forms, or of a whole model."""
    model = network()
    (tmp_path / "m.json").write_text(model.to_json())
    file = tmp_path / f"w{suffix}"
    if suffix == ".weights.h5":
        model.save_weights(file)
    else:
        model.save(file)
    inputs = inputs_of(model)
    got = results(tmp_path / "m.json", *inputs, weights=file)[0]
    np.testing.assert_allclose(got, np.asarray(model(inputs[0], training=False)), rtol=1e-4, atol=1e-5)


def test_json_with_the_weights_of_keras_2(tmp_path: Path) -> None:
    """A file of `save_weights` has the names of the layers at its root."""
    config, variables, x, expected = chain()
    (tmp_path / "m.json").write_text(json.dumps(config | {"keras_version": "2.4.0", "backend": "tensorflow"}))
    with h5py.File(tmp_path / "w.h5", "w") as file:
        file.attrs["layer_names"] = [b"x", b"fc0", b"act", b"fc1", b"fc2"]
        for index, name in enumerate(("fc0", "fc1", "fc2")):
            group = file.create_group(name)
            group.attrs["weight_names"] = [f"{name}/kernel:0".encode(), f"{name}/bias:0".encode()]
            group[f"{name}/kernel:0"], group[f"{name}/bias:0"] = variables[2 * index : 2 * index + 2]
        for name in ("x", "act"):
            file.create_group(name).attrs["weight_names"] = np.zeros(0, "S1")
    assert main([str(tmp_path / "m.json"), "--weights", str(tmp_path / "w.h5"), "-o", str(tmp_path / "out.xml"), "--silent"]) == 0
    compiled = core().compile_model(core().read_model(tmp_path / "out.xml"), "CPU")
    np.testing.assert_allclose(compiled([x])[0], expected, rtol=1e-4, atol=1e-5)


def test_weights_that_do_not_belong_to_the_layers(tmp_path: Path) -> None:
    model = network()
    (tmp_path / "m.json").write_text(model.to_json())
    other = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="other")])
    other.save_weights(tmp_path / "w.weights.h5")
    with pytest.raises(MoirError, match="conv"):
        moir.convert_model(tmp_path / "m.json", weights=tmp_path / "w.weights.h5")
    with pytest.raises(MoirError, match=r"weights of a Keras model without its layers.*--weights"):
        moir.read_model(tmp_path / "w.weights.h5")
    model.save(tmp_path / "m.keras")
    with pytest.raises(MoirError, match="has the weights of its model"):
        moir.read_model(tmp_path / "m.keras", weights=tmp_path / "w.weights.h5")
