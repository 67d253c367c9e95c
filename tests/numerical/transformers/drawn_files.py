"""The models that `drawn_models.py` wrote as files in GGUF, with the names that the package `gguf` has for tensors.

    python -m tests.numerical.transformers.drawn_files FOLDER OUT [--only FAMILY …]

writes OUT/NAME.gguf and OUT/NAME.npz for each model of a family of `WRITERS`; it needs torch, transformers, safetensors
and gguf. `drawn_models.py compare OUT` compares the files.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.numerical.transformers import drawn_file_keys
from tests.numerical.transformers.drawn_file_keys import Keys
from tests.numerical.transformers.drawn_file_tensors import Tensors, arranged, stacked
from tests.unit.frontends.gguf.written_files import permuted

SUFFIXES = (".weight", ".bias")


class Writer(NamedTuple):
    """How a family is written.

    Args:
        architecture: its name in the package `gguf`.
        keys: changes the keys.
        is_permuted: whether rows of queries and keys are put into the order of rotated pairs.
        is_written: whether a model of the family can be written.
    """

    architecture: str
    keys: Callable[[Any, Keys], Keys | None] = lambda _config, _keys: None
    is_permuted: bool = False
    is_written: Callable[[Any], bool] = lambda _config: True


def has_one_factor(config: Any) -> bool:
    """Whether a latent attention has no biases, and the two factors of its scaling are equal, as files have them."""
    scaling = config.rope_parameters
    return not config.attention_bias and scaling.get("mscale") == scaling.get("mscale_all_dim")


WRITERS: dict[str, Writer] = {
    "dbrx": Writer(
        "DBRX",
        drawn_file_keys.dbrx,
        is_written=lambda config: (
            config.rope_parameters["rope_type"] == "default"
            and config.ffn_config.moe_normalize_expert_weights
            and config.ffn_config.ffn_act_fn["name"] == "silu"
        ),
    ),
    "llama4_text": Writer(
        "LLAMA4",
        drawn_file_keys.llama4,
        is_written=lambda config: (
            not (config.attn_temperature_tuning or config.attention_bias)
            and config.use_qk_norm
            and (config.attention_chunk_size or 64) >= 64
            and config.no_rope_layers == [1, 1, 1, 0]
        ),
    ),
    "deepseek_v2": Writer(
        "DEEPSEEK2",
        drawn_file_keys.deepseek,
        is_written=lambda config: has_one_factor(config) and config.topk_method == "greedy" and not config.mlp_bias,
    ),
    "deepseek_v3": Writer(
        "DEEPSEEK2", drawn_file_keys.deepseek, is_written=lambda config: has_one_factor(config) and config.rope_interleave
    ),
    "glm4_moe": Writer("GLM4_MOE", drawn_file_keys.glm4_moe),
    "dots1": Writer("DOTS1", drawn_file_keys.glm4_moe, is_written=lambda config: not config.sliding_window),
    "hunyuan_v1_dense": Writer("HUNYUAN_DENSE", drawn_file_keys.hunyuan),
    "hunyuan_v1_moe": Writer("HUNYUAN_MOE", drawn_file_keys.hunyuan),
    "minimax_m2": Writer("MINIMAXM2", drawn_file_keys.minimax),
    "exaone_moe": Writer("EXAONE_MOE", drawn_file_keys.exaone_moe),
    "afmoe": Writer(
        "AFMOE", drawn_file_keys.afmoe, is_written=lambda config: config.mup_enabled and config.global_attn_every_n_layers == 4
    ),
    "lfm2_moe": Writer(
        "LFM2MOE",
        drawn_file_keys.lfm2_moe,
        is_written=lambda config: (
            config.use_expert_bias and config.norm_topk_prob and config.routed_scaling_factor == 1 and not config.conv_bias
        ),
    ),
    "ernie4_5_moe": Writer("ERNIE4_5_MOE", drawn_file_keys.ernie, is_written=lambda config: not config.use_bias),
    "ministral3": Writer(
        "MISTRAL3", drawn_file_keys.ministral, is_permuted=True, is_written=lambda config: "mscale_all_dim" in config.rope_parameters
    ),
    "gemma4_text": Writer(
        "GEMMA4",
        drawn_file_keys.gemma4,
        is_written=lambda config: not config.attention_bias,
    ),
    "gemma3n_text": Writer("GEMMA3N", drawn_file_keys.gemma3n, is_written=lambda config: config.altup_correct_scale),
    "mamba": Writer("MAMBA", drawn_file_keys.mamba),
    "mamba2": Writer("MAMBA2", drawn_file_keys.mamba2),
    "qwen3_next": Writer("QWEN3NEXT", drawn_file_keys.qwen3_next, is_written=lambda config: config.norm_topk_prob),
    "qwen2_vl_text": Writer("QWEN2VL", drawn_file_keys.with_images),
    "qwen2_5_vl_text": Writer("QWEN2VL", drawn_file_keys.with_images),
    "qwen3_vl_text": Writer("QWEN3VL", drawn_file_keys.with_images),
    "qwen3_vl_moe_text": Writer(
        "QWEN3VLMOE",
        drawn_file_keys.with_images,
        is_written=lambda config: config.decoder_sparse_step == 1 and getattr(config, "norm_topk_prob", True),
    ),
    "qwen3_5_text": Writer("QWEN35", drawn_file_keys.qwen3_next),
    "qwen3_5_moe_text": Writer("QWEN35MOE", drawn_file_keys.qwen3_next),
    "granitemoehybrid": Writer(
        "GRANITE_HYBRID",
        drawn_file_keys.granite,
        is_permuted=True,
        is_written=lambda config: not (config.attention_bias or config.mamba_proj_bias),
    ),
    "falcon_mamba": Writer("MAMBA", drawn_file_keys.mamba, is_written=lambda config: config.mixer_rms_eps == 1e-6),
}
"""The writers by `model_type`."""


def write(source: Path, out: Path) -> bool:
    """Write the file of a model; returns whether its family can be written."""
    gguf, transformers, safetensors = (import_module(each) for each in ("gguf", "transformers", "safetensors.torch"))
    config = transformers.AutoConfig.from_pretrained(source)
    config = getattr(config, "text_config", config)
    # Transformers refuses to say a size that differs between layers otherwise.
    config.allow_global_per_layer_attribute_access = True
    writer = WRITERS.get(config.model_type)
    if writer is None or not writer.is_written(config):
        return False
    tensors: Tensors = {}
    for path in source.glob("*.safetensors"):
        tensors |= {name: value.float().numpy() for name, value in safetensors.load_file(path).items() if "visual." not in name}
    tensors = {name.replace("language_model.", ""): value for name, value in tensors.items()}
    tensors = arranged(config, tensors)
    keys: Keys = {} if config.model_type in ("mamba", "falcon_mamba", "mamba2", "dbrx") else drawn_file_keys.common_keys(config)
    keys = writer.keys(config, keys) or keys
    architecture = getattr(gguf.MODEL_ARCH, writer.architecture)
    names = gguf.get_tensor_name_map(architecture, config.num_hidden_layers)
    file = gguf.GGUFWriter(out / f"{source.name}.gguf", gguf.MODEL_ARCH_NAMES[architecture])
    for name, value in keys.items():
        _add_key(file, f"{gguf.MODEL_ARCH_NAMES[architecture]}.{name}", value)
    heads = {"q_proj": getattr(config, "num_attention_heads", 0), "k_proj": getattr(config, "num_key_value_heads", 0)}
    for name, value in stacked(tensors).items():
        part = re.search(r"\.([qk]_proj)\.", name)
        if writer.is_permuted and part is not None:
            value = permuted(value, heads[part[1]])
        if config.model_type in ("mamba2", "granitemoehybrid") and name.endswith((".A_log", ".D")):
            value = value[:, None]
        if name.endswith((".mixer.norm.weight", ".mamba.norm.weight")):
            value = value.reshape(getattr(config, "n_groups", None) or config.mamba_n_groups, -1)
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        new = name if name.startswith(("blk.", "rope_freqs")) else None
        new = new or next((each for each in (names.get_name(key, SUFFIXES) for key in (_mapped(name), name)) if each), None)
        if new is None:
            raise ValueError(f"no name for {name}")
        file.add_tensor(new, np.ascontiguousarray(value, np.float32))
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    return True


def _add_key(file: Any, name: str, value: Any) -> None:
    """Add a key with the type that llama.cpp gives its value."""
    if isinstance(value, bool):
        file.add_bool(name, value)
    elif isinstance(value, int):
        file.add_uint32(name, value)
    elif isinstance(value, float):
        file.add_float32(name, value)
    elif isinstance(value, str):
        file.add_string(name, value)
    else:
        file.add_array(name, value)


def _mapped(name: str) -> str:
    """The name of a tensor of a folder as the package has it."""
    for ending in (".e_score_correction_bias", ".expert_bias"):
        if name.endswith(ending):
            return name.removesuffix("_bias") + (".bias" if ending.startswith(".e_") else "_bias.bias")
    if name.endswith(".dt_bias"):
        return name.replace("dt_bias", "dt_proj.bias")
    if ".feed_forward.experts." in name:
        return name.removeprefix("model.")
    return f"{name}.weight" if name.endswith("_scale") else name


def main() -> int:
    """Write all files."""
    parser = argparse.ArgumentParser(prog="python -m tests.numerical.transformers.drawn_files", description="Write drawn models as GGUF.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", metavar="FAMILY", nargs="+", default=[])
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for result in sorted(options.folder.glob("*.npz")):
        if options.only and result.stem.rpartition("_")[0] not in options.only:
            continue
        if write(result.with_suffix(""), options.out):
            shutil.copy(result, options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
