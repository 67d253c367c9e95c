"""MiniMax-Text-01: lightning attentions between the attentions, and experts."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.mixtures import MIXTRAL
from moir.architectures.record import Architecture
from moir.architectures.residuals import ATTENTION, FEED_FORWARD, Branch, Residual

LIGHTNING = "lightning attention"

MINIMAX = Family(
    architecture=Architecture(
        "minimax",
        ("minimax",),
        residuals=(
            Residual((Branch(ATTENTION, "attention_norm"),), adds_normed=True),
            Residual((Branch(FEED_FORWARD, "feed_forward_norm"),), adds_normed=True),
        ),
    ),
    tensors={
        **MIXTRAL.tensors,
        **{
            "lightning": "self_attn",
            "lightning.query_key_value": "self_attn.qkv_proj",
            "lightning.norm": "self_attn.norm",
            "lightning.gates": "self_attn.output_gate",
            "lightning.output": "self_attn.out_proj",
        },
    },
    aliases=MIXTRAL.aliases,
    factors={
        f"{name} {part}": f"{key}_{factor}_factor"
        for name, key in ((ATTENTION, "full_attn"), (LIGHTNING, "linear_attn"), (FEED_FORWARD, "mlp"))
        for part, factor in (("residual", "alpha"), ("output", "beta"))
    },
    defaults={
        **MIXTRAL.defaults,
        **{f"{key}_{factor}_factor": 1.0 for key in ("full_attn", "linear_attn", "mlp") for factor in ("alpha", "beta")},
        "_attention_period": 2,
        "_attention_offset": 0,
    },
    # Transformers gives the normalization of lightning attentions no key.
    fixed={"part_epsilon": 1e-6},
    experts=MIXTRAL.experts,
    other_block=LIGHTNING,
    attention_layers="_attention_period _attention_offset",
    expected={"sliding_window": None},
    # Noise that only the training adds, and a size of blocks of tokens that changes no result.
    unread=MIXTRAL.unread | {"block_size"},
    # Powers of the decays, which are computed.
    ignored_tensors=tuple(f"model.layers.{{}}.self_attn.{each}" for each in ("slope_rate", "query_decay", "key_decay", "diagonal_decay")),
)

FAMILIES = (MINIMAX,)
