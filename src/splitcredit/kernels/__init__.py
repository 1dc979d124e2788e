"""Compiled loops: numba only, no input or output.

There are six wings. Each is a folder whose ``__init__.py`` is a guide: the idea, the symbols and
the papers that they come from, the files in the order in which to read them, and the measured gain
of each file that exists for speed alone. Begin there.

- `walks`: rows that go down trees (prediction, Saabas, MDI, out-of-bag sums, MDA, SAGE);
- `tree_shap`: path-dependent TreeSHAP;
- `interventional`: TreeSHAP against a background;
- `interactions`: Shapley interaction values of pairs and larger sets;
- `prediction_gap`: the squared prediction gap, exactly and by sampling;
- `readers`: what libraries write of their models, for converters.

Files shared by the wings: `compiled` (the decorator of every kernel, which is numba's, and
threads), `nodes` (trees packed for walking, and results kept per forest), `cache` (large ones,
within a bound on memory), `error_free` (sums and products without rounding errors), `leaf_means`
(what lies below each node, for converters too), `results` (the array that chunks of rows are
written to).

A kernel that runs on several threads has pieces of work: blocks of rows, or trees. It is given the
first and the last piece to do, and each piece has a part of the output of its own. No sum is shared
between threads, so results do not depend on their number.
"""
