"""Where compiled functions count references to arrays.

Numba writes code that gives a reference back wherever a variable ends, for numbers too. Here only
the variables that hold references have such code. An inner function that works on nothing but the
arrays that it is given has none at all: its caller holds the references.
"""

from __future__ import annotations

from numba.core import ir, ir_utils, types
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.postproc import PostProcessor

# Expressions that give a part of their operands, or put operands together. All others may make new
# arrays.
_PARTS = {
    "getattr",
    "static_getitem",
    "build_tuple",
    "exhaust_iter",
    "cast",
    "getiter",
    "iternext",
    "pair_first",
    "pair_second",
}


@register_pass(mutates_CFG=False, analysis_only=False)
class Legalization(AnalysisPass):
    """Adds the ends of variables that hold references; numba's own pass adds those of all.

    Whether the function counts references is left in ``state.metadata["counts_references"]``. What
    Python calls always does.
    """

    _name = "kernel_legalization"

    def __init__(self):
        super().__init__()

    def run_pass(self, state):
        """Check the function of this state, and add the ends of its variables."""
        ir_utils.enforce_no_phis(state.func_ir)
        ir_utils.enforce_no_dels(state.func_ir)
        counts = not state.pipeline.is_inner or _makes_arrays(state)
        state.metadata["counts_references"] = counts
        if counts:
            PostProcessor(state.func_ir).run(emit_dels=True)
            for block in state.func_ir.blocks.values():
                block.body = [each for each in block.body if not _is_idle(state, each)]
        return True


def _makes_arrays(state):
    """Whether a function returns references, or has some that are not of its arguments."""
    if _holds_references(state, state.return_type):
        return True
    return any(
        _holds_references(state, state.typemap[each.target.name])
        for block in state.func_ir.blocks.values()
        for each in block.find_insts(ir.Assign)
        if isinstance(each.value, ir.Expr) and not _is_part(state, each.value)
    )


def _holds_references(state, kind):
    return state.targetctx.data_model_manager[kind].contains_nrt_meminfo()


def _is_idle(state, statement):
    """Whether a statement ends the life of a variable that holds no reference."""
    if not isinstance(statement, ir.Del):
        return False
    kind = state.typemap.get(statement.value)
    return kind is None or not _holds_references(state, kind)


def _is_part(state, expression):
    """Whether an expression is a part of its operands, such as a view of an array."""
    if expression.op == "getitem":
        index = state.typemap[expression.index.name]
        kinds = index.types if isinstance(index, types.BaseTuple) else (index,)
        return all(isinstance(kind, (types.Integer, types.SliceType)) for kind in kinds)
    return expression.op in _PARTS
