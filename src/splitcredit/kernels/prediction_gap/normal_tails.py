"""Compute tail probabilities of normal noise at the cuts of a forest.

The distribution function is that of the Cephes library (Moshier 1989), which `scipy.special.ndtr`
is as well: the same rational functions and the same order of operations, so that both give the same
float64. Here many values are worked out at a time, without jumps.
"""

from __future__ import annotations

import math

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import as_readonly, n_blocks

# Rows that share working memory, one thread's work.
ROWS = 16
# The numbers of a row are worked out in groups of so many, as long as the longest vector.
LANES = 8
HALF_ROOT = 0.70710678118654752440
# exp(-z^2) counts as 0 where z^2 is above this, the logarithm of the largest float64.
MOST = 7.09782712893383996843e2
# From here on erfc has other rational functions.
FAR = 8.0
# Numbers above this are replaced by it, so that no power of them overflows. The result does not
# change: exp(-z^2) counts as 0 for both.
FARTHEST = 64.0
# erfc(z) exp(z^2) for z in [1, 8) and from 8 on, erf(z) / z below 1 as a function of z^2: the
# coefficients of the numerator and the denominator, from the highest power down. The first
# coefficient of a denominator is 1 and is left out.
P0, P1, P2, P3, P4, P5, P6, P7, P8 = (
    2.46196981473530512524e-10,
    5.64189564831068821977e-1,
    7.46321056442269912687e0,
    4.86371970985681366614e1,
    1.96520832956077098242e2,
    5.26445194995477358631e2,
    9.34528527171957607540e2,
    1.02755188689515710272e3,
    5.57535335369399327526e2,
)
Q0, Q1, Q2, Q3, Q4, Q5, Q6, Q7 = (
    1.32281951154744992508e1,
    8.67072140885989742329e1,
    3.54937778887819891062e2,
    9.75708501743205489753e2,
    1.82390916687909736289e3,
    2.24633760818710981792e3,
    1.65666309194161350182e3,
    5.57535340817727675546e2,
)
R0, R1, R2, R3, R4, R5 = (
    5.64189583547755073984e-1,
    1.27536670759978104416e0,
    5.01905042251180477414e0,
    6.16021097993053585195e0,
    7.40974269950448939160e0,
    2.97886665372100240670e0,
)
S0, S1, S2, S3, S4, S5 = (
    2.26052863220117276590e0,
    9.39603524938001434673e0,
    1.20489539808096656605e1,
    1.70814450747565897222e1,
    9.60896809063285878198e0,
    3.36907645100081516050e0,
)
T0, T1, T2, T3, T4 = (
    9.60497373987051638749e0,
    9.00260197203842689217e1,
    2.23200534594684319226e3,
    7.00332514112805075473e3,
    5.55923013010394962768e4,
)
U0, U1, U2, U3, U4 = (
    3.35617141647503099647e1,
    5.21357949780152679795e2,
    4.59432382970980127987e3,
    2.26290000613890934246e4,
    4.92673942608635921086e4,
)


def normal_tails(cuts, X, wanted, scales, deviation) -> np.ndarray:
    """Compute the tails of normal noise at each cut, (n_samples, n_cuts + 2), 0 at infinity."""
    out = np.zeros((len(X), len(cuts.lowered)))
    arrays = as_readonly(X, wanted, scales, cuts.first, cuts.threshold, cuts.lowered)
    _tails(n_blocks(len(X), ROWS), *arrays, float(deviation), out)
    return out


@kernel(parallel=True)
def _tails(first_block, last_block, X, wanted, scales, first, threshold, lowered, deviation, out):
    n_cuts = len(threshold)
    t, powers = np.empty(n_cuts + LANES), np.empty(n_cuts + LANES)
    for i in range(first_block * ROWS, min(len(X), last_block * ROWS)):
        n = np.uint64(0)
        for j in range(X.shape[1]):
            if wanted[i, j]:
                begin, n_own = np.uint64(first[j]), np.uint64(first[j + 1] - first[j])
                x, scale = X[i, j], scales[j]
                for k in range(n_own):
                    z = (threshold[begin + k] - x) / scale
                    t[n + k] = (-z if x <= lowered[begin + k] else z) / deviation
                n += n_own
        _below(t, powers, n)
        n = np.uint64(0)
        for j in range(X.shape[1]):
            if wanted[i, j]:
                begin, n_own = np.uint64(first[j]), np.uint64(first[j + 1] - first[j])
                for k in range(n_own):
                    out[i, begin + k] = t[n + k]
                n += n_own


@kernel(inner=True)
def _below(t, powers, n):
    """Replace each of the first n numbers by P(Z < t) of standard normal noise."""
    for i in range(n):
        x = abs(t[i] * HALF_ROOT)
        power = -x * x
        powers[i] = 0.0 if power < -MOST else math.exp(power)
    lanes = np.uint64(LANES)
    whole = (n + lanes - np.uint64(1)) // lanes * lanes
    for i in range(whole):
        x = t[i] * HALF_ROOT
        z, square = min(abs(x), FARTHEST), x * x
        near, far = z < 1.0, z >= FAR
        p = P0 * z + P1
        p = ((((((p * z + P2) * z + P3) * z + P4) * z + P5) * z + P6) * z + P7) * z + P8
        q = ((((z + Q0) * z + Q1) * z + Q2) * z + Q3) * z + Q4
        q = ((q * z + Q5) * z + Q6) * z + Q7
        r = ((((R0 * z + R1) * z + R2) * z + R3) * z + R4) * z + R5
        s = (((((z + S0) * z + S1) * z + S2) * z + S3) * z + S4) * z + S5
        e = (((T0 * square + T1) * square + T2) * square + T3) * square + T4
        f = ((((square + U0) * square + U1) * square + U2) * square + U3) * square + U4
        above = x * e if near else powers[i] * (r if far else p)
        below = f if near else (s if far else q)
        half = 0.5 * (above / below)
        t[i] = 0.5 + half if near else (1.0 - half if x > 0.0 else half)
