"""The squared prediction gap PG^2 of gajewski2025: exactly, by sampling, and greedy rankings.

**The idea.** PG^2 of a row x and a set S of features is E[(f(x) - f(x'))^2], where x' is x with
noise on the features in S (Eq. 2). A forest is a sum over leaves, so PG^2 is a sum over pairs of
leaves (u, v) of the probability that x' is in both, times g_u g_v, where g is the value of a leaf
less the value of the leaf of the same tree that x is in. The base and f(x) never appear, so nothing
large cancels. Features are perturbed independently, so the probability is a product over the
features of probabilities of intervals. For each leaf v, the sum over the leaves u of another tree
is worked out from its leaves up to its root. The paper's own Algorithm 1 divides by probabilities
that can be 0; here no such division is made. Of every threshold one number is kept: the probability
that the perturbed value lies on the other side of it than x. It is small where the noise is small,
so no small number is a difference of numbers near 1. The derivation is in `exact`.

**Symbols**, in the code and in `exact`.

===========  ==================================================================================
x, x'        the row, and the row with noise on the features of S (``chosen``)
u, v         leaves of two trees
g_u          value of leaf u less that of the leaf of the same tree that x is in (``gap``)
P(u, v)      probability that x' is in both leaves
cut          a distinct pair of feature and threshold of the forest
tail         probability that the perturbed value lies on the other side of a cut than x
side         the interval of one feature of a node, from one cut to another
mass_below   number that splits an interval around x in a part below x and a part above x
PGI^2        mean of PG^2 over the first k features of a ranking, k = 1 ... d (Eq. 3)
===========  ==================================================================================

**The files**, in the order in which to read them.

- `gap_forest` builds, once for a forest and an output, what depends on no row: splits, leaves with
  their intervals, and all cuts (`GapForest`). It is kept as long as the forest lives.
- `normal_tails` works out the tails of normal noise. Those of other noise are made with numpy, in
  `splitcredit.prediction_gap`.
- `exact` is the algorithm: it adds up the pairs of leaves.
- `reached_leaves` lists the leaves that x' can reach, without those that are too improbable to
  change the last digit.
- `leaf_lists` lists the nodes above them that matter, and holds the working memory of a thread.
- `shares` holds its innermost loops: the probabilities of all sides of a feature, once a row, and
  the share of each leaf's interval that a node of another tree covers, for 256 leaves at a time.
- `double_double` repeats the sum with twice the digits. It is used only where trees cancel each
  other nearly completely, so that the plain sum would keep few digits.
- `single_precision` works out the gap as the authors' program does, with its rounding and so with
  its many ties. It exists to tell how far the precision decides a printed ranking.
- `sampling` estimates the same gap, or its absolute form in OpenXAI's PGI, from samples of noise.
  It exists for the paper's comparison of exact and sampled values.
- `restricted_trees` makes `sampling` fast. Splits on features that do not move are decided once, by
  x; what remains of the trees is mostly shallow and is evaluated on blocks of samples without
  jumps. A sampled gap of all features is 5.2 times as fast as the same predictions by XGBoost
  (``docs/benchmarks.md``).

**Arrays.** X is float64 (n_samples, n_features), not NaN where a feature is chosen; ``chosen`` and
``perturbed`` are bool (n_pairs, n_features), ``rows`` and ``streams`` int64 (n_pairs,), and
``tails`` float64 (n_samples, n_cuts + 2). ``scale`` is float64 (n_features,), what noise is
multiplied by. The ``pool`` of noise is float32 (n_streams, n_columns, n_available), column j for
the j-th perturbed feature; ``counts`` are int64, rising. A gap is float64 (n_pairs,), a sampled one
(n_pairs, n_counts).
"""
