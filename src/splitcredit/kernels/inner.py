"""The compilers of kernels and of inner functions, which do each step of the work once.

Numba optimizes each function and makes machine code of it. A caller takes in the code before these
steps, and goes through them again with its own. Nothing ever runs the machine code of an inner
function itself, so its compiler leaves these steps out. So it does for numba's own functions, such
as `np.empty`, when a kernel calls them, where numba would also make two entries for each.

Loops of a kernel are made vector instructions of the widest kind, but are not unrolled after that:
it doubles the machine code, which takes time to make, and the kernels are not quicker for it.

References to arrays are counted only where it is necessary (`references`), and two of numba's
passes are left out, as they have nothing to do (see `_is_needed`).
"""

from __future__ import annotations

import contextlib
import gc
import inspect

import llvmlite.binding as llvm
import numba
from numba.core import types
from numba.core.base import BaseContext
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import IRLegalization, NativeLowering, NopythonRewrites
from numba.core.types.functions import BaseFunction
from numba.core.typing.templates import _OverloadFunctionTemplate as Overloads
from numba.core.untyped_passes import InlineClosureLikes

from splitcredit.kernels.references import Legalization

# Bytes in a line of the caches, and in the widest vector of today's processors. Vectors of an array
# that begins elsewhere lie in two lines each, which takes up to twice as long.
LINE = 64
# An attribute of functions, and what a processor must have for it: Intel's do since Ice Lake, AMD's
# since Zen 4. Earlier ones lower their clock when they use such vectors.
WIDE_VECTORS, WITH_WIDE_VECTORS = '"prefer-vector-width"="512"', "+avx512vbmi2"
# Options of numba's decorator for functions that Python never calls.
NO_ENTRIES = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class WideLibrary(JITCodeLibrary):
    """Code whose loops use the widest vectors of the processor.

    LLVM takes half of them on processors of Intel, as the earliest ones with such vectors run at a
    lower clock meanwhile. The width has no influence on results: no sum is made in vectors.
    """

    def add_ir_module(self, ir_module):
        """Add functions; llvmlite writes each attribute as it is, but knows none with a value."""
        if WITH_WIDE_VECTORS in self._codegen._tm_features.split(","):
            for function in ir_module.functions:
                set.add(function.attributes, WIDE_VECTORS)
        super().add_ir_module(ir_module)


class KernelLibrary(WideLibrary):
    """The code of a kernel, with all that it calls."""

    def _optimize_final_module(self):
        codegen, module = self._codegen, self._final_module
        # As numba does: a short way first, so that references are counted in one function.
        passes, builder = codegen._module_pass_manager(
            loop_vectorize=False, slp_vectorize=False, opt=0, cost="cheap"
        )
        passes.run(module, builder)
        options = llvm.create_pipeline_tuning_options(int(numba.config.OPT))
        options.loop_vectorization = bool(numba.config.LOOP_VECTORIZE)
        options.slp_vectorization = bool(numba.config.SLP_VECTORIZE)
        options.loop_unrolling = False
        builder = llvm.create_pass_builder(codegen._tm, options)
        passes = builder.getModulePassManager()
        passes.add_refprune_pass()
        passes.run(module, builder)


class _NoEnvironments:
    """The code generator of an inner function, which has no place in memory."""

    def __init__(self, codegen):
        self._codegen = codegen

    def __getattr__(self, name):
        return getattr(self._codegen, name)

    def set_env(self, env_name, env):
        """Do nothing: `set_environments` does it for the kernel."""


class InnerLibrary(WideLibrary):
    """Code that is linked into that of kernels."""

    @property
    def codegen(self):
        """The code generator."""
        return _NoEnvironments(self._codegen)

    def get_pointer_to_function(self, name):
        """Address 0: there is no machine code."""
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(NativeLowering):
    """Lowers a kernel into a library of its own kind."""

    _name = "kernel_lowering"

    def run_pass(self, state):
        """Lower the function of this state."""
        state.library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().run_pass(state)


@register_pass(mutates_CFG=True, analysis_only=False)
class InnerLowering(NativeLowering):
    """Lowers an inner function into a library of its own kind."""

    _name = "inner_lowering"

    def run_pass(self, state):
        """Lower the function of this state."""
        context = state.targetctx
        state.library = InnerLibrary(context.codegen(), state.func_id.func_qualname)
        state.targetctx = context.subtarget(enable_nrt=state.metadata["counts_references"])
        try:
            return super().run_pass(state)
        finally:
            state.targetctx = context


