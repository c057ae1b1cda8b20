"""Kernels of the corruptions of motion, one call for all bodies.

`movements` (N, 4), rewritten in place, and `commanded` (N, 4) are [metres along, metres across (right),
radians to the left, radians upwards], walked first; `drawn` (N, D) what was drawn for the step.
"""

# mypy: disable-error-code="no-untyped-def"

import math

import numpy as np

from navarena.core.geometry import ACROSS, ALONG, TURN
from navarena.core.kernels import kernel

CENTRAL_SHARE = 0.13533528323661269189
"""exp(-2): quantiles nearer to 0 or 1 have a formula of their own."""

CENTRAL_ABOVE = np.array(
    [
        -59.9633501014107895267,
        98.0010754185999661536,
        -56.6762857469070293439,
        13.9312609387279679503,
        -1.23916583867381258016,
    ]
)
CENTRAL_BELOW = np.array(
    [
        1.0,
        1.95448858338141759834,
        4.67627912898881538453,
        86.3602421390890590575,
        -225.462687854119370527,
        200.260212380060660359,
        -82.0372256168333339912,
        15.9056225126211695515,
        -1.18331621121330003142,
    ]
)
TAIL_ABOVE = np.array(
    [
        4.05544892305962419923,
        31.5251094599893866154,
        57.1628192246421288162,
        44.0805073893200834700,
        14.6849561928858024014,
        2.18663306850790267539,
        -0.140256079171354495875,
        -0.0350424626827848203418,
        -0.000857456785154685413611,
    ]
)
TAIL_BELOW = np.array(
    [
        1.0,
        15.7799883256466749731,
        45.3907635128879210584,
        41.3172038254672030440,
        15.0425385692907503408,
        2.50464946208309415979,
        -0.142182922854787788574,
        -0.0380806407691578277194,
        -0.000933259480895457427372,
    ]
)
"""Coefficients of ratios of polynomials, highest power first: the inverse normal distribution of Moshier's
Cephes library (ndtri), down to quantiles of 1e-14."""


@kernel(inline=True)
def _walks(commanded, i):
    """Whether row i leaves its place."""
    return commanded[i, ALONG] != 0 or commanded[i, ACROSS] != 0


@kernel(inline=True)
def _turn_first(movements, i, angle):
    """Insert a turn by `angle` radians to the left before the movement of row i.

    Turning first and then walking is walking in that direction and turning afterwards.
    """
    sine, cosine = math.sin(angle), math.cos(angle)
    along, across = movements[i, ALONG], movements[i, ACROSS]
    movements[i, ALONG] = cosine * along + sine * across
    movements[i, ACROSS] = cosine * across - sine * along
    movements[i, TURN] += angle


@kernel
def lengthen(movements, commanded, drawn, metres, radians):
    """Add columns `metres` and `radians` of `drawn` to commanded walks and turns, in their direction."""
    for i in range(movements.shape[0]):
        movements[i, ALONG] += np.sign(commanded[i, ALONG]) * drawn[i, metres]
        movements[i, TURN] += np.sign(commanded[i, TURN]) * drawn[i, radians]


@kernel
def turn_walks_first(movements, commanded, drawn, radians, undo):
    """Let commanded walks begin with turns by column `radians` of `drawn`, with `undo` undone at the end."""
    for i in range(movements.shape[0]):
        if _walks(commanded, i):
            _turn_first(movements, i, drawn[i, radians])
            if undo:
                movements[i, TURN] -= drawn[i, radians]


@kernel
def fail_turns(movements, commanded, drawn):
    """Cancel commanded turns to the side drawn[:, 0] (1 left, -1 right), together with their translation."""
    for i in range(movements.shape[0]):
        if commanded[i, TURN] * drawn[i, 0] > 0:
            movements[i, TURN] = 0.0
            if not _walks(commanded, i):
                movements[i, ALONG] = 0.0
                movements[i, ACROSS] = 0.0


@kernel
def scale_by_floor(movements, factors, floors):
    """Multiply walks and turns by factors[floor], `floors` (N,) indices into `factors` (F,)."""
    for i in range(movements.shape[0]):
        factor = factors[floors[i]]
        movements[i, ALONG] *= factor
        movements[i, ACROSS] *= factor
        movements[i, TURN] *= factor


@kernel
def normal_quantile(share):
    """The value below which a standard normal lies with probability `share`, within 1e-14 and 1 - 1e-14."""
    if CENTRAL_SHARE < share <= 1.0 - CENTRAL_SHARE:
        off = share - 0.5
        square = off * off
        ratio = _polynomial(CENTRAL_ABOVE, square) / _polynomial(CENTRAL_BELOW, square)
        return (off + off * square * ratio) * math.sqrt(2.0 * math.pi)
    small = min(share, 1.0 - share)
    root = math.sqrt(-2.0 * math.log(small))
    inverse = 1.0 / root
    size = (
        root
        - math.log(root) / root
        - inverse * _polynomial(TAIL_ABOVE, inverse) / _polynomial(TAIL_BELOW, inverse)
    )
    return -size if share < 0.5 else size


@kernel
def _polynomial(coefficients, x):
    value = 0.0
    for k in range(coefficients.shape[0]):
        value = value * x + coefficients[k]
    return value


@kernel
def truncated_normal(quantile, mean, sigma, lowest, max_sigmas):
    """The value at `quantile` of a normal that is cut at `max_sigmas` and, from below, at `lowest`."""
    if sigma <= 0.0:
        return mean
    cut = max((lowest - mean) / sigma, -max_sigmas)
    low = 0.5 * math.erfc(-cut / math.sqrt(2.0))
    high = 0.5 * math.erfc(-max_sigmas / math.sqrt(2.0))
    return mean + sigma * normal_quantile(low + quantile * (high - low))


@kernel
def add_controller_noise(movements, commanded, drawn, means, sigmas, scale, max_sigmas, min_share, tiny):
    """Add noise along, across and in heading to walks and turns; looking up and resting stay exact.

    `drawn` (N, 3) are quantiles in [0, 1), `means` and `sigmas` (2, 3) of a walk and of a turn, `scale` (3,).
    Noise takes back no more than `min_share` (negative) of what is commanded; `tiny` makes the sign of
    nothing +1.
    """
    for i in range(movements.shape[0]):
        walking = _walks(commanded, i)
        if not walking and commanded[i, TURN] == 0:
            continue
        kind, bound = (0, 0) if walking else (1, 2)
        along_sign = np.sign(movements[i, ALONG] + tiny)
        turn_sign = np.sign(movements[i, TURN] + tiny)
        back = min_share * abs(movements[i, ALONG if walking else TURN])
        for k in range(3):
            lowest = back if k == bound else -np.inf
            noise = truncated_normal(drawn[i, k], means[kind, k], sigmas[kind, k], lowest, max_sigmas)
            column = TURN if k == 2 else ALONG if k == 0 else ACROSS
            movements[i, column] += scale[k] * noise * (turn_sign if k == 2 else along_sign)
