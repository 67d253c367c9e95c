"""The records of language models: what a family consists of, and what the configuration of one model says.

    Architecture(
        name="llama",
        model_types=("llama",),
        residuals=PRE_NORM,             # x += attention(attention_norm(x)); x += feed_forward(feed_forward_norm(x))
        attention=AttentionBlock(),
        feed_forward="gated",
        …
    )

An architecture says which blocks a model has, in which order, and how they differ from those of other families; a
configuration has the sizes of one model, whatever file they come from. `moir/architectures/network.py` builds the
module from both. Names of operands are neutral: each file format has a table from them to the names in its files.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from moir.architectures.residuals import PRE_NORM, Residual
from moir.support.records import Record

NOTHING: Mapping[Any, Any] = MappingProxyType({})
"""The default of fields that are mappings; nobody can write to it."""


class AttentionBlock(Record):
    """How the attention of a family differs from that of Llama.

    Args:
        packing: how the rows of the projections lie in the file: `separate`; `stacked` (queries, keys, values in one
            matrix); `per head` (queries, keys, values of each head in turn); `per group` (the queries of all heads of
            a group, its keys, its values); `four shards` (queries, values, keys of each quarter of the heads).
        query_norm: the normalization of queries and keys: None; `head` (over each head, one weight for all);
            `rotated head` (the same, after the rotation); `rotated only` (after the rotation, without weights, in
            layers that are rotated); `whole` (over all heads together); `per head` (over each head, a weight for each).
        query_norm_kind: `rms` or `layer`; None for the kind of the other normalizations.
        rotation: `halves` or `interleaved`, the pairs of dimensions that are rotated; None without rotation.
        sinks: whether each head has a further score, whose weight is dropped after the softmax.
        sinks_need_window: whether only layers with a window have them.
        alibi: slopes of the heads times positions are added to the scores: None; `plain`; `scaled` (the sum is
            multiplied with the scale of the scores).
        latent: whether keys and values are compressed (DeepSeek-AI, "DeepSeek-V2", 2024).
        index_rotation: the pairs of dimensions that are rotated in what chooses its keys, as in `rotation`.
        gate: where gates of the results come from: None without; `with queries` (the projection of the queries has
            those of each head after it); `separate` (a projection of their own); `per head` (the same, one gate for all
            features of a head).
        gate_activation: their activation.
        output_norm: whether the results of all heads together are normalized before the last product.
        has_position_bias: whether the scores have a term for each head and distance, the same in all layers.
        value_norm: whether each head of the values is normalized, without weights.
        distance_terms: the terms of the scores that depend on the distance of query and key (He and others, "DeBERTa",
            2021): `c2p` (queries times projected distances), `p2c` (keys times projected distances).
        distance_projections: the matrices that project distances: `shared` (those of queries and keys) or `own`.
        is_differential: whether the second half of the heads is subtracted from the first one (Ye and others,
            "Differential Transformer", 2024).
        query_value_bias: whether the biases of queries and values are vectors of their own.
    """

    packing: str = "separate"
    query_norm: str | None = None
    query_norm_kind: str | None = None
    rotation: str | None = "halves"
    sinks: bool = False
    sinks_need_window: bool = False
    alibi: str | None = None
    latent: bool = False
    index_rotation: str = "halves"
    gate: str | None = None
    gate_activation: str = "sigmoid"
    output_norm: bool = False
    has_position_bias: bool = False
    value_norm: bool = False
    distance_terms: frozenset[str] = frozenset()
    distance_projections: str = "shared"
    query_value_bias: bool = False
    is_differential: bool = False


class Distances(Record):
    """The distances of queries and keys that have embeddings.

    Args:
        span: the distances -span, …, span - 1 have one each; those beyond share the first or the last one.
        longest: the distance from which on all share one, if those from span / 2 on share embeddings logarithmically; 0
            if each distance has its own.
    """

    span: int
    longest: int = 0


class Experts(Record):
    """The experts of a layer and their router.

    Args:
        count, chosen: the number of experts, and how many of them compute each token.
        size: the size of the inner value of an expert.
        shared: the size of the inner value of the expert that computes every token; 0 if there is none.
        scores: `softmax` over all experts; `chosen softmax` over those that are chosen; `sigmoid`; `chosen sigmoid`,
            where the correction is added to the logits; `sparse mixer`.
        is_normalized: whether the weights of the chosen experts are divided by their sum.
        least_sum: the least number by which they are divided.
        scale: a factor of the weights.
        groups, chosen_groups: experts are chosen from the best groups only; 1 and 1 without groups.
        group_score: the score of a group: `best two` (their sum) or `best`.
        has_correction: whether the choice adds a bias for each expert to the scores.
        shared_gate: whether the shared expert has a sigmoid gate.
        cap: the logits of the router are cap · tanh(logits / cap); 0 without.
        activation: the activation if it differs from that of other layers: `clamped swish` of gpt-oss.
        limit, slope: the bound and the slope of the clamped swish.
        jitter: the tolerance of `sparse mixer`.
        is_gated: whether an expert computes down(act(gate(x)) * up(x)), or else down(act(up(x))).
        has_factors: whether the weight of each expert has a factor.
        scales_inputs: whether the weights are factors of what the experts compute, instead of their results (Llama 4).
        bias: whether the experts have biases; router_bias: whether the router has one.
    """

    count: int
    chosen: int
    size: int
    shared: int = 0
    scores: str = "softmax"
    is_normalized: bool = False
    least_sum: float = 0.0
    scale: float = 1.0
    groups: int = 1
    chosen_groups: int = 1
    group_score: str = "best"
    has_correction: bool = False
    shared_gate: bool = False
    cap: float = 0.0
    activation: str | None = None
    limit: float = 7.0
    slope: float = 1.702
    jitter: float = 0.01
    is_gated: bool = True
    has_factors: bool = False
    scales_inputs: bool = False
    bias: bool = False
    router_bias: bool = False


class Rotary(Record):
    """A rotary position embedding (Su et al., "RoFormer", 2021).

    Args:
        size: the number of rotated dimensions of a head, the first ones.
        theta: the base of the frequencies, theta^(-2 i / size).
        scaling: `default`, `linear`, `dynamic`, `llama3`, `yarn`, `longrope` or `proportional`.
        parameters: those of the scaling, by the names that transformers gives them in `rope_parameters`.
        divisors: a divisor of each frequency; empty for 1.
        growth: queries at a position p are multiplied by 1 + growth · ln(1 + floor(p / original length)).
    """

    size: int
    theta: float = 10000.0
    scaling: str = "default"
    parameters: Mapping[str, object] = NOTHING
    divisors: tuple[float, ...] = ()
    growth: float = 0.0


class Latent(Record):
    """The sizes of a latent attention.

    Args:
        rank: the size of the compressed keys and values.
        plain_size, rotated_size: the sizes of the two parts of a query and a key.
        query_rank: the size of the compressed queries; 0 if they are not compressed.
    """

    rank: int
    plain_size: int
    rotated_size: int
    query_rank: int = 0


class KeyIndex(Record):
    """A small attention that chooses the keys which a latent attention sees (DeepSeek-AI, "DeepSeek-V3.2", 2025).

    Args:
        heads, size: the number of its heads, and the size of each.
        count: how many keys each query sees at most.
        layers: for each layer whether it has its own choice; others see the keys that the layer before them does.
    """

    heads: int
    size: int
    count: int
    layers: tuple[bool, ...]


class Configuration(Record):
    """The sizes and options of one model.

    Args:
        layers, hidden, vocabulary, heads: numbers of layers, features, tokens and heads of queries.
        key_heads: number of heads of keys and values.
        head_size: the size of a query and a key of one head; value_size: that of a value.
        feed_forward: the size of the inner value of the feed-forward blocks.
        epsilon: that of the normalizations.
        activation: that of the feed-forward blocks, as transformers names it.
        is_tied: whether the matrix of the logits is the table of the embeddings.
        positions: the number of learned positions, or the length for which the model was trained.
        windows: for each layer how many keys a query sees, itself included; 0 for all of them.
        rotary: the rotary embedding of each layer; None for a layer without.
        experts: the experts of each layer; None for a layer without.
        attention_scale: the factor of the scores; None for head_size^-0.5.
        scales_by_layer: whether the factor is also divided by the number of the layer, counted from 1.
        attention_cap, logits_cap: cap · tanh(x / cap) of scores and logits; 0 without.
        embedding_scale, residual_scale, logits_scale: factors.
        clip: the bound of queries, keys and values; 0 without.
        embedding_size: the size of the embeddings where they are projected; 0 for `hidden`.
        latent: the sizes of a latent attention.
        key_index: what chooses the keys that a latent attention sees; None if it sees all.
        types: the number of token types of an encoder.
        padding: the token whose place in learned positions is skipped (RoBERTa).
        labels: the number of classes of an encoder that classifies.
        biases: the blocks that have biases, such as `attention.query`.
        blocks: the block in the place of the attention of each layer, where layers differ: `attention`, `convolution`,
            `delta rule`, `state space`, `grouped state space`, `lightning attention`, `gated recurrence`,
            `feed forward`.
        state_activation: the activation within state spaces; empty for that of the feed-forward blocks.
        part_epsilon: that of the normalizations of the parts of a state space; 0 without.
        sizes: further sizes that only one family has, by name.
        pooling: what an encoder classifies: the value of the `first` token, the `mean` of all that are no padding, or
            `late`, the mean of all after the activation before the classifier.
        pooler_activation: the activation before the classifier of an encoder, or before the logits.
        layer_fields: the fields of each layer that differ from those of the model; empty if none does.
        sources: for each layer the one whose keys and values it uses, often itself; empty if all have their own.
        chunks: the size of the chunks of each layer, within which queries see keys; 0 for layers without.
        factors: factors of blocks, `KIND input` and `KIND output`, and of the value to which their results are added,
            `KIND residual`; of `keys`, of `values`, of `strengths` of a delta rule, of `gate` and `down` of a
            feed-forward block, and of the parts of the projection of a state space, `state space gates`, `… values`,
            `… inputs`, `… outputs` and `… steps`.
        query_growth, growth_length: queries at index i of layers that are not rotated are multiplied by
            1 + growth · ln(1 + floor((i + 1) / length)).
        values_are_keys: whether the values are the keys before their normalization and rotation.
        sparsity: the share of the gates of a feed-forward block that are 0, if they are normally distributed.
        distances: the distances of queries and keys on which scores depend; None if they depend on none.
    """

    layers: int
    hidden: int
    vocabulary: int
    heads: int = 0
    key_heads: int = 0
    head_size: int = 0
    value_size: int = 0
    feed_forward: int = 0
    epsilon: float = 1e-6
    activation: str = "silu"
    is_tied: bool = False
    positions: int = 0
    windows: tuple[int, ...] = ()
    rotary: tuple[Rotary | None, ...] = ()
    experts: tuple[Experts | None, ...] = ()
    attention_scale: float | None = None
    scales_by_layer: bool = False
    attention_cap: float = 0.0
    logits_cap: float = 0.0
    embedding_scale: float = 1.0
    residual_scale: float = 1.0
    logits_scale: float = 1.0
    clip: float = 0.0
    embedding_size: int = 0
    latent: Latent | None = None
    key_index: KeyIndex | None = None
    types: int = 0
    padding: int = 0
    labels: int = 0
    biases: frozenset[str] = frozenset()
    blocks: tuple[str, ...] = ()
    state_activation: str = ""
    part_epsilon: float = 0.0
    sizes: Mapping[str, int] = MappingProxyType({})
    pooling: str = "first"
    pooler_activation: str = "tanh"
    layer_fields: tuple[Mapping[str, Any], ...] = ()
    sources: tuple[int, ...] = ()
    chunks: tuple[int, ...] = ()
    factors: Mapping[str, float] = NOTHING
    query_growth: float = 0.0
    growth_length: float = 0.0
    values_are_keys: bool = False
    sparsity: float = 0.0
    distances: Distances | None = None

    def of_layer(self, layer: int) -> Configuration:
        """The configuration with the fields that one layer changes; itself if no layer differs."""
        return self.with_fields(**self.layer_fields[layer]) if self.layer_fields else self


class Architecture(Record):
    """The record of a family.

    Args:
        name: its name.
        model_types: the values of `model_type` in config.json that name it.
        task: `generation`, `embedding` (last_hidden_state) or `classification` (logits).
        residuals: the blocks of a layer.
        other_residuals: those of a layer whose block is no attention, if they differ.
        attention: its attention.
        feed_forward: `gated` (down(act(gate(x)) * up(x))), `packed gated` (gate and up in one matrix, in this order),
            `packed gated up first`, or `plain` (down(act(up(x)))).
        experts: how the matrices of experts lie in the file: `each` (one for each expert), `packed` (gate and up of all
            experts in one), `packed transposed` (the same, [E, K, N], gate and up interleaved), `packed columns` (the
            same, [E, K, N], gate before up), `packed rows or columns` (`packed columns`, or else `packed`), `flat`
            (gate and up [E * N, K], down [E * K, N]). Files that pack those of `each` are read, too.
        inner_norm: whether the inner value of feed-forward blocks is normalized before the last product.
        norm: `rms` or `layer`.
        norm_offset: what is added to the weights of normalizations.
        norm_bias: whether layer normalizations have a bias; norm_weight: whether they have a weight.
        embedding_norm: whether the embeddings are normalized.
        final_norm: whether the last value is normalized.
        projects_last: whether embeddings of another size are projected after their normalization.
        projects_always: whether those of the same size are, too.
        distance_norm: whether the embeddings of distances are normalized.
        pooler_norm: whether the pooled value of an encoder that classifies is normalized.
        first_norm: whether the first layer has its attention normalization.
        learned_positions: None; `input` (indexed by the positions), `counted` (by those counted in the mask), or
            `unpadded` (by those counted in the tokens that are not padding).
        positions_offset: the row of the table of learned positions that position 0 takes.
        has_sinusoidal_positions: whether the table of learned positions is computed (Vaswani and others, 2017): sines
            before cosines, the row of the padding 0.
        takes_positions: whether the model has the input `position_ids`.
        head_bias: whether the logits have a bias.
        head_transform: whether the last value is projected, activated and normalized before the logits.
        state_norm: the normalization of the result of a grouped state space: `gated` (after its gates), `before gates`,
            or None.
        part_weights: whether the normalizations of the parts of a state space have weights.
        delta_packing: how the projections of a delta rule lie in the file: `per head` (all in two matrices, for each
            head of keys in turn), `all heads` (queries, keys, values in one matrix, gates in another, strengths and
            steps as before), `one matrix`, `separate`, or `all separate` (queries, keys, values and their
            convolutions, too).
        tiles_keys: whether the key heads of a delta rule are repeated one after another (0 1 0 1) instead of each
            (0 0 1 1).
        layer_inputs: whether each layer adds a part of further embeddings of the tokens (Gemma 3n).
        layer_factor: whether the value after a layer is multiplied with a number of the layer.
        alternating_updates: whether a model has several values of each token, of which a layer computes one and
            corrects the others (Baykal and others, "Alternating Updates for Efficient Transformers", 2023).
        scales_correction: whether the corrected value is multiplied with weights before the layer's part of further
            embeddings is computed of it.
        halves_experts: whether the sum of the results of the chosen experts and of the shared one is halved.
        normalizes_experts: whether it is normalized.
        experts_beside: whether experts compute the value before the normalization of the feed-forward block, beside it.
    """

    name: str
    model_types: tuple[str, ...]
    task: str = "generation"
    residuals: tuple[Residual, ...] = PRE_NORM
    other_residuals: tuple[Residual, ...] = ()
    attention: AttentionBlock = AttentionBlock()
    feed_forward: str = "gated"
    experts: str = "each"
    inner_norm: bool = False
    norm: str = "rms"
    norm_offset: float = 0.0
    norm_bias: bool = False
    norm_weight: bool = True
    embedding_norm: bool = False
    final_norm: bool = True
    projects_last: bool = False
    projects_always: bool = False
    distance_norm: bool = False
    pooler_norm: bool = False
    first_norm: bool = True
    learned_positions: str | None = None
    positions_offset: int = 0
    has_sinusoidal_positions: bool = False
    takes_positions: bool = True
    head_bias: bool = False
    head_transform: bool = False
    state_norm: str | None = "gated"
    part_weights: bool = False
    delta_packing: str = "per head"
    tiles_keys: bool = False
    layer_inputs: bool = False
    layer_factor: bool = False
    alternating_updates: bool = False
    scales_correction: bool = True
    halves_experts: bool = False
    normalizes_experts: bool = False
    experts_beside: bool = False
