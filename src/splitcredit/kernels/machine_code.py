"""Files of machine code, one for each kernel and the types of its arguments.

Numba's own cache notices an edit only in the file of the function that is called, not in one that
it calls, and takes a comment for an edit. So a file is named after a digest of all that its machine
code is made of: the kernel and the functions that it calls, directly or not, the constants that
they read, and the types. Files lie in a folder named after the versions, the processor and the
compilers of this package.

A file is written under another name first, so processes that write the same one at the same time do
not meet.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import sys
import uuid
import warnings
from functools import cache
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm
import numba
import numpy
from numba.core import types
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from splitcredit.kernels.closures import digest_of
from splitcredit.kernels.inner import set_environments


@cache
def cache_directory() -> Path:
    """Folder of the compiled code, below NUMBA_CACHE_DIR or the user's cache folder."""
    processor = f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
    versions = numba.__version__, llvmlite.__version__, numpy.__version__, sys.version_info[:2]
    options = numba.config.OPT, numba.config.LOOP_VECTORIZE, numba.config.SLP_VECTORIZE
    text = f"{versions} {options} {numba.config.CPU_NAME} {numba.config.CPU_FEATURES} {processor}"
    text += _compilers(Path(__file__).parent)
    home = os.path.expanduser("~")
    if home == "~":
        # The user has no home: the current folder, of which "~" would be a part, may be anybody's.
        # No folder can be made below the null device, so nothing is kept, and a warning says so.
        home = os.devnull
    user = os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    base = numba.config.CACHE_DIR or os.path.join(user, "splitcredit", "numba")
    return Path(base) / hashlib.sha256(text.encode()).hexdigest()[:16]


def _compilers(folder):
    """Digest of the modules that say how a kernel is compiled."""
    modules = [folder / f"{name}.py" for name in ("compiled", "inner", "references")]
    return hashlib.sha256(b"".join(module.read_bytes() for module in modules)).hexdigest()


class MachineCode(NullCache):
    """The files of one kernel, in the form of a cache that numba asks before it compiles.

    Parameters
    ----------
    dispatcher
        The kernel, as numba has it.
    """

    def __init__(self, dispatcher):
        self.dispatcher = dispatcher

    @property
    def cache_path(self):
        """The folder."""
        return str(cache_directory())

    def path(self, argument_types) -> Path:
        """The file for some types of the arguments."""
        text = hashlib.sha256(digest_of(self.dispatcher).encode())
        for kind in argument_types:
            text.update(_described(kind).encode())
        function = self.dispatcher.py_func
        module = function.__module__.rpartition(".")[2]
        name = f"{module}.{function.__name__}-{text.hexdigest()[:24]}.code"
        return cache_directory() / name

    def load_overload(self, sig, target_context):
        """The compiled kernel for these types; None if there is no sound file of it."""
        try:
            data = self.path(sig).read_bytes()
        except OSError:
            return None
        # Counting of references is all that machine code needs of numba. What the compiler needs
        # as well takes longer to load than all else.
        rtsys.initialize(target_context)
        check, data = data[:32], data[32:]
        if hashlib.sha256(data).digest() != check:
            return None
        return CompileResult._rebuild(target_context, *pickle.loads(data))

    def save_overload(self, sig, data):
        """Write a compiled kernel; without a folder that can be written, warn once."""
        set_environments(data)  # numba calls this as soon as a kernel is compiled
        if data.library.has_dynamic_globals:
            return
        path, code = self.path(sig), dumps(data._reduce())
        own = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            own.write_bytes(hashlib.sha256(code).digest() + code)
            os.replace(own, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                own.unlink()
            _warn_once(str(error))  # which is an error itself where warnings are


@cache
def _warn_once(error):
    warnings.warn(
        f"compiled code cannot be kept ({error}), so every process compiles anew: set "
        "NUMBA_CACHE_DIR to a folder that can be written",
        stacklevel=2,
    )


def _described(kind) -> str:
    """A type with all that machine code depends on; numba leaves out the names of fields."""
    text = str(kind)
    if isinstance(kind, types.BaseNamedTuple):
        text += repr(kind.fields)
    if isinstance(kind, types.BaseTuple):
        text += "".join(_described(part) for part in kind)
    return text
