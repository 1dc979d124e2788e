"""Where numba keeps the machine code of the kernels: a folder for each state of their sources.

Numba notices an edit in the file of a kernel, but none in the functions of other files that it
calls. So an edit of any kernel takes another folder, where all are compiled anew.

Code that numba finds is run, so nobody else may write to the folder.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from importlib.util import find_spec
from pathlib import Path


def choose() -> None:
    """Set NUMBA_CACHE_DIR to a folder within it, or within the user's; before numba is imported.

    SystemExit with one line if the folder cannot be made, or is not the user's alone.
    """
    kernels = Path(find_spec("splitcredit").origin).parent / "kernels"
    name = digest(kernels)
    user = os.environ.get("XDG_CACHE_HOME", "")
    # Its specification ignores relative paths.
    user = user if os.path.isabs(user) else os.path.expanduser("~/.cache")
    base = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(user, "splitcredit", "numba"))
    if base.name != name:  # it is, where a job starts another process
        base /= name
    try:
        _make_private(base)
    except OSError as error:
        sys.exit(f"{error.filename or base}: {error.strerror}: {_REMEDY}")
    os.environ["NUMBA_CACHE_DIR"] = str(base)


def digest(kernels: Path) -> str:
    """The name of the folder for these kernels."""
    sources = b"".join(path.read_bytes() for path in sorted(kernels.rglob("*.py")))
    return hashlib.sha256(sources).hexdigest()[:16]


_REMEDY = "set NUMBA_CACHE_DIR to a folder of your own for compiled code"


def _make_private(folder):
    """Make a folder and those above it, and see that only the user can write to it."""
    before = os.umask(0o077)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    finally:
        os.umask(before)
    for path in (folder, folder.parent):
        found = path.stat()
        if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
            sys.exit(f"{path} belongs to another user, whose code would be run: {_REMEDY}")
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            sys.exit(
                f"others can write to {path}, and the code that is found there is run: "
                f"chmod go-w it, or {_REMEDY}"
            )
