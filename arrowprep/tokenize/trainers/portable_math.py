"""Logarithm, exponential and digamma of arrays, to the same bits on every machine.

NumPy's own take the instructions that a processor has, and differ in the last bit
from one to the next; here is nothing but sums, products and powers of two, which
IEEE 754 fixes. Accurate to about 2e-16, relative.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_LN2_HIGH: Final = 6.93147180369123816490e-01  # 33 bits, so that its multiples are exact
_LN2_LOW: Final = 1.90821492927058770002e-10
_LOG2_E: Final = 1.4426950408889634
_HALF_SQRT: Final = 0.7071067811865476
# Bernoulli numbers over 2k: the asymptotic series of digamma
_DIGAMMA: Final = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
_SERIES_FROM: Final = 10  # from here on that series is exact to the last bits


def log(x: Floats) -> Floats:
    """The natural logarithm of positive numbers: the series of atanh, after the power of two."""
    mantissa, exponent = np.frexp(x)
    small = mantissa < _HALF_SQRT
    mantissa = np.where(small, mantissa * 2, mantissa)
    power = (exponent - small).astype(np.float64)
    s = (mantissa - 1) / (mantissa + 1)
    square = s * s
    total = np.zeros_like(s)
    for k in range(23, 0, -2):
        total = total * square + 1 / k
    result: Floats = power * _LN2_HIGH + (power * _LN2_LOW + 2 * s * total)
    return result


def exp(x: Floats) -> Floats:
    """e to a power: Taylor's series, after the power of two."""
    power = np.rint(x * _LOG2_E)
    rest = (x - power * _LN2_HIGH) - power * _LN2_LOW
    total = np.ones_like(rest)
    for k in range(14, 0, -1):
        total = total * (rest / k) + 1
    result: Floats = np.ldexp(total, power.astype(np.int64))
    return result


def digamma(x: Floats) -> Floats:
    """The derivative of the logarithm of gamma, for positive numbers."""
    x = x.astype(np.float64)
    below = np.zeros_like(x)
    for _ in range(_SERIES_FROM):
        low = x < _SERIES_FROM
        below = np.where(low, below + 1 / x, below)
        x = np.where(low, x + 1, x)
    square = 1 / (x * x)
    series = np.zeros_like(x)
    for coefficient in reversed(_DIGAMMA):
        series = (series + coefficient) * square
    return log(x) - 1 / (2 * x) - series - below
