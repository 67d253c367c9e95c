"""Random models of all families, written and computed by Transformers, against the converted models.

    python -m tests.numerical.transformers.drawn_models write FOLDER [--count N] [--seed S] [--only FAMILY …]
    python -m tests.numerical.transformers.drawn_models compare FOLDER [--only FAMILY …]

The first command needs torch and transformers, the second moir and OpenVINO; they may be of different environments. A
decoder sees two texts, one of them padded on the left, then a token of each in the other order, then several, with what
is cached; an encoder two texts, one of them padded on the right. Element types, numbers of files and the spelling of
config.json are drawn, too.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import traceback
from collections.abc import Iterator
from copy import deepcopy
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from tests.numerical.transformers.drawn_encoder_keys import ENCODERS
from tests.numerical.transformers.drawn_keys import DECODERS as LANGUAGE_MODELS
from tests.numerical.transformers.drawn_multimodal_keys import PARTS, WHOLE_MODELS

DECODERS = {**LANGUAGE_MODELS, **PARTS}

TOLERANCE = 1e-4
"""Greatest difference of a result, in parts of the largest result."""

LENGTH, STEPS = 13, ((0, 9), (9, 10), (10, 13))

PADDING = 3
"""Tokens of padding of the second text."""

SPECIAL = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}

IMPLEMENTATIONS = {"falcon": "sdpa"}
"""The attentions of Transformers with which models are computed, where it is not `eager`: this one adds biases twice."""

UNMASKED = ("recurrent_gemma",)
"""The families whose convolutions see padding in Transformers: each text is computed without it."""

VISION = {
    **{"depth": 1, "num_hidden_layers": 1, "hidden_size": 64, "embed_dim": 16, "num_heads": 2, "num_attention_heads": 2},
    **{"intermediate_size": 16, "mlp_ratio": 1, "out_hidden_size": 32, "deepstack_visual_indexes": [], "num_position_embeddings": 16},
}
"""The configuration of the part for images of multimodal models, of which no image is computed."""

REDUNDANT = ("head_dim", "num_key_value_heads", "layer_types", "mlp_layer_types", "tie_word_embeddings", "rms_norm_eps", "hidden_act")
"""Keys that older files leave out where they have their usual values."""

SMALL_FILE = "20KB"
"""The size of a file of a model that is written as several."""


def write(folder: Path, count: int, seed: int, only: list[str]) -> None:
    """Write `count` random models of each family below a folder, each with what Transformers computes (`NAME.npz`).

    Raises nothing: what Transformers cannot compute is printed and left out.
    """
    for model_type in {**DECODERS, **ENCODERS}:
        for number in range(count) if not only or model_type in only else ():
            try:
                write_model(folder, model_type, number, seed)
            except Exception:
                print(f"{model_type}_{number} is left out: {traceback.format_exc().splitlines()[-3:]}")


def write_model(folder: Path, model_type: str, number: int, seed: int) -> None:
    """Write one model."""
    transformers, torch = import_module("transformers"), import_module("torch")
    draw = random.Random(f"{seed} {model_type} {number}")
    torch.manual_seed(draw.randrange(1 << 30))
    keys = {key: deepcopy(draw.choice(values)) for key, values in {**DECODERS, **ENCODERS}[model_type].items()}
    kind = "AutoModelForCausalLM"
    if model_type in WHOLE_MODELS:
        kind = "AutoModelForImageTextToText"
        text = {"model_type": model_type, **SPECIAL, **keys}
        is_tied = keys.get("tie_word_embeddings", True)
        whole = {
            "text_config": text,
            "vision_config": VISION,
            "tie_word_embeddings": is_tied,
            "deepstack_layer_map": [],
            "downsample_rate": "1/2",
        }
        configuration = transformers.AutoConfig.for_model(WHOLE_MODELS[model_type], **whole)
    else:
        configuration = transformers.AutoConfig.for_model(model_type, **{**SPECIAL, **keys})
    configuration._attn_implementation = IMPLEMENTATIONS.get(model_type, "eager")
    if model_type in ENCODERS:
        kind = draw.choice(["AutoModel", "AutoModelForMaskedLM", "AutoModelForSequenceClassification"])
    model = getattr(transformers, kind).from_config(configuration).eval()
    element = draw.choice([torch.float32, torch.float32, torch.float16, torch.bfloat16])
    with torch.no_grad():
        # Tables that are computed keep their values.
        for parameter in (each for each in model.parameters() if each.requires_grad):
            parameter.copy_((torch.randn_like(parameter) * 0.3).to(element))
        for name, buffer in model.named_buffers():
            if name.endswith(("correction_bias", "layer_scalar")):
                buffer.copy_((torch.randn_like(buffer) * 0.3).to(element))
        tokens = torch.randint(5, 64, (2, LENGTH))
        mask = torch.ones_like(tokens)
        padding = slice(0, PADDING) if model_type in DECODERS else slice(9, LENGTH)
        tokens[1, padding], mask[1, padding] = getattr(configuration, "pad_token_id", 0) or 0, 0
        inputs = {"input_ids": tokens, "attention_mask": mask}
        if model_type in DECODERS and "position_ids" in signature(model.forward).parameters:
            inputs["position_ids"] = (mask.cumsum(-1) - 1).clamp(min=0)
        computed = (model.base_model if kind.endswith("MaskedLM") else model)(**inputs)
        if model_type in UNMASKED:
            alone = model(tokens[1:, PADDING:], position_ids=inputs["position_ids"][1:, PADDING:])
            computed.logits[1, PADDING:] = alone.logits[0]
    path = folder / f"{model_type}_{number}"
    model.to(element).save_pretrained(path, max_shard_size=draw.choice(["1GB", SMALL_FILE]))
    if draw.random() < 0.5:
        _spell_as_before(path, draw)
    result = computed.last_hidden_state if "last_hidden_state" in computed else computed.logits
    np.savez(path.with_suffix(".npz"), tokens=tokens.numpy(), mask=mask.numpy(), result=result.float().numpy())


def _spell_as_before(folder: Path, draw: random.Random) -> None:
    """Write the config.json of a folder as Transformers 4 did, as far as Transformers 5 reads the same from it."""
    path = folder / "config.json"
    before = _configuration(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    keys: dict[str, Any] = json.loads(path.read_text())
    spelled = dict(keys)
    parameters = None if spelled.get("rope_parameters") is None else dict(spelled["rope_parameters"])
    spelled.pop("rope_parameters", None)
    if parameters is not None and "rope_type" in parameters:
        spelled["rope_theta"] = parameters.pop("rope_theta", 10000.0)
        if "partial_rotary_factor" in parameters:
            spelled["partial_rotary_factor"] = parameters.pop("partial_rotary_factor")
        kind = parameters.pop("rope_type")
        spelled["rope_scaling"] = None if kind == "default" else {draw.choice(["type", "rope_type"]): kind, **parameters}
    elif parameters is not None:
        spelled["rope_parameters"] = parameters
    if "dtype" in spelled:
        spelled["torch_dtype"] = spelled.pop("dtype")
    path.write_text(json.dumps(spelled))
    if _configuration(folder) != before:
        spelled = keys
    for key in REDUNDANT:
        shorter = {name: value for name, value in spelled.items() if name != key}
        path.write_text(json.dumps(shorter))
        spelled = shorter if _configuration(folder) == before else spelled
    path.write_text(json.dumps(spelled))


def _configuration(folder: Path) -> dict[str, Any] | None:
    """What Transformers reads from the config.json of a folder; None if it refuses it."""
    try:
        read: dict[str, Any] = import_module("transformers").AutoConfig.from_pretrained(folder).to_dict()
    except Exception:
        return None
    return {key: value for key, value in read.items() if key not in ("_name_or_path", "rope_theta", "rope_scaling", "torch_dtype")}


def differences(folder: Path, only: list[str]) -> Iterator[tuple[str, float]]:
    """The models below a folder, and the difference of the result of each in parts of the largest result.

    A model that cannot be converted or run is printed; its difference is infinite.
    """
    for path in sorted(folder.glob("*.npz")):
        if only and path.stem.rpartition("_")[0] not in only:
            continue
        try:
            yield path.stem, difference(path)
        except Exception as error:
            print(f"{path.stem}: {type(error).__name__}: {str(error)[:400]}")
            yield path.stem, float("inf")


def difference(path: Path) -> float:
    """The difference of the results of a converted model from those in an .npz file, in parts of the largest result."""
    openvino, moir = import_module("openvino"), import_module("moir")
    exact = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"}
    arrays = dict(np.load(path))
    folder, file = path.with_suffix(""), path.with_suffix(".gguf")
    compiled = openvino.Core().compile_model(moir.to_openvino(moir.convert_model(folder if folder.is_dir() else file)), "CPU", exact)
    inputs, request = {each.any_name for each in compiled.inputs}, compiled.create_infer_request()
    parts: list[Any] = []
    order = np.arange(2)
    for start, stop in STEPS if "beam_idx" in inputs else ((0, LENGTH),):
        beams = order if start == 0 else np.array([1, 0])
        order = order[beams]
        given = {
            "input_ids": arrays["tokens"][order, start:stop],
            "attention_mask": arrays["mask"][order, :stop],
            "position_ids": np.maximum(np.cumsum(arrays["mask"], 1) - 1, 0)[order, start:stop],
            "beam_idx": beams.astype(np.int32),
            "token_type_ids": np.zeros_like(arrays["tokens"]),
        }
        result = request.infer({name: value for name, value in given.items() if name in inputs})[0]
        parts.append(result[np.argsort(order)])
    actual, expected = np.concatenate(parts, 1) if len(parts) > 1 else parts[0], arrays["result"]
    if expected.ndim == 3:
        actual, expected = actual[arrays["mask"] > 0], expected[arrays["mask"] > 0]
    return float(np.abs(actual - expected).max() / np.abs(expected).max())


def main() -> int:
    """Run a command; returns the number of models that are wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.numerical.transformers.drawn_models", description="Compare drawn models.")
    parser.add_argument("command", choices=["write", "compare"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", metavar="FAMILY", nargs="+", default=[])
    options = parser.parse_args()
    if options.command == "write":
        write(options.folder, options.count, options.seed, options.only)
        return 0
    results = list(differences(options.folder, options.only))
    wrong = [(name, difference) for name, difference in results if not difference < TOLERANCE]
    for name, difference in wrong:
        print(f"{name}: {difference:.2g}")
    worst = max((difference for _, difference in results if difference < TOLERANCE), default=0.0)
    print(f"{len(results)} models, {len(wrong)} wrong, worst of the others {worst:.1g}")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main())
