"""Finds the predictions in a graph that also trains its model: results that are not losses, metrics or gradients.

A node *applies* a parameter if it has one and a value that depends on inputs as operands: MatMul, BiasAdd. Losses and
metrics are computed after the last of these nodes; inputs that are used only there are labels. A prediction is a value
that nobody uses, depends on parameters and not on labels; else it is the result of the last nodes that apply
parameters, with the activation that follows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from moir.frontends.tensorflow.edges import Edges
from moir.frontends.tensorflow.frames import Frame
from moir.frontends.tensorflow.functions import LOOP_KINDS
from moir.frontends.tensorflow.references import Tensor
from moir.frontends.tensorflow.training.gradients import Gradients

_EXITS = frozenset(("Exit", "RefExit"))
_SWITCHES = frozenset(("Switch", "RefSwitch", "Enter", "RefEnter"))
_SIZES = frozenset(("Shape", "ShapeN", "Size", "Rank", "VariableShape"))
_REDUCTIONS = frozenset(("L2Loss", "Sum", "Mean", "Prod", "Max", "Min", "All", "Any", "EuclideanNorm", "AddN")) | _SIZES
"""Kinds whose result is not a prediction if their operand is a parameter: a sum of parameters is a penalty."""
_ACTIVATIONS = frozenset(("Sigmoid", "Softmax", "LogSoftmax", "Tanh", "Relu", "Relu6", "Elu", "Selu", "LeakyRelu"))
_MOVEMENTS = {"TensorArrayGatherV3": 2} | dict.fromkeys(
    ("TensorListStack", "Identity", "Reshape", "Squeeze", "Transpose", "StridedSlice", "BatchToSpaceND", "ExpandDims"), 0
)
"""Kinds that only move or copy the elements of an operand -> the index of that operand."""
_LOSS = "CrossEntropy"
"""A part of the names of kinds that compute a loss from logits."""


class Predictions:
    """Finds the predictions in a TensorFlow graph that also has losses, gradients and updates of weights.

    Args:
        frame: the graph.
        edges: its edges.
        gradients: its gradients.
        unused: the nodes whose values only gradients use.
        reported: the nodes of `unused`, and those whose values are only used in summaries.
        sources: the nodes that are inputs of the model.
        effects: the nodes that exist for a side effect.
        looped: the nodes within loops of TensorFlow 1.
    """

    def __init__(
        self,
        frame: Frame,
        edges: Edges,
        gradients: Gradients,
        unused: set[str],
        reported: set[str],
        sources: Collection[str],
        effects: set[str],
        looped: Collection[str],
    ) -> None:
        self.frame, self.edges, self.gradients = frame, edges, gradients
        self.toward_losses: set[str] = set()
        self.unused, self.reported, self.sources, self.effects, self.looped = unused, reported, sources, effects, looped
        self.outside = gradients.nodes | effects
        """The nodes that are not part of the model and its losses."""

    def tensors(self) -> tuple[list[Tensor], list[Tensor]]:
        """The predictions, and other results that a user may want, the best candidates first; both lists may be
        empty.
        """
        edges, outside = self.edges, self.outside
        fed = edges.after(self.sources, outside)
        trained = self.gradients.trained(edges)
        applying = [self._applying(parameters, fed) for parameters in trained]
        every = set[str]().union(*applying)
        labelled = self._labelled(every)
        last = [self._last(names) for names in applying]
        first, others = self._first(last, applying)
        reached = edges.after(first, outside | others)
        losses = self._losses()
        partial = {name for name in self.reported if self._kind(name) in _SIZES or self._is_of_loop(name)}
        self.toward_losses = self.edges.before(losses)
        no_prediction = labelled | losses | edges.after(self.effects)
        ends = list(dict.fromkeys(tensor for name in self._sorted(first) for tensor in self._ends(name)))
        own: list[Tensor] = [(name, 0) for name in self._sorted(fed & reached & self.unused - no_prediction - partial)]
        rest = [tensor for name in self._sorted(set[str]().union(*last) - first) for tensor in self._ends(name)]
        results = [(name, 0) for name in sorted(fed & self.reported - partial, key=lambda name: (name not in losses, self._position(name)))]
        chosen = own or ends
        return chosen, [tensor for tensor in dict.fromkeys((*ends, *rest, *results)) if tensor not in chosen]

    def _applying(self, parameters: Collection[str], fed: Collection[str]) -> set[str]:
        """The nodes that apply a parameter to a value that depends on inputs; `fed` are all nodes that depend on
        inputs.
        """
        nodes, edges = self.frame.nodes, self.edges
        values = set(parameters)
        stack = list(parameters)
        while stack:
            for user in edges.users.get(stack.pop(), ()):
                is_passing = user not in fed or nodes[user].op in _SWITCHES
                if is_passing and user not in values and user not in self.outside and nodes[user].op not in _REDUCTIONS:
                    values.add(user)
                    stack.append(user)
        users = edges.users_of(values, self.outside) - values
        return {name for name in users if any(source in fed and source not in values for source, _ in edges.operands[name])}

    def _labelled(self, applying: Collection[str]) -> set[str]:
        """The nodes that depend on labels: on inputs that reach no node with parameters."""
        needed: set[Tensor] = set()
        before = self.edges.before(applying, self.sources)
        for name in before:
            needed.update(self.edges.operands[name])
        begin = {
            user
            for source in self.sources
            for user in self.edges.users.get(source, ())
            if user not in self.outside and any(tensor[0] == source and tensor not in needed for tensor in self.edges.operands[user])
        }
        return self.edges.after(begin, self.outside)

    def _losses(self) -> set[str]:
        """The losses (nodes where gradients begin), and the nodes that depend on them."""
        differentiated = self.gradients.differentiated - self.gradients.nodes
        before = self.edges.before(self.edges.sources_of(differentiated))
        return self.edges.after(differentiated - before, self.outside)

    def _last(self, applying: Collection[str]) -> set[str]:
        """The nodes of `applying`, which apply parameters, on which no other of them depends: the last layers.

        For layers in a loop, the results of the loop.
        """
        edges, nodes = self.edges, self.frame.nodes
        inside = [name for name in applying if name in self.looped]
        exits = {name for name in edges.after(inside, self.outside) if nodes[name].op in _EXITS} if inside else set[str]()
        exits = {name for name in exits if name not in self.looped and edges.users_of([name], self.outside)}
        candidates = {name for name in applying if name not in self.looped} | exits
        return candidates - edges.before(edges.sources_of(candidates))

    def _first(self, last: list[set[str]], applying: list[set[str]]) -> tuple[set[str], set[str]]:
        """The last nodes of the optimizers whose part of the model comes first, and the nodes that only later parts
        have.

        `last` and `applying` have the last nodes and all nodes with parameters of each optimizer. A discriminator that
        takes what a generator makes only exists for the generator's loss.
        """
        chosen = set[str]().union(*last)
        later: set[str] = set()
        for index, names in enumerate(last):
            after = self.edges.after(self.edges.users_of(names, self.outside), self.outside)
            for other, parts in enumerate(applying):
                if other != index and not after.isdisjoint(parts):
                    chosen -= last[other] - names
                    later |= parts - applying[index]
        return chosen or set[str]().union(*last), later if chosen else set()

    def _ends(self, name: str) -> list[Tensor]:
        """The used outputs of a node; where activations follow, their outputs."""
        operands = (operand for user in self._users(name) for operand in self.edges.operands[user])
        numbers = {number for source, number in operands if source == name}
        return [end for number in sorted(numbers or {0}) for end in self._followed((name, number))]

    def _followed(self, tensor: Tensor) -> list[Tensor]:
        """The tensors at the end of the activations and movements that follow a tensor. Movements without an activation
        are left out if a loss is computed from them.
        """
        activated: list[Tensor] = []
        moved = [tensor]
        seen = {tensor}
        for current in moved:
            activated += [(user, 0) for user in self._next(current, _ACTIVATIONS.__contains__)]
            for user in self._next(current, _MOVEMENTS.__contains__):
                if (user, 0) not in seen:
                    seen.add((user, 0))
                    moved.append((user, 0))
        plain = [each for each in moved if each == tensor or not self._prepares_loss(each[0])]
        return activated or plain[-1:]

    def _next(self, tensor: Tensor, is_wanted: Callable[[str], bool]) -> list[str]:
        """The names of the nodes that use a tensor as data operand and fulfil `is_wanted`, a predicate on names of
        nodes.
        """
        return [
            user
            for user in self._users(tensor[0])
            if is_wanted(kind := self._kind(user)) and self._operand(user, _MOVEMENTS.get(kind, 0)) == tensor
        ]

    def _users(self, name: str) -> list[str]:
        """The names of the nodes outside of the training part that use a node.

        For a loop, only those that losses depend on, if there are any.
        """
        users = self.edges.users_of([name], self.outside)
        return self._sorted((self._kind(name) in LOOP_KINDS and users & self.toward_losses) or users)

    def _is_of_loop(self, name: str) -> bool:
        """Whether a node is an Identity that TensorFlow 2 adds to a result of a loop."""
        operand = self._operand(name, 0)
        return self._kind(name) == "Identity" and operand is not None and self._kind(operand[0]) in LOOP_KINDS

    def _operand(self, name: str, index: int) -> Tensor | None:
        operands = self.edges.operands[name]
        return operands[index] if index < len(operands) else None

    def _prepares_loss(self, name: str) -> bool:
        return any(_LOSS in self._kind(user) for user in self.edges.users.get(name, ()))

    def _position(self, name: str) -> int:
        return self.frame.nodes.positions[name]

    def _kind(self, name: str) -> str:
        return self.frame.nodes[name].op

    def _sorted(self, names: Collection[str]) -> list[str]:
        return sorted(names, key=self._position)
