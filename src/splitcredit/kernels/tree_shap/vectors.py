"""Eight rows of eight numbers turned to columns, in registers.

They are written in the language of LLVM, as the compiler does not exchange rows and columns of its
own accord. They hold for any processor: one without vectors of eight numbers takes fewer at a time.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from splitcredit.kernels.compiled import kernel

# Numbers in a vector.
EIGHT = 8


@intrinsic
def exchange(typing, table, rows, to, at, stride):
    """Copy number i of row k to number k of column i, for i and k below `EIGHT`.

    Parameters
    ----------
    table : float64 array, C-contiguous
    rows : tuple of eight int
        Where the rows begin, counted in numbers from the beginning of the table.
    to : float64 array, C-contiguous
    at : int
        Where the first column begins.
    stride : int
        From the beginning of a column to that of the next.
    """
    if table.layout != "C" or to.layout != "C":
        return None

    def lowered(context, builder, signature, arguments):
        source, target = (
            context.make_array(signature.args[k])(context, builder, arguments[k]).data
            for k in (0, 2)
        )
        at, stride = arguments[3:]
        vectors = [_load(builder, source, builder.extract_value(arguments[1], k)) for k in range(8)]
        for column in _columns(builder, vectors):
            builder.store(column, _pointer(builder, target, at), align=8)
            at = builder.add(at, stride)
        return context.get_dummy_value()

    return types.void(table, rows, to, at, stride), lowered


@intrinsic
def _add_eight(typing, table, start, outcome, lane, place, first, n, phi):
    """Do what `add_rows` does, for eight lanes from `lane` on."""

    def lowered(context, builder, signature, arguments):
        integer = ir.IntType(64)
        start, lane, first, n = (arguments[k] for k in (1, 3, 5, 6))
        table, outcome, place, phi = (
            context.make_array(signature.args[k])(context, builder, arguments[k])
            for k in (0, 2, 4, 7)
        )

        def element(array, first, k):
            return builder.load(builder.gep(array.data, [builder.add(first, integer(k))]))

        rows = [builder.zext(element(outcome, lane, k), integer) for k in range(8)]
        starts = [builder.add(start, builder.mul(row, integer(8))) for row in rows]
        vectors = [_load(builder, table.data, at) for at in starts]
        width = builder.extract_value(phi.shape, 1)
        for k, column in enumerate(_columns(builder, vectors)):
            with builder.if_then(builder.icmp_signed(">", n, integer(k))):
                at = builder.add(builder.mul(element(place, first, k), width), lane)
                total = builder.fadd(_load(builder, phi.data, at), column)
                builder.store(total, _pointer(builder, phi.data, at), align=8)
        return context.get_dummy_value()

    return types.void(table, start, outcome, lane, place, first, n, phi), lowered


def _pointer(builder, data, at):
    """Pointer to eight numbers of an array."""
    eight = ir.VectorType(ir.DoubleType(), 8)
    return builder.bitcast(builder.gep(data, [at]), eight.as_pointer())


def _load(builder, data, at):
    """Eight numbers of an array; they may begin anywhere."""
    return builder.load(_pointer(builder, data, at), align=8)


def _columns(builder, rows):
    """The eight columns of eight rows."""
    indices = ir.VectorType(ir.IntType(32), 8)

    def mixed(pairs, *chosen):
        """The chosen numbers of each two vectors; those of the second count from 8."""
        mask = ir.Constant(indices, chosen)
        return [builder.shuffle_vector(*pair, mask) for pair in pairs]

    # Of two rows the even columns, and the odd ones.
    twos = [(rows[k], rows[k + 1]) for k in range(0, 8, 2)]
    even, odd = mixed(twos, 0, 8, 2, 10, 4, 12, 6, 14), mixed(twos, 1, 9, 3, 11, 5, 13, 7, 15)
    # Of four rows columns 0 and 4, and 1 and 5; then 2 and 6, and 3 and 7.
    fours = [(each[k], each[k + 1]) for k in (0, 2) for each in (even, odd)]
    low, high = mixed(fours, 0, 1, 8, 9, 4, 5, 12, 13), mixed(fours, 2, 3, 10, 11, 6, 7, 14, 15)
    eights = [(each[k], each[k + 2]) for each in (low, high) for k in (0, 1)]
    return mixed(eights, 0, 1, 2, 3, 8, 9, 10, 11) + mixed(eights, 4, 5, 6, 7, 12, 13, 14, 15)


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
