"""Interventional TreeSHAP: Shapley values of trees against a background of rows.

**The idea.** The value of a set S is the mean, over the rows z of a background, of the prediction
at the mixture of x (features in S) and z (the others), as in Lundberg et al. 2020. One leaf and one
pair (x, z) make a small game. Merge the path to the leaf to one condition per feature. A mixture
reaches the leaf if S holds every feature whose condition only z fails and none whose condition only
x fails. The Shapley values of this game are closed formulas of the two numbers of such features.
They depend on x and z only by the conditions that each fails. So background rows that fail the same
conditions of a leaf are counted as one, and rows to explain that fail the same conditions are
worked out once (the idea of counted patterns: Nadel and Wettenstein 2026, Woodelf). The derivation
is in `explain`.

**Symbols**, in the code and in `explain`.

=============  ================================================================================
v              value of a leaf for one output
x, z           a row to explain and a row of the background; ``XT`` and ``ZT`` hold them
               transposed, one feature in each row
condition      an interval of one feature on the path to a leaf, and whether NaN is inside
pattern        the set of conditions of a leaf that a row fails, one bit each
P, b           pattern of x, and how many features it has that z does not fail
Q, a           pattern of z, and how many features it has that x does not fail
n(Q)           number of background rows with pattern Q
weights[b, a]  (a - 1)! b! / (a + b)!
outcome        the decisions of a row at all nodes of a group of leaves, one bit each
=============  ================================================================================

**The files**, in the order in which to read them.

- `explain` is the entry. It holds the derivation, and `leaf_routes` assigns each leaf to one of the
  three algorithms below by the tree alone, so that the numbers of a row do not depend on the rows
  beside it.
- `failed_conditions` is the base. It merges paths, finds the patterns of all rows, counts those of
  the background, and adds up the shares of each pattern. It takes leaves with up to 64 features on
  their paths.
- `category_paths` makes one column for the subsets of categories that a path asks a feature for.
- `decision_tables` joins the leaves of a small subtree, four or more with at most 8 decisions on
  all paths together, into one group. It tabulates the attributions of every outcome that occurs; a
  row then costs one look-up for each group, instead of one for each leaf.
- `leaf_pairs` takes pairs (x, z) one by one. It exists because a pattern has room for 64
  conditions: without it, trees with more features on a path could not be explained.
- `rescaled` gives each pair (x, z) a factor of its own, for predictions that go through a curve. It
  gathers the background by pattern as `failed_conditions` does, and takes the rows one by one.

**Arrays.** ``XT`` and ``ZT`` are float64 (n_columns, n_samples) and (n_columns, n_background);
``value`` is float64 (n_nodes, k) for the outputs that are explained. ``edges`` are records
(n_nodes,) of how each node is entered (`explain._edges`). ``tasks`` are int64 (n_tasks, 4): the
first and last row of a block, and the first and last column of ``value`` that it wants. ``weights``
are float64 (most + 1, most + 1), ``factors`` float64 (n_samples, n_background), and sums are added
to ``out``, float64 (n_features, n_wanted, n_samples).
"""
