"""How a family is spelled in Hugging Face's files: the keys of config.json for its sizes, and the names of its tensors.

Family(
    architecture=Architecture("llama", ("llama",)),
    keys={"epsilon": "rms_norm_eps", …},
    defaults={"rms_norm_eps": 1e-6, …},        # of the family's class, for keys that a file leaves out
    tensors=LLAMA_TENSORS,                     # {"attention.query": "self_attn.q_proj", …}
    biases={"attention_bias": "attention.query attention.key attention.value attention.output"},
)
"""

from __future__ import annotations

from collections.abc import Mapping

from moir.architectures.record import NOTHING, Architecture
from moir.support.records import Record
from moir.support.tables import words

KEYS: Mapping[str, str] = {
    "layers": "num_hidden_layers",
    "hidden": "hidden_size",
    "vocabulary": "vocab_size",
    "heads": "num_attention_heads",
    "key_heads": "num_key_value_heads",
    "head_size": "head_dim",
    "feed_forward": "intermediate_size",
    "epsilon": "rms_norm_eps",
    "activation": "hidden_act",
    "is_tied": "tie_word_embeddings",
    "positions": "max_position_embeddings",
}
"""The keys of most families, by the fields of a configuration."""

IGNORED = words(
    """
    _name_or_path _attn_implementation _attn_implementation_autoset _commit_hash architectures auto_map model_type torch_dtype dtype
    transformers_version use_cache initializer_range initializer_factor bos_token_id eos_token_id pad_token_id sep_token_id cls_token_id
    decoder_start_token_id unk_token_id mask_token_id tokenizer_class prefix
    attention_dropout hidden_dropout resid_dropout embd_dropout resid_pdrop embd_pdrop attn_pdrop embedding_dropout residual_dropout
    dropout hidden_dropout_prob attention_probs_dropout_prob classifier_dropout activation_dropout layerdrop attn_dropout_prob mlp_dropout
    summary_type summary_use_proj summary_activation summary_first_dropout summary_proj_to_labels attention_dropout_prob dropout_rate
    output_attentions output_hidden_states output_router_logits return_dict return_dict_in_generate torchscript use_bfloat16
    pruned_heads chunk_size_feed_forward problem_type finetuning_task task_specific_params gradient_checkpointing
    id2label label2id num_labels router_aux_loss_coef router_z_loss_coef aux_loss_alpha seq_aux pretraining_tp unsloth_version
    max_length min_length do_sample early_stopping num_beams num_beam_groups diversity_penalty temperature top_k top_p typical_p
    repetition_penalty length_penalty no_repeat_ngram_size encoder_no_repeat_ngram_size bad_words_ids num_return_sequences
    output_scores forced_bos_token_id forced_eos_token_id remove_invalid_values exponential_decay_length_penalty suppress_tokens
    begin_suppress_tokens is_encoder_decoder is_decoder cross_attention_hidden_size add_cross_attention tie_encoder_decoder
    tf_legacy_loss model_max_length use_flash_attn use_flash_attention flash_attn _flash_attn_2_enabled attn_config_impl
    cache_implementation max_window_layers quantization_config compression_config
    """
)
"""Keys that do not affect the results of a model, or concern only `transformers` itself."""


ANY = object()
"""In `Family.variants`, stands for any value of a key except null."""


