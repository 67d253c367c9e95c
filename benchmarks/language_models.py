"""Conversion of the folder of a large language model against copying it: time, rate and peak memory.

    python benchmarks/language_models.py [--gigabytes 20] [--width 4096] [--vocabulary 32000] [--folder FOLDER]
                                         [--only int4,int8]

The folder is a llama with random weights in bf16, in files of at most 4 GB, made in a temporary folder or in FOLDER,
which has to have room for it twice. `cp` flushes its copy to the disk, as the conversion does. The peak counts pages of
the mapped files that are resident; moir drops them when it has read them.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from processes import ConverterFailed, executable, print_table, run

HEAD_SIZE = 64
FILE_BYTES = 4_000_000_000
ROW_VALUES = 1 << 22

FORMS: Mapping[str, Sequence[str]] = {
    "as it is": (),
    "int8": ("--compress-weights", "int8"),
    "int4": ("--compress-weights", "int4"),
    "int4_sym": ("--compress-weights", "int4_sym"),
}
"""The options of the conversions."""


def shapes(layers: int, width: int, vocabulary: int) -> dict[str, tuple[int, ...]]:
    """The tensors of the model."""
    tensors: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (vocabulary, width), "model.norm.weight": (width,)}
    inner = 4 * width
    for layer in range(layers):
        parts: dict[str, tuple[int, ...]] = {f"self_attn.{name}_proj": (width, width) for name in "qkvo"}
        parts |= {"mlp.gate_proj": (inner, width), "mlp.up_proj": (inner, width), "mlp.down_proj": (width, inner)}
        parts |= {"input_layernorm": (width,), "post_attention_layernorm": (width,)}
        tensors |= {f"model.layers.{layer}.{name}.weight": shape for name, shape in parts.items()}
    return tensors | {"lm_head.weight": (vocabulary, width)}


def write_model(folder: Path, gigabytes: float, width: int, vocabulary: int) -> int:
    """Write a folder of about a size; returns the size in bytes."""
    folder.mkdir(parents=True)
    fixed, one = (sum(map(math.prod, shapes(count, width, vocabulary).values())) for count in (0, 1))
    layers = max(1, round((gigabytes * 1e9 / 2 - fixed) / (one - fixed)))
    configuration = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": width, "intermediate_size": 4 * width,
        "num_hidden_layers": layers, "max_position_embeddings": 4096,
        "rms_norm_eps": 1e-5, "hidden_act": "silu", "rope_theta": 10000.0, "vocab_size": vocabulary, "tie_word_embeddings": False,
    }  # fmt: skip
    configuration |= {"num_attention_heads": width // HEAD_SIZE, "num_key_value_heads": width // HEAD_SIZE}
    (folder / "config.json").write_text(json.dumps(configuration), encoding="utf-8")
    files: list[dict[str, tuple[int, ...]]] = [{}]
    for name, shape in shapes(layers, width, vocabulary).items():
        if files[-1] and 2 * sum(map(math.prod, [*files[-1].values(), shape])) > FILE_BYTES:
            files.append({})
        files[-1][name] = shape
    random = np.random.default_rng(0)
    names = [f"model-{number:05}-of-{len(files):05}.safetensors" for number in range(1, len(files) + 1)]
    for name, tensors in zip(names, files, strict=True):
        write_tensors(folder / name, tensors, random)
    index = {"weight_map": {tensor: name for name, tensors in zip(names, files, strict=True) for tensor in tensors}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    return sum(path.stat().st_size for path in folder.iterdir())


def write_tensors(path: Path, tensors: Mapping[str, tuple[int, ...]], random: np.random.Generator) -> None:
    """Write random numbers in bf16 as a file *.safetensors."""
    header: dict[str, object] = {}
    end = 0
    for name, shape in tensors.items():
        size = 2 * math.prod(shape)
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for shape in tensors.values():
            left = math.prod(shape)
            while left:
                numbers = random.standard_normal(min(left, ROW_VALUES), np.float32) / 64
                # The upper half of f32, on little-endian machines.
                file.write(numbers.view(np.uint16)[1::2].tobytes())
                left -= numbers.size


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure the conversion of a large language model against copying it.")
    parser.add_argument("--gigabytes", type=float, default=20, help="size of the weights (default: 20)")
    parser.add_argument("--width", type=int, default=4096, help="features of a token, a multiple of 64 (default: 4096)")
    parser.add_argument("--vocabulary", type=int, default=32000, help="rows of the table of embeddings (default: 32000)")
    parser.add_argument("--folder", type=Path, help="where the files are made; by default where temporary files are")
    parser.add_argument("--only", help=f"the conversions, of {', '.join(FORMS)} (default: all)")
    options = parser.parse_args(arguments)
    moir = executable("moir")
    if moir is None:
        raise SystemExit("moir is not installed in this environment: run pip install -e .")
    chosen = [each for each in FORMS if options.only is None or each in options.only.split(",")]
    rows = [["command", "wall s", "cpu s", "GB/s", "peak MB", "GB written"]]
    status = 0
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        source, target = Path(folder) / "model", Path(folder) / "target"
        size = write_model(source, options.gigabytes, options.width, options.vocabulary)
        commands = {"cp": ["sh", "-c", 'cp -r "$1" "$2" && sync "$2"/*', "sh", str(source), str(target)]}
        commands |= {name: [moir, str(source), "-o", str(target), "--silent", "--no-tokenizer", *FORMS[name]] for name in chosen}
        for name, command in commands.items():
            try:
                usage = run(command)
            except ConverterFailed as error:
                print(f"{name} failed: {error}")
                status = 1
                continue
            written = sum(path.stat().st_size for path in target.iterdir())
            shutil.rmtree(target)
            rate, peak = size / 1e9 / max(usage.wall, 1e-9), f"{usage.memory:.0f}"
            rows.append([name, f"{usage.wall:.1f}", f"{usage.cpu:.1f}", f"{rate:.2f}", peak, f"{written / 1e9:.2f}"])
    print(f"{size / 1e9:.1f} GB of bf16")
    print_table(rows)
    return status


if __name__ == "__main__":
    sys.exit(main())
