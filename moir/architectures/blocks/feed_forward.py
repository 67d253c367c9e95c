"""The operations of a feed-forward block: an MLP for all tokens, or experts among which a router chooses."""

from __future__ import annotations

from statistics import NormalDist

from xdsl.ir import SSAValue

from moir.architectures.record import Architecture, Configuration, Experts
from moir.architectures.vectors import VectorNodes


class FeedForwardNodes:
    """Appends the feed-forward block of a layer to a network.

    Args:
        architecture: the record of the family.
        configuration: the sizes of the model.
        vectors: appends operations that compute each token by itself.
    """

    def __init__(self, architecture: Architecture, configuration: Configuration, vectors: VectorNodes) -> None:
        self.architecture = architecture
        self.configuration = configuration
        self.vectors = vectors
        self.nodes = vectors.nodes

    def block(self, x: SSAValue, layer: int) -> SSAValue:
        """The result of the feed-forward block of a layer.

        GatedMLP(x, gate, up, down, biases …) {activation}, or MLP(x, up, down, biases …) {activation}, or
        MixtureOfExperts(x, router, gate, up, down, biases …) {chosen, …}, plus the shared expert, which computes every
        token, if there is one.
        """
        experts = self.configuration.experts[layer] if self.configuration.experts else None
        if experts is None:
            return self.own_network(x, layer)
        chosen = self.mixture(x, f"layers.{layer}.experts", experts)
        if not experts.shared:
            return chosen
        shared = self.network(x, f"layers.{layer}.shared_expert", experts.shared)
        if experts.shared_gate:
            gates = self.vectors.linear(x, f"layers.{layer}.shared_expert_gate", self.configuration.hidden, 1)
            shared = self.vectors.gated(shared, gates)
        both = self.vectors.sum(chosen, shared, f"layers.{layer}.all_experts")
        if self.architecture.normalizes_experts:
            return self.vectors.norm(both, f"layers.{layer}.all_experts_norm", self.configuration.hidden)
        return self.vectors.scaled(both, 0.5) if self.architecture.halves_experts else both

    def own_network(self, x: SSAValue, layer: int) -> SSAValue:
        """The result of the MLP of a layer, which computes all tokens."""
        sizes = self.configuration.of_layer(layer)
        return self.network(x, f"layers.{layer}.feed_forward", sizes.feed_forward, sizes.sparsity)

    def beside(self, normed: SSAValue, x: SSAValue, layer: int) -> SSAValue:
        """The sum of the MLP of a layer and of its experts, which read another normalization of x; the MLP alone if
        there are no experts.

        Args:
            normed: the normalized value, which the MLP reads.
            x: the value before the normalization.
            layer: the index of the layer.
        """
        experts = self.configuration.experts[layer] if self.configuration.experts else None
        hidden, name, norm = self.configuration.hidden, f"layers.{layer}", self.vectors.norm
        own = self.own_network(normed, layer)
        if experts is None:
            return own
        factor = self.nodes.weight(f"{name}.experts.router.scale", (hidden,))
        router_input = self.vectors.scaled(self.vectors.plain_norm(x, hidden), hidden**-0.5, factor)
        chosen = self.mixture(norm(x, f"{name}.experts_norm", hidden), f"{name}.experts", experts, router_input)
        own, chosen = norm(own, f"{name}.network_output_norm", hidden), norm(chosen, f"{name}.experts_output_norm", hidden)
        return self.vectors.sum(own, chosen, f"{name}.all_experts")

    def mixture(self, x: SSAValue, block: str, experts: Experts, router_input: SSAValue | None = None) -> SSAValue:
        """Append experts among which a router chooses.

        MixtureOfExperts(x, router, gate, up, down, biases of router, gate, up, down, correction, router input, factors)
        {chosen, scores, …}

        If the rows of gate and up are interleaved in one matrix, it is both operands, with {is_interleaved}. For
        experts without a gate `up` is both operands, with {is_plain}.

        Args:
            x: the value that the experts compute.
            block: the block of the experts.
            experts: their numbers and sizes.
            router_input: the value that the router computes; x by default.
        """
        hidden, count, size = self.configuration.hidden, experts.count, experts.size
        weight = self.nodes.weight
        is_interleaved = self.architecture.experts == "packed transposed"
        inner = (count, 2 * size if is_interleaved else size, hidden)
        first, second = ("gate_up", "gate_up") if is_interleaved else ("gate" if experts.is_gated else "up", "up")
        shapes = ((first, inner), (second, inner), ("down", (count, hidden, size)))
        matrices = [weight(f"{block}.{part}.weight", shape) for part, shape in shapes]
        biases = [weight(f"{block}.{part}.bias", shape[:2]) if experts.bias else None for part, shape in shapes]
        router = weight(f"{block}.router.weight", (count, hidden))
        router_bias = weight(f"{block}.router.bias", (count,)) if experts.router_bias else None
        correction = weight(f"{block}.correction", (count,)) if experts.has_correction else None
        factors = weight(f"{block}.factors", (count,)) if experts.has_factors else None
        is_clamped, is_grouped = experts.activation == "clamped swish", experts.groups > 1
        return self.nodes.node(
            "MixtureOfExperts",
            [x, router, *matrices, router_bias, *biases, correction, router_input, factors],
            self.vectors.name(block),
            hidden,
            chosen=experts.chosen,
            is_interleaved=is_interleaved or None,
            is_plain=not experts.is_gated or None,
            scores=experts.scores,
            is_normalized=experts.is_normalized or None,
            least_sum=experts.least_sum or None,
            scale=None if experts.scale == 1 else float(experts.scale),
            groups=experts.groups if is_grouped else None,
            chosen_groups=experts.chosen_groups if is_grouped else None,
            group_score=experts.group_score if is_grouped else None,
            cap=experts.cap or None,
            jitter=experts.jitter if experts.scores == "sparse mixer" else None,
            activation=experts.activation or self.configuration.activation,
            limit=float(experts.limit) if is_clamped else None,
            slope=float(experts.slope) if is_clamped else None,
            scales_inputs=experts.scales_inputs or None,
        )

    def network(self, x: SSAValue, block: str, size: int, sparsity: float = 0.0) -> SSAValue:
        """Append the MLP with the weights of `block` and an inner value of `size` features.

        With a `sparsity` above 0, gates below that quantile are set to 0.
        """
        sizes, kind, hidden = self.configuration, self.architecture.feed_forward, self.configuration.hidden
        down, down_bias = self.vectors.matrix(f"{block}.down", size, hidden)
        name, activation = self.vectors.name(block), sizes.activation
        if kind == "plain":
            up, bias = self.vectors.matrix(f"{block}.up", hidden, size)
            if activation == "xielu":
                inner = self.nodes.node("Linear", [x, up, bias], self.vectors.name(f"{block}.up"), size)
                parameters = [self.nodes.weight(f"{block}.{part}", (1,)) for part in ("alpha_p", "alpha_n", "beta", "eps")]
                inner = self.nodes.node("XIELU", [inner, *parameters], "", size)
                return self.nodes.node("Linear", [inner, down, down_bias], name, hidden)
            return self.nodes.node("MLP", [x, up, down, bias, down_bias], name, hidden, activation=activation)
        if self.architecture.inner_norm:
            gates, inner = (self.vectors.linear(x, f"{block}.{part}", hidden, size) for part in ("gate", "up"))
            inner = self.vectors.norm(self.vectors.gated(inner, gates, activation), f"{block}.inner_norm", size)
            return self.nodes.node("Linear", [inner, down, down_bias], name, hidden)
        if kind == "gated":
            gate, gate_bias = self.vectors.matrix(f"{block}.gate", hidden, size)
            up, up_bias = self.vectors.matrix(f"{block}.up", hidden, size)
            operands = [x, gate, up, down, gate_bias, up_bias, down_bias]
            cutoff = NormalDist().inv_cdf(sparsity) if sparsity else None
            factor, down_factor = (sizes.factors.get(part) for part in ("gate", "down"))
            x = self.nodes.node("GatedMLP", operands, name, hidden, activation=activation, cutoff=cutoff, gate_factor=factor)
            return x if down_factor is None else self.vectors.scaled(x, down_factor)
        if kind == "packed gated up first":
            inner, gates = self.vectors.split(self.vectors.linear(x, f"{block}.gate_up", hidden, 2 * size), (size, size), block)
            return self.nodes.node("Linear", [self.vectors.gated(inner, gates, activation), down, down_bias], name, hidden)
        both, bias = self.vectors.matrix(f"{block}.gate_up", hidden, 2 * size)
        return self.nodes.node("PackedGatedMLP", [x, both, down, bias, down_bias], name, hidden, activation=activation)
