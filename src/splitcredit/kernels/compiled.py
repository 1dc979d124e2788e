"""The decorator of every kernel: numba's, with a cache that cannot go stale.

A kernel is called from Python, and is compiled when it is first called; its machine code is kept in
files (`machine_code`). An inner function is called by kernels only, and becomes a part of theirs.
"""

from __future__ import annotations

import contextlib
from functools import cached_property

import numba
from numba.core import types

from splitcredit.kernels import notice
from splitcredit.kernels.inner import (
    NO_ENTRIES,
    ApartCompiler,
    InnerCompiler,
    KernelCompiler,
    ParallelCompiler,
)
from splitcredit.kernels.machine_code import MachineCode, cache_directory
from splitcredit.kernels.portions import in_portions

__all__ = ["cache_directory", "kernel", "threads"]

if numba.config.DISABLE_JIT:
    raise RuntimeError(
        "NUMBA_DISABLE_JIT is set, but splitcredit needs numba's compiler: unset it before Python "
        "starts"
    )


@contextlib.contextmanager
def threads(number: int):
    """Run the kernels in the block on so many threads."""
    before = numba.get_num_threads()
    numba.set_num_threads(number)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def kernel(
    parallel: bool = False,
    inner: bool = False,
    inline: bool = False,
    views: bool = False,
    apart: bool = False,
):
    """Compile the decorated function in nopython mode, without fastmath, and keep the code.

    Parameters
    ----------
    parallel : bool
        Whether threads share its work. The parameters of the function begin with ``first, last``,
        the pieces of work that it is to do. It is called from Python with the number of pieces in
        place of the two. Pieces write to different places, and the function returns nothing.
    inner : bool
        Whether other kernels call it, and Python as good as never. It is compiled as a part of
        them.
    inline : bool
        Like `inner`, but put into its callers before types are inferred: where LLVM would not
        inline a call that costs more than the work, or the argument is of several types.
    views : bool
        Whether a parallel kernel makes views of arrays that it writes to. If it makes none, the
        compiler may assume that these arrays share no memory with others.
    apart : bool
        Whether the arrays that an inner function is given share no memory with each other, so that
        the compiler need not ask whether they do.
    """

    def decorate(function):
        if inline:
            return numba.njit(inline="always")(function)
        if inner:
            return _Inner(function, ApartCompiler if apart else InnerCompiler)
        if parallel:
            # As numba compiles the bodies of its own parallel loops: a division by zero gives
            # infinity or NaN, without a check that would keep loops from vector instructions.
            compiler = KernelCompiler if views else ParallelCompiler
            return _Parallel(_entry(function, compiler, error_model="numpy"))
        return _entry(function)

    return decorate


def _entry(function, compiler=KernelCompiler, **options):
    """Numba's dispatcher of a function that Python calls."""
    # No kernel is passed to another as an argument, so it needs no entry for C.
    options |= {"nogil": True, "no_cfunc_wrapper": True, "pipeline_class": compiler}
    dispatcher = numba.njit(**options)(function)
    dispatcher._cache = MachineCode(dispatcher)
    notice.listen()
    return dispatcher


class _Inner:
    """A function without an entry for Python, which it gets if Python calls it after all."""

    def __init__(self, function, compiler):
        self.py_func = function
        self.dispatcher = numba.njit(pipeline_class=compiler, **NO_ENTRIES)(function)
        self._template = self.dispatcher.get_call_template
        self.dispatcher.get_call_template = self._template_of_types
        # Numba takes an object with this attribute for what it wraps.
        self._numba_type_ = self.dispatcher._numba_type_

    def _template_of_types(self, arguments, keywords):
        """The types that numba compiles for: a literal number has the type of any other number."""
        keywords = {name: types.unliteral(kind) for name, kind in keywords.items()}
        return self._template([types.unliteral(kind) for kind in arguments], keywords)

    @cached_property
    def _for_python(self):
        return _entry(self.py_func)

    def __call__(self, *arguments):
        return self._for_python(*arguments)


class _Parallel:
    """A kernel whose pieces of work are shared by threads."""

    def __init__(self, dispatcher):
        self.py_func, self.dispatcher = dispatcher.py_func, dispatcher

    def __call__(self, n_pieces, *arguments):
        if n_pieces == 1:
            self.dispatcher(0, 1, *arguments)
        else:
            in_portions(self.dispatcher, n_pieces, arguments)

    def for_types_of(self, *arguments):
        """The compiled function for the types of these arguments, which begin with ``first, last``.

        It does not look at the types again, which takes as long as little work. So it must be given
        arguments of these very types.
        """
        return self.dispatcher.compile(tuple(map(self.dispatcher.typeof_pyval, arguments)))

    def is_ready(self, *arguments) -> bool:
        """Whether there is machine code: in memory for any arguments, or for such ones in a file.

        Kernels that are asked have arguments of one set of types, and to find out the types takes
        as long as little work.
        """
        if self.dispatcher.overloads:
            return True
        kinds = types.int64, types.int64, *map(self.dispatcher.typeof_pyval, arguments)
        return self.dispatcher._cache.path(kinds).exists()