class KernelCompiler(Compiler):
    """The compiler of kernels."""

    lowering, is_inner = KernelLowering, False

    def compile_extra(self, func):
        """Compile a function, and what it calls as inner functions."""
        with _no_garbage_collection(), _inner_overloads():
            return super().compile_extra(func)

    def define_pipelines(self):
        """Numba's own passes, with ours in the place of two, and without those not needed."""
        ours = {NativeLowering: self.lowering, IRLegalization: Legalization}
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            for numbas, replacement in ours.items():
                pipeline.add_pass_after(replacement, numbas)
            pipeline.passes = [each for each in pipeline.passes if self._is_needed(each[0])]
            pipeline.finalize()
        return pipelines

    def _is_needed(self, step):
        """Whether a pass is needed.

        Numba's rewrites after the inference of types fuse operations on whole arrays. Kernels write
        loops instead: without these rewrites each such operation makes an array. Closures can be in
        no function whose code holds no other code.
        """
        if step is InlineClosureLikes:
            return any(inspect.iscode(each) for each in self.state.func_id.code.co_consts)
        return step not in (NativeLowering, IRLegalization, NopythonRewrites)


class ParallelCompiler(KernelCompiler):
    """The compiler of parallel kernels, as numba compiles its own parallel loops."""

    def define_pipelines(self):
        """The passes of kernels, which may assume that arrays share no memory with each other."""
        self.state.flags.noalias = True
        return super().define_pipelines()


class InnerCompiler(KernelCompiler):
    """The compiler of inner functions."""

    lowering, is_inner = InnerLowering, True


class ApartCompiler(InnerCompiler):
    """The compiler of inner functions that are given arrays which share no memory."""

    def define_pipelines(self):
        """The passes of inner functions, which may assume so."""
        self.state.flags.noalias = True
        return super().define_pipelines()


@contextlib.contextmanager
def _no_garbage_collection():
    """The compiler makes very many objects that live until it has done; searching them is slow."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


# Numba's own steps, which ours take the place of while a kernel is compiled.
_DECORATOR, _IMPLEMENTATION = Overloads._get_jit_decorator, Overloads._get_impl
_CALL_TYPE = BaseFunction.get_call_type
_ALIGNMENT = BaseContext.get_preferred_array_alignment
_SIGNATURES = {}


def _inner_decorator(template):
    jit = _DECORATOR(template)
    return lambda **options: jit(**{**NO_ENTRIES, "pipeline_class": InnerCompiler, **options})


def _shared_implementation(template, args, kws):
    flags = ConfigStack().top().copy()
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.release_gil = flags.noalias = False
    with ConfigStack().enter(flags):
        return _IMPLEMENTATION(template, args, kws)


def _kept_signature(function, context, args, kws):
    if kws or not all(isinstance(kind, (types.Number, types.Boolean)) for kind in args):
        return _CALL_TYPE(function, context, args, kws)
    key = function, tuple(args)
    if key not in _SIGNATURES:
        _SIGNATURES[key] = _CALL_TYPE(function, context, args, kws)
    return _SIGNATURES[key]


def _line(context, kind):
    return LINE


@contextlib.contextmanager
def _inner_overloads():
    """Numba's own functions are inner functions, and are compiled once for all callers.

    Numba compiles and keeps one for each set of the options of the caller. Here all callers look
    it up with the same options, which no function of other libraries has. Numba's compiler holds a
    lock meanwhile, so no other library comes here.

    Signatures of operations on numbers are kept, too: numba tries all its templates at each call.
    And arrays begin with a line of the caches, where numba's begin with half of one.
    """
    if Overloads._get_impl is _shared_implementation:  # an inner function of a kernel
        yield
        return
    Overloads._get_jit_decorator = _inner_decorator
    Overloads._get_impl = _shared_implementation
    BaseFunction.get_call_type = _kept_signature
    BaseContext.get_preferred_array_alignment = _line
    try:
        yield
    finally:
        Overloads._get_jit_decorator, Overloads._get_impl = _DECORATOR, _IMPLEMENTATION
        BaseFunction.get_call_type = _CALL_TYPE
        BaseContext.get_preferred_array_alignment = _ALIGNMENT


def set_environments(compiled) -> None:
    """Tell the machine code of a kernel where the objects of inner functions are.

    Parameters
    ----------
    compiled : CompileResult
    """
    for environment in compiled._find_referenced_environments():
        compiled.library.codegen.set_env(environment.env_name, environment)
