"""The compiler of inner functions, which stops before optimization and machine code.

Numba optimizes each function and makes machine code of it. A caller takes in the code before these
steps, and goes through them again with its own. Nothing ever runs the machine code of an inner
function itself, so the compiler here leaves these steps out.
"""

from __future__ import annotations

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class _NoEnvironments:
    """The code generator of an inner function, which has no place in memory."""

    def __init__(self, codegen):
        self._codegen = codegen

    def __getattr__(self, name):
        return getattr(self._codegen, name)

    def set_env(self, env_name, env):
        """Do nothing: `set_environments` does it for the kernel."""


class InnerLibrary(JITCodeLibrary):
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
class InnerLowering(NativeLowering):
    """Lowers a function into a library of its own kind."""

    _name = "inner_lowering"

    def run_pass(self, state):
        """Lower the function of this state."""
        state.library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().run_pass(state)


class ParallelCompiler(Compiler):
    """The compiler of parallel kernels, as numba compiles its own parallel loops."""

    def define_pipelines(self):
        """Numba's own passes, which may assume that arrays share no memory with each other."""
        self.state.flags.noalias = True
        return super().define_pipelines()


class InnerCompiler(Compiler):
    """The compiler of inner functions."""

    def define_pipelines(self):
        """Numba's own passes but one."""
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.add_pass_after(InnerLowering, NativeLowering)
            pipeline.passes = [one for one in pipeline.passes if one[0] is not NativeLowering]
            pipeline.finalize()
        return pipelines


def set_environments(compiled) -> None:
    """Tell the machine code of a kernel where the objects of inner functions are.

    Parameters
    ----------
    compiled : CompileResult
    """
    for environment in compiled._find_referenced_environments():
        compiled.library.codegen.set_env(environment.env_name, environment)
