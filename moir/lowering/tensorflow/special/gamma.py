"""The logarithm of the gamma function, its derivatives, and the Hurwitz zeta function.

    %y = tf.Digamma(%x)
->  ln z - 1 / (2 z) - … with z = %x + 8, minus the reciprocals of %x, %x + 1, …, %x + 7
"""

from __future__ import annotations

from functools import partial

from moir.expansions.formulas import FORMULAS
from moir.expansions.special.gamma import in_single
from moir.expansions.special.polygamma import polygamma, zeta
from moir.lowering.tensorflow.table import tf

tf.lowers_each(
    {
        # tf.Lgamma(x) -> the Lanczos approximation for x; for x below 1/2 the approximation for 1 - x and the
        # reflection formula
        "Lgamma": FORMULAS["gammaln"],
        # tf.Digamma(x) -> the asymptotic series at z = x + 8 and a recurrence; below 0 the reflection formula
        "Digamma": FORMULAS["digamma"],
        # tf.Zeta(x, q) -> Σ (q + k)⁻ˣ over k below n, and the Euler-Maclaurin series at q + n
        "Zeta": lambda op, x, q: in_single(op, partial(zeta, op), x, q),
        # tf.Polygamma(n, x) -> (-1)ⁿ⁺¹ n! zeta(n + 1, x), for n = 0 digamma(x); NaN if n is not a natural number
        "Polygamma": lambda op, a, x: in_single(op, partial(polygamma, op), a, x),
    }
)
