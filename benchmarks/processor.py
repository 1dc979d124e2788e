"""What one core of this processor does at best: arithmetic, bytes and random reads a second.

Each number is that of a small compiled loop with nothing else in it, the best of some runs.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numba
import numpy as np

# Bytes of the memory that is read: within the first cache, the second, the third, and beyond.
SIZES = {"L1": 1 << 14, "L2": 1 << 19, "L3": 1 << 23, "memory": 1 << 28}
# Operations on one number, one behind the other: so few that others are worked on meanwhile.
CHAIN = 8
# Bytes of a cache line: arrays begin with one, so that no read is of two.
LINE = 64
RUNS = 7


@dataclass(frozen=True)
class Processor:
    """Numbers a second, of one core.

    Parameters
    ----------
    operations : float
        Additions and multiplications of float64: a fused multiply-add is two.
    additions, divisions : float
        Of float64.
    bytes : dict
        That are read one after the other, by the place of `SIZES` where they lie.
    reads : dict
        Of single float64 at random places that do not depend on each other.
    """

    operations: float
    additions: float
    divisions: float
    bytes: dict
    reads: dict

    @classmethod
    def measured(cls, sizes=None) -> Processor:
        """Measure it; `sizes` are those of `SIZES` in bytes."""
        sizes = SIZES if sizes is None else sizes
        x = _aligned(1024)
        return cls(
            2 * CHAIN * _rate(_multiply_adds, x),
            CHAIN * _rate(_additions, x),
            CHAIN * _rate(_divisions, x),
            {name: 8 * _rate(_sum, _aligned(size // 8)) for name, size in sizes.items()},
            {name: _reads(size) for name, size in sizes.items()},
        )

    def least(self, work) -> dict[str, float]:
        """Seconds that a `kernel_work.Work` takes at least, by what limits it."""
        arithmetic = work.operations / self.operations + work.divisions / self.divisions
        return {
            "arithmetic": arithmetic,
            "bytes": work.bytes / self.bytes[place_of(work.streamed)],
            "reads": sum(n / self.reads[place_of(table)] for n, table in work.reads),
        }


def place_of(size) -> str:
    """The place of `SIZES` where so many bytes lie: caches hold twice what is measured there."""
    return next((name for name, capacity in SIZES.items() if size <= 2 * capacity), "memory")


def _reads(size):
    values = _aligned(size // 8)
    places = np.random.default_rng(1).integers(len(values), size=min(1 << 20, 8 * len(values)))
    return _rate(_gathered, places.astype(np.int32), values)


def _aligned(n):
    """Ones, float64 (n,), the first at the begin of a cache line."""
    room = np.ones(n + LINE // 8)
    first = -room.ctypes.data % LINE // 8
    return room[first : first + n]


def _rate(loop, numbers, *arguments):
    """Numbers that the loop takes a second of CPU time."""
    repeats = max(1, (1 << 22) // len(numbers))
    loop(numbers, *arguments, 1)
    seconds = []
    for _ in range(RUNS):
        start = time.process_time()
        loop(numbers, *arguments, repeats)
        seconds.append(time.process_time() - start)
    return repeats * len(numbers) / min(seconds)


@numba.njit(fastmath={"contract"})
def _multiply_adds(x, repeats):
    total = 0.0
    for r in range(repeats):
        c = 1.0 + 1e-9 * r
        for i in range(len(x)):
            v = x[i]
            for _ in range(CHAIN):
                v = v * c + 0.5
            x[i] = v * 1e-9
        total += x[0]
    return total


@numba.njit
def _additions(x, repeats):
    total = 0.0
    for r in range(repeats):
        c = 1e-9 * r
        for i in range(len(x)):
            v = x[i]
            for _ in range(CHAIN):
                v = v + c
            x[i] = v
        total += x[0]
    return total


@numba.njit(error_model="numpy")
def _divisions(x, repeats):
    total = 0.0
    for r in range(repeats):
        c = 1.0 + 1e-9 * r
        for i in range(len(x)):
            v = x[i]
            for _ in range(CHAIN):
                v = c / v
            x[i] = v
        total += x[0]
    return total


@numba.njit(fastmath={"reassoc"})
def _sum(x, repeats):
    total = 0.0
    for r in range(repeats):
        part = 0.0
        for i in range(len(x)):
            part += x[i]
        total += part * r
    return total


@numba.njit(fastmath={"reassoc"})
def _gathered(places, values, repeats):
    total = 0.0
    for r in range(repeats):
        part = 0.0
        for i in range(len(places)):
            part += values[places[i]]
        total += part * r
    return total
