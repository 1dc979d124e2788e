"""Compute the shares of children for each row of a block, for `pair_blocks`.

A node of `pair_blocks` needs its shares as often as there are features above it, so they are kept
in its frame, behind A of the same points.
"""

from __future__ import annotations

from splitcredit.kernels.compiled import kernel

# Rows in one block: fewer than for single features, as a node holds more of each row.
LANES = 128


@kernel(inner=True)
def write_shares(above, ratio, d, g, lanes, lane_data, high, low, frames):
    """Write q of rows that go first and of the others; the ratio where they have left (o = 0)."""
    b0, b1, b2 = low
    a0, a1, a2 = high[0] - b0, high[1] - b1, high[2] - b2
    for lane in range(lanes):
        s, o = lane_data[1, d, lane], lane_data[0, above, lane] > 0
        frames[d, g, 3 * LANES + lane] = b0 + s * a0 if o else ratio
        frames[d, g, 4 * LANES + lane] = b1 + s * a1 if o else ratio
        frames[d, g, 5 * LANES + lane] = b2 + s * a2 if o else ratio


@kernel(inner=True)
def pass_weights(d, g, lanes, is_first, frames, children):
    """Compute A of a child."""
    for lane in range(lanes):
        q0, q1 = frames[d, g, 3 * LANES + lane], frames[d, g, 4 * LANES + lane]
        q2 = frames[d, g, 5 * LANES + lane]
        a0, a1 = frames[d, g, lane], frames[d, g, LANES + lane]
        a2 = frames[d, g, 2 * LANES + lane]
        children[d + 1, g, lane] = a0 * (q0 if is_first else 1.0 - q0)
        children[d + 1, g, LANES + lane] = a1 * (q1 if is_first else 1.0 - q1)
        children[d + 1, g, 2 * LANES + lane] = a2 * (q2 if is_first else 1.0 - q2)
