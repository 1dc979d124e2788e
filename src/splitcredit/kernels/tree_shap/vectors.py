"""Eight rows of a table turned to columns in registers, for `outcome_tables`.

It is written in the language of LLVM, as the compiler does not exchange rows and columns of its own
accord. It holds for any processor: one without vectors of eight numbers takes fewer at a time.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from splitcredit.kernels.compiled import kernel

# Numbers in a row of a table, and rows taken together.
EIGHT = 8


@intrinsic
def _add_eight(typing, table, start, outcome, lane, place, first, n, phi):
    """Do what `add_rows` does, for eight lanes from `lane` on."""

    def lowered(context, builder, signature, arguments):
        integer = ir.IntType(64)
        vector, indices = ir.VectorType(ir.DoubleType(), 8), ir.VectorType(ir.IntType(32), 8)
        start, lane, first, n = (arguments[k] for k in (1, 3, 5, 6))
        table, outcome, place, phi = (
            context.make_array(signature.args[k])(context, builder, arguments[k])
            for k in (0, 2, 4, 7)
        )

        def element(array, at, offset):
            return builder.gep(array.data, [builder.add(at, offset)])

        def eight(array, at, offset):
            return builder.bitcast(element(array, at, offset), vector.as_pointer())

        def mixed(a, b, *chosen):
            """The chosen numbers of two vectors; those of the second count from 8."""
            return builder.shuffle_vector(a, b, ir.Constant(indices, chosen))

        rows = []
        for k in range(8):
            row = builder.zext(builder.load(element(outcome, lane, integer(k))), integer)
            pointer = eight(table, start, builder.mul(row, integer(8)))
            rows.append(builder.load(pointer, align=8))
        # Of two rows the even columns, and the odd ones.
        pairs = [(rows[k], rows[k + 1]) for k in range(0, 8, 2)]
        even = [mixed(*pair, 0, 8, 2, 10, 4, 12, 6, 14) for pair in pairs]
        odd = [mixed(*pair, 1, 9, 3, 11, 5, 13, 7, 15) for pair in pairs]
        # Of four rows columns 0 and 4, 1 and 5, 2 and 6, 3 and 7.
        fours = [(each[k], each[k + 1]) for k in (0, 2) for each in (even, odd)]
        low = [mixed(*four, 0, 1, 8, 9, 4, 5, 12, 13) for four in fours]
        high = [mixed(*four, 2, 3, 10, 11, 6, 7, 14, 15) for four in fours]
        eights = [*zip(low[:2], low[2:], strict=True), *zip(high[:2], high[2:], strict=True)]
        columns = [mixed(*both, 0, 1, 2, 3, 8, 9, 10, 11) for both in eights]
        columns += [mixed(*both, 4, 5, 6, 7, 12, 13, 14, 15) for both in eights]
        width = builder.extract_value(phi.shape, 1)
        for k, column in enumerate(columns):
            with builder.if_then(builder.icmp_signed(">", n, integer(k))):
                to = builder.mul(builder.load(element(place, first, integer(k))), width)
                pointer = eight(phi, to, lane)
                total = builder.fadd(builder.load(pointer, align=8), column)
                builder.store(total, pointer, align=8)
        return context.get_dummy_value()

    return types.void(table, start, outcome, lane, place, first, n, phi), lowered


@kernel(inner=True, apart=True)
def add_rows(table, start, outcome, lanes, place, first, n, phi):
    """Add number i of a row of the table to ``phi[place[first + i], lane]``, for i below n.

    Parameters
    ----------
    table : float64 (n_numbers,)
        From `start` on it has rows of `EIGHT` numbers.
    start : int
    outcome : uint8 (lanes,)
        The row that each lane takes.
    lanes : int
        A multiple of `EIGHT`.
    place : int64 (n_places,)
    first, n : int
        n is at most `EIGHT`.
    phi : float64 (n_rows, lanes or more)
    """
    for lane in range(0, lanes, EIGHT):
        _add_eight(table, start, outcome, lane, place, first, n, phi)
