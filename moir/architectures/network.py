"""The module of a language model, in the `transformers` dialect, from the record of its family.

%ids = opset1.Parameter() {name = "input_ids"} : tensor<?x?xsi64>
…
%h = transformers.Embedding(%ids, %table) {name = "model.embed_tokens"}
%n = transformers.RMSNorm(%h, %w) {epsilon = 1e-6, name = "model.layers.0.input_layernorm"}
%q = transformers.Linear(%n, %wq) {name = "model.layers.0.self_attn.q_proj"}
…
%a = transformers.Attention(%q, %k, %v, %mask, %beams, %cos, %sin) {heads = 4, …}
…
"""

from __future__ import annotations

from typing import Protocol

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from moir.architectures.blocks.alternating_updates import AlternatingUpdateNodes
from moir.architectures.blocks.attention import AttentionNodes
from moir.architectures.blocks.convolution import ConvolutionNodes
from moir.architectures.blocks.delta_rule import DeltaRuleNodes
from moir.architectures.blocks.differential_attention import DifferentialAttentionNodes
from moir.architectures.blocks.distance_attention import DistanceAttentionNodes
from moir.architectures.blocks.feed_forward import FeedForwardNodes
from moir.architectures.blocks.gated_recurrence import GatedRecurrenceNodes
from moir.architectures.blocks.latent_attention import LatentAttentionNodes
from moir.architectures.blocks.layer_inputs import LayerInputNodes
from moir.architectures.blocks.lightning_attention import LightningAttentionNodes
from moir.architectures.blocks.state_space import GroupedStateSpaceNodes, StateSpaceNodes
from moir.architectures.checkpoint import Checkpoint
from moir.architectures.inputs import ModelInputs
from moir.architectures.nodes import NodeList
from moir.architectures.record import Architecture, AttentionBlock, Configuration
from moir.architectures.residuals import ATTENTION, Branch, Residual
from moir.architectures.vectors import VectorNodes
from moir.dialects.module import Module
from moir.dialects.moir import ModelOp


def network(architecture: Architecture, configuration: Configuration, checkpoint: Checkpoint, name: str = "model") -> ModuleOp:
    """The module of a model, with one `moir.model` named `name`.

    Raises ModelFileError for a weight that is missing or has another shape, and for weights that no operand reads.
    """
    nodes = NodeList(checkpoint)
    Network(architecture, configuration, nodes).build()
    checkpoint.check_all_read()
    return Module([ModelOp.of(name, Block(nodes.operations))])


def attention_nodes(kind: AttentionBlock) -> type[AttentionNodes | LatentAttentionNodes]:
    """The class that appends an attention."""
    if kind.latent:
        return LatentAttentionNodes
    if kind.is_differential:
        return DifferentialAttentionNodes
    return DistanceAttentionNodes if kind.distance_terms else AttentionNodes


class LayerBlock(Protocol):
    """Appends the token-mixing block of a layer (attention, convolution or recurrence), or the only block that
    it has.
    """

    def block(self, x: SSAValue, layer: int) -> SSAValue:
        """The result of the block of a layer."""
        ...


