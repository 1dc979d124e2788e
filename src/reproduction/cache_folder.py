"""Where numba keeps the machine code of the kernels: a folder for each state of their sources.

Numba notices an edit in the file of a kernel, but none in the functions of other files that it
calls. So an edit of any kernel takes another folder, where all are compiled anew.
"""

from __future__ import annotations

import hashlib
import os
from importlib.util import find_spec
from pathlib import Path


def choose() -> None:
    """Set NUMBA_CACHE_DIR to a folder within it, or within the user's; before numba is imported."""
    kernels = Path(find_spec("splitcredit").origin).parent / "kernels"
    sources = b"".join(path.read_bytes() for path in sorted(kernels.rglob("*.py")))
    digest = hashlib.sha256(sources).hexdigest()[:16]
    user = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    base = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(user, "splitcredit", "numba"))
    if base.name != digest:  # it is, where a job starts another process
        os.environ["NUMBA_CACHE_DIR"] = str(base / digest)
