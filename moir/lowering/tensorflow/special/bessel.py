"""Bessel functions of orders 0 and 1."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.expansions.special import bessel
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


def _order_of(node: LoweringNode) -> int:
    """The order of the Bessel function that a kind computes."""
    return int(node.op.KIND.removeprefix("Bessel")[1])


@tf.lowers("BesselI0", "BesselI1", "BesselI0e", "BesselI1e")
def modified_first_kind(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.BesselI0(x) -> a polynomial in x² up to 3.75; elsewhere exp(|x|) / sqrt(|x|) times a polynomial in 1 / |x|

    Likewise BesselI1; BesselI0e and BesselI1e are multiplied by exp(-|x|).
    """
    return bessel.modified_first_kind(op, x, _order_of(node), is_scaled=node.op.KIND.endswith("e"))


@tf.lowers("BesselK0", "BesselK1", "BesselK0e", "BesselK1e")
def modified_second_kind(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.BesselK0(x) -> ∓ln(x / 2) I0(x) and a polynomial in x² up to 2; elsewhere exp(-x) / sqrt(x) times another one

    As in TensorFlow, the result is infinite at 0 and below.
    """
    return bessel.modified_second_kind(op, x, _order_of(node), is_scaled=node.op.KIND.endswith("e"))


@tf.lowers("BesselJ0", "BesselJ1")
def first_kind(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.BesselJ0(x) -> a polynomial in x² up to 3; elsewhere a(3 / |x|) cos(|x| + p(3 / |x|)) / sqrt(|x|)

    Likewise BesselJ1 with other polynomials a and p.
    """
    return bessel.first_kind(op, x, _order_of(node))


@tf.lowers("BesselY0", "BesselY1")
def second_kind(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.BesselY0(x)
    -> 2 / π ln(x / 2) J0(x) and a polynomial in x² up to 3; elsewhere amplitude(3 / x) sin(x + phase(3 / x)) / sqrt(x)

    As in TensorFlow, the result is negative infinity at 0 and below.
    """
    return bessel.second_kind(op, x, _order_of(node))
