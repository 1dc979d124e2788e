"""Compiled loops: numba only, one file an algorithm, no input or output.

Importing this package decides where the compiled code is cached: in a folder named after the
kernel sources, the versions and the processor. Numba itself notices an edit only in the file of
the function that is called, not in a function inlined from another file, and would then go on
with old machine code; a folder a version of the sources cannot go stale.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numba
import numpy


def _cache_directory() -> Path:
    text = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        text.update(source.name.encode() + source.read_bytes())
    processor = numba.config.CPU_NAME or _host_processor()
    text.update(f"{numba.__version__} {numpy.__version__} {processor}".encode())
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    base = numba.config.CACHE_DIR or os.path.join(cache, "splitcredit", "numba")
    return Path(base) / text.hexdigest()[:16]


def _host_processor() -> str:
    import llvmlite.binding as llvm

    return f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"


# Numba reads the folder when a function is decorated; other libraries keep their own.
_before = numba.config.CACHE_DIR
numba.config.CACHE_DIR = str(_cache_directory())
try:
    from splitcredit.kernels import (  # noqa: F401
        local_mdi,
        mdi,
        nodes,
        predict,
        saabas,
        tree_shap,
    )
finally:
    numba.config.CACHE_DIR = _before


def warm_up() -> None:
    """Compile every kernel, or load it from the cache, by a call on a toy forest."""
    import numpy as np

    from splitcredit.forest import Forest

    for x_dtype in ("float32", "float64"):
        stump = Forest(
            feature=[0, -1, -1],
            threshold=[0.5, 0, 0],
            left=[1, -1, -1],
            right=[2, -1, -1],
            missing_left=[False] * 3,
            value=[[0.5, 0.5], [1, 0], [0, 1]],
            cover=[2, 1, 1],
            impurity=[1, 0, 0],
            tree_offsets=[0, 3],
            feature_names=("x0",),
            output_names=("0", "1"),
            x_dtype=x_dtype,
        )
        X = stump.prepare(np.array([[0.0], [1.0]]))
        mdi.mdi_per_tree(stump)
        local_mdi.local_mdi(stump, X)
        predict.predict(stump, X)
        saabas.saabas(stump, X)
        tree_shap.tree_shap(stump, X)