class Family(Record):
    """The spelling of a family in Hugging Face's files.

    Args:
        architecture: what the family consists of.
        tensors: the tensors by their operands without `weight` and `bias`, within a layer or of the whole model.
        layer: the beginning of the names of a layer's tensors; {} is its number.
        layer_groups: the key with the number of groups of layers that have the same weights, whose number is in the
            place of that of the layer; empty if all have their own.
        prefixes: further beginnings of all names in files that save only a part of the model.
        keys: the keys of config.json by the fields of a configuration, where they are not those of `KEYS`. Of several,
            `a b`, the first one that is not null counts.
        aliases: further names of keys.
        divisors: the keys of fields that are the reciprocal of their value.
        roots, inverse_roots: the keys of fields that are the square root of their value, or its reciprocal.
        rounded_roots: the keys of fields that are the square root of their value, rounded to bf16.
        halves: the fields that are half of the value of their key.
        quotients: the keys of fields that are the quotient of two keys, `scale_depth / root num_hidden_layers`; `root`
            is the square root of what follows. 1 if the first one is null.
        sizes: the keys of further sizes that only this family has, by name.
        optional_sizes: those of `sizes` that may be 0 or null.
        factors: the keys of `Configuration.factors` by their names; those of a list have the index of the entry after
            them, `ssm_multipliers 0`.
        layer_lists: the keys of fields that have a value for each layer, or one for all.
        full_layers: the keys of fields that hold for layers without a window only, if they are not null.
        window_layers: the same for layers with a window; `2 * KEY` is twice the value.
        shared_layers: the key with the number of last layers that use the keys and values of layers before them.
        tables: the keys of objects of config.json, whose own keys are `TABLE.KEY`.
        transposed: whether the matrices of layers lie in the file as [K, N].
        defaults: the values of keys that a file leaves out.
        fixed: fields of the configuration that no key says.
        other_names: further names of tensors, in the order in which they are looked for.
        joined: the tensors whose rows, one after the other, are a weight that a file does not have in one.
        biases: the operands that have biases, by the key that says so; by an empty text those that always have.
        experts: the fields of `Experts`, by key or, for values that are no text of a key, as they are.
            A key may be a product of two, `n_shared_experts * moe_intermediate_size`.
        dense: which layers have no experts: empty for none; `sparse step` (decoder_sparse_step and mlp_only_layers);
            `listed` (all but moe_layers, or else all but each interleave_moe_layer_step-th);
            `interval` (moe_layer_interval, moe_layer_start_index and moe_layer_end_index); the key with the number of
            first layers without; or two keys, of a period and of the place in it of the layer that has experts.
        latent: the keys of the fields of `Latent`.
        key_index: which layers choose the keys that their attention sees: empty for none; `own` for all; `shared`
            (indexer_types, index_topk_pattern, or index_topk_freq and index_skip_topk_offset), others see those of the
            layer before them.
        window: which layers have windows: empty; `all`; `flagged` (use_sliding_window, from layer max_window_layers
            on); `alternating` (even layers); `alternating first` (even layers before max_window_layers, if
            use_sliding_window); `pattern` (all but each n-th); `pattern, last sees all` (the same, but never the last
            layer); `pattern, first sees all`; `pattern after dense` (`pattern`, counted from the first layer with
            experts; layers before by prefix_dense_sliding_window_pattern); `every fourth sees all` (all but 0, 4, …);
            `second of four, first and last see all` (all but 0, 1, 5, 9, … and the last layer);
            `attention types` (GPT-Neo); `listed` (those of `layer_types` only); `both sides` (half of local_attention
            on each side, all but every global_attn_every_n_layers-th); `half` (the same without keys after a query).
            `layer_types` precedes.
        has_chunks: whether layers see keys within chunks of attention_chunk_size tokens.
        adjusted_feed_forward: whether the size of feed-forward blocks is computed if block_auto_adjust_ff_dim is true.
        other_block: the block of layers without attention, a name of `Configuration.blocks`; empty if all have one.
        kinds: for families whose layers have one block each, the block of each kind of layers in `layer_types` or in
            the text `hybrid_override_pattern`.
        attention_layers: the key that says which layers have an attention if `layer_types` does not: a list of their
            numbers, or a number n for each n-th, or the kinds `attention` and others of the first layers, which repeat;
            null for those of `defaults`, or else all; two keys, of a period and of the place in it of the layer that
            has one; empty if none has.
        rotary_layers: which layers are rotated: empty for all; `listed` (no_rope_layers); `sliding`; `sliding or all`
            (those with windows, or all if the model has no windows); `sliding or dense` (those with windows, and those
            without experts if prefix_dense_sliding_window_pattern is 1); `thetas` (layer_rope_theta has a base for each
            layer, 0 for those that are not rotated).
        has_distances: whether scores may depend on distances: on position_buckets of them, or else on
            max_relative_positions or, if that is below 1, max_position_embeddings.
        rotary_traits: what rotary embeddings have beside others': `magnitudes` (`short_mscale` and `long_mscale` are
            factors of cosines and sines), `alpha` (`dynamic` with `alpha` stretches the base for all lengths),
            `backward` (they turn the other way round), `growth` (`llama_4_scaling_beta` multiplies queries).
        variants: changes of the architecture for values of keys: (key, value, changed fields); `attention.NAME` is a
            field of its attention. `ANY` is each value but null.
        read: keys that only the code of the frontend reads.
        unread: keys that have no effect in this family.
        expected: the only value that is known of a key, or a tuple of those that are.
        ignored_tensors: tensors without effect; {} is the number of a layer.
        further_layers: the key with the number of layers after the last one, which predict more tokens at once and have
            no effect on the next one.
        head_tensor: the tensor of the logits' matrix.
        stacked: the operands whose matrices hold those of all experts.
    """

    architecture: Architecture
    tensors: Mapping[str, str]
    layer: str = "model.layers.{}"
    layer_groups: str = ""
    prefixes: tuple[str, ...] = ("language_model.", "model.language_model.")
    keys: Mapping[str, str] = NOTHING
    aliases: Mapping[str, str] = NOTHING
    divisors: Mapping[str, str] = NOTHING
    roots: Mapping[str, str] = NOTHING
    inverse_roots: Mapping[str, str] = NOTHING
    rounded_roots: Mapping[str, str] = NOTHING
    halves: tuple[str, ...] = ()
    quotients: Mapping[str, str] = NOTHING
    sizes: Mapping[str, str] = NOTHING
    factors: Mapping[str, str] = NOTHING
    optional_sizes: tuple[str, ...] = ()
    layer_lists: Mapping[str, str] = NOTHING
    full_layers: Mapping[str, str] = NOTHING
    window_layers: Mapping[str, str] = NOTHING
    shared_layers: str = ""
    tables: tuple[str, ...] = ()
    transposed: bool = False
    defaults: Mapping[str, object] = NOTHING
    fixed: Mapping[str, object] = NOTHING
    other_names: Mapping[str, str] = NOTHING
    joined: Mapping[str, tuple[str, ...]] = NOTHING
    biases: Mapping[str, str] = NOTHING
    experts: Mapping[str, object] = NOTHING
    dense: str = ""
    latent: Mapping[str, str] = NOTHING
    key_index: str = ""
    window: str = ""
    has_chunks: bool = False
    adjusted_feed_forward: bool = False
    other_block: str = ""
    kinds: Mapping[str, str] = NOTHING
    attention_layers: str = ""
    rotary_layers: str = ""
    has_distances: bool = False
    rotary_traits: frozenset[str] = frozenset()
    variants: tuple[tuple[str, object, Mapping[str, object]], ...] = ()
    read: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()
    expected: Mapping[str, object] = NOTHING
    ignored_tensors: tuple[str, ...] = ()
    further_layers: str = ""

    @property
    def rotates(self) -> bool:
        """Whether the family has rotary embeddings."""
        return self.architecture.attention.rotation is not None

    def key(self, field: str) -> str:
        """The key of config.json for a field of the configuration; empty if no key has it."""
        return self.keys.get(field, KEYS.get(field, ""))