class Network:
    """Appends the operations of a whole model, from the embeddings to the outputs.

    Args:
        architecture: the record of the family.
        configuration: the sizes of the model.
        nodes: the list to which the operations are appended.
    """

    def __init__(self, architecture: Architecture, configuration: Configuration, nodes: NodeList) -> None:
        self.architecture = architecture
        self.configuration = configuration
        self.nodes = nodes
        self.vectors = VectorNodes(architecture, configuration, nodes)
        self.inputs = ModelInputs(architecture, configuration, nodes)
        parts = (architecture, configuration, self.vectors, self.inputs)
        attention = attention_nodes(architecture.attention)
        self.blocks: dict[str, LayerBlock] = {
            ATTENTION: attention(*parts),
            "convolution": ConvolutionNodes(*parts),
            "delta rule": DeltaRuleNodes(*parts),
            "state space": StateSpaceNodes(*parts),
            "grouped state space": GroupedStateSpaceNodes(*parts),
            "lightning attention": LightningAttentionNodes(*parts),
            "gated recurrence": GatedRecurrenceNodes(*parts),
        }
        self.feed_forward = FeedForwardNodes(architecture, configuration, self.vectors)
        self.blocks["feed forward"] = self.feed_forward
        self.layer_inputs = LayerInputNodes(*parts)

    def build(self) -> None:
        """Append the operations of the whole model."""
        x = self.embedded()
        if self.architecture.layer_inputs and self.configuration.sizes.get("layer_input"):
            self.layer_inputs.prepare(x)
        x = self.updated(x) if self.architecture.alternating_updates else self.layers(x)
        if self.architecture.final_norm:
            x = self.vectors.norm(x, "final_norm", self.configuration.hidden)
        self.outputs(x)

    def layers(self, x: SSAValue) -> SSAValue:
        """The hidden states after all layers, from those x before the first one."""
        for layer in range(self.configuration.layers):
            x = self.layer(x, layer)
            if self.architecture.layer_inputs and self.configuration.sizes.get("layer_input"):
                x = self.vectors.sum(x, self.layer_inputs.block(x, layer), f"layers.{layer}.layer_sum")
            if self.architecture.layer_factor:
                x = self.vectors.scaled(x, 1.0, self.nodes.weight(f"layers.{layer}.factor", (1,)))
        return x

    def updated(self, x: SSAValue) -> SSAValue:
        """The hidden states after all layers of a model with several residual streams per token (AltUp).

        x is expanded to the streams before the first layer; after the last one they are merged into one.
        """
        updates = AlternatingUpdateNodes(self.architecture, self.configuration, self.vectors)
        values = updates.values(x)
        for layer in range(self.configuration.layers):
            values = updates.layer(values, layer, self.blocks[ATTENTION].block, self.feed_forward.block, self.layer_inputs.block)
        return updates.joined(values)

    def embedded(self) -> SSAValue:
        """The embeddings of the tokens, plus those of learned positions and token types where the family has them.

        They are normalized and projected to the hidden size if the family does that.
        """
        sizes, architecture = self.configuration, self.architecture
        width = sizes.embedding_size or sizes.hidden
        scale = None if sizes.embedding_scale == 1 else sizes.embedding_scale
        table = self.nodes.weight("embedding.weight", (sizes.vocabulary, width))
        x = self.nodes.node("Embedding", [self.inputs.tokens, table], self.vectors.name("embedding"), width, scale=scale)
        if sizes.embedding_size and not architecture.projects_last:
            x, width = self.vectors.linear(x, "embedding_projection", width, sizes.hidden), sizes.hidden
        if architecture.learned_positions is not None:
            shape = (sizes.positions, width)
            is_stored = not architecture.has_sinusoidal_positions
            table = self.nodes.weight("positions.weight", shape) if is_stored else self.inputs.sinusoids(shape)
            rows = self.inputs.learned_rows(architecture.learned_positions, architecture.positions_offset)
            positions = self.nodes.node("Embedding", [rows, table], self.vectors.name("positions"), width)
            x = self.vectors.sum(x, positions, "embeddings")
        if sizes.types:
            table = self.nodes.weight("types.weight", (sizes.types, width))
            types = self.nodes.node("Embedding", [self.inputs.types(), table], self.vectors.name("types"), width)
            x = self.vectors.sum(x, types, "typed_embeddings")
        if task_types := sizes.sizes.get("task_types"):
            table = self.nodes.weight("task_types.weight", (task_types, width))
            rows = self.inputs.first_types("task_types")
            x = self.vectors.sum(x, self.nodes.node("Embedding", [rows, table], self.vectors.name("task_types"), width), "tasks")
        x = self.vectors.norm(x, "embedding_norm", width) if architecture.embedding_norm else x
        return (
            x
            if width == sizes.hidden and not architecture.projects_always
            else self.vectors.linear(x, "embedding_projection", width, sizes.hidden)
        )

    def layer(self, x: SSAValue, layer: int) -> SSAValue:
        """The hidden states after a layer, from those x before it."""
        normed: dict[str, SSAValue] = {}
        for index, residual in enumerate(self.residuals(layer)):
            terms = [self.branch(x, layer, branch, normed) for branch in residual.branches]
            base = normed[residual.branches[0].before or ""] if residual.adds_normed else x
            base = self.factored(base, f"{self.kind(residual.branches[0], layer)} residual")
            if self.configuration.residual_scale != 1:
                terms = [self.vectors.scaled(each, self.configuration.residual_scale) for each in terms]
            for number, each in enumerate(terms):
                base = self.vectors.sum(base, each, f"layers.{layer}.sum{index + number}")
            normed.clear()
            x = base if residual.after is None else self.vectors.norm(base, f"layers.{layer}.{residual.after}", self.configuration.hidden)
        return x

    def residuals(self, layer: int) -> tuple[Residual, ...]:
        """The residual sums of a layer: the family's, or `other_residuals` for a layer whose block is no attention."""
        blocks, others = self.configuration.blocks, self.architecture.other_residuals
        return others if others and blocks and blocks[layer] != ATTENTION else self.architecture.residuals

    def branch(self, x: SSAValue, layer: int, branch: Branch, normed: dict[str, SSAValue]) -> SSAValue:
        """The result of a block of a layer, with the normalizations before and after it.

        `normed` caches normalizations of x by their operand; a missing one is built and added.
        """
        hidden, value = self.configuration.hidden, x
        if branch.before is not None and (layer or self.architecture.first_norm or branch.block != ATTENTION):
            if branch.before not in normed:
                normed[branch.before] = self.vectors.norm(x, f"layers.{layer}.{branch.before}", hidden)
            x = normed[branch.before]
        kind = self.kind(branch, layer)
        x = self.factored(x, f"{kind} input")
        if kind in self.blocks:
            x = self.blocks[kind].block(x, layer)
        elif self.architecture.experts_beside:
            x = self.feed_forward.beside(x, value, layer)
        else:
            x = self.feed_forward.block(x, layer)
        x = self.factored(x, f"{kind} output")
        return x if branch.after is None else self.vectors.norm(x, f"layers.{layer}.{branch.after}", hidden)

    def kind(self, branch: Branch, layer: int) -> str:
        """The kind of the block of a branch: its own, or, for an attention, that of the layer (`blocks`)."""
        blocks = self.configuration.blocks
        return blocks[layer] if blocks and branch.block == ATTENTION else branch.block

    def factored(self, x: SSAValue, name: str) -> SSAValue:
        """x times the factor called `name` in `Configuration.factors`; x itself if there is no such factor."""
        factor = self.configuration.factors.get(name)
        return x if factor is None else self.vectors.scaled(x, factor)

    def outputs(self, x: SSAValue) -> None:
        """Append the output of the model: the logits of a generating or classifying model, or the last hidden
        states.
        """
        sizes, architecture = self.configuration, self.architecture
        if architecture.task != "generation":
            if architecture.task == "classification":
                x = self.vectors.classification(x, self.inputs.attention_mask)
            self.nodes.result(x, "last_hidden_state" if architecture.task == "embedding" else "logits")
            return
        if architecture.head_transform:
            dense, bias = self.vectors.matrix("head_transform", sizes.hidden, sizes.hidden)
            properties = {"activation": sizes.pooler_activation}
            x = self.nodes.node("Linear", [x, dense, bias], self.vectors.name("head_transform"), sizes.hidden, **properties)
            x = self.vectors.norm(x, "head_norm", sizes.hidden)
        width = sizes.embedding_size or sizes.hidden
        if sizes.embedding_size:
            x = self.vectors.linear(x, "head_projection", sizes.hidden, width)
        operand = "embedding" if sizes.is_tied else "head"
        count = sizes.sizes.get("logits") or sizes.vocabulary
        weight = self.nodes.weight(f"{operand}.weight", (count, width))
        bias = self.nodes.weight("head.bias", (count,)) if architecture.head_bias else None
        x = self.nodes.node("Linear", [x, weight, bias], self.vectors.name("head"), count)
        if sizes.logits_scale != 1:
            x = self.vectors.scaled(x, sizes.logits_scale)
        if sizes.logits_cap:
            x = self.nodes.node("SoftCap", [x], "logits", count, cap=sizes.logits_cap)
        self.nodes.result(x, "logits")
