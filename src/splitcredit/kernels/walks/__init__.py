"""Follow rows down trees and read something off at every node.

**The idea.** A row x enters a tree at its root. At an inner node t that tests feature m with
threshold c it goes to the left child if x_m <= c, else to the right one; NaN goes where the model
sends it. Most measures here are sums over the nodes that x meets. A walk takes a block of rows down
one tree together, one level in each pass. The steps of different rows do not wait for one another,
so the processor overlaps their memory accesses: with its additions, such a walk is 1.2 to 2.4 times
as fast as scikit-learn's ``apply`` alone (``docs/benchmarks.md``). Inner nodes are packed into
records, of which the walks of a forest share one copy (`kernels.nodes`). The choice of a child is
arithmetic, and what the step to it is worth is looked up at the child: as jumps, both would be
mispredicted every other time.

**Symbols.** They are those of sutera2021 unless another paper is named.

==============  ====================================================================
t, t_x          a node, and the child of it that x goes to
i(t)            impurity of the node: ``forest.impurity``
p(t)            share of the training rows at the node: ``cover[t] / cover[root]``
value(t)        mean target, or class fractions, of the training rows at the node
T, n_T          a tree, and the number of trees
f_{T,k}(x)      Saabas' value of feature k in tree T; CFC in loecher2022
v_in, v_oob     impurity of in-bag and of out-of-bag rows at a node (loecher2022)
alpha, lambda   mixture and penalty of the penalized Gini score PG (loecher2022, Eq. 1)
==============  ====================================================================

**The files**, in the order in which to read them.

- `predict` adds the value of the leaf over the trees. It is the plainest walk: read it first.
- `path_sums` adds what each step from t to t_x is worth to the feature tested at t.
- `saabas` takes value(t_x) - value(t) for it: Saabas' method, the "path" method of lundberg2017.
  One function explains all outputs, another one output for each row. With a mask each tree explains
  only its in-bag or only its out-of-bag rows: CFC_in and CFC_oob of loecher2022.
- `mdi` takes i(t) - i(t_x) instead: local MDI (sutera2021, Definition 1 and Eq. 8). Global MDI
  (Eq. 2) needs no rows, but covers and impurities, tree by tree. The mean of local MDI over the
  training rows equals it (Eq. 9).
- `oob` takes every training row to its leaf once, and adds children to parents, with in-bag and
  out-of-bag rows apart. Every score of loecher2022 is arithmetic on these sums (`penalized_gini`,
  Eq. 1 to 5; `contributions_times_targets`, Eq. 8 and 10), so a forest is walked once for all.
- `mda` permutes one feature at a time among the out-of-bag rows of a tree (Breiman 2001). A row
  whose path does not test the feature keeps its leaf and is not walked again.
- `sage` gives predictions of a forest that knows only the features in S: the function f_S of SAGE
  (Covert et al. 2020), for many pairs of a row and a set at once. A forest cannot tell values
  between two thresholds apart, so the inputs form a grid. Where the grid is small, each cell is
  predicted once and looked up from then on.
- `partial_dependence` takes rows and the values of a grid down a tree together (Friedman 2001,
  Section 8.2): splits on the studied features part the grid, all others the rows.
- `background_masks` gives them where the grid is large: all rows of the background go down a tree
  together, as sets of bits, once for all steps of a permutation. Of scores of classes it gives the
  mean of their softmax.

**Arrays.** Prepared rows are (n_samples, n_columns) in the `x_dtype` of the forest, read-only.
Credits and values by node are float64 (n_nodes, ...) in the order of `inner_first`. Targets y are
int64 classes or float64 numbers (n_samples,). For SAGE, ``rows`` are int64 (n_pairs,), ``known`` is
bool (n_pairs, n_features) and ``ranks``, the place of each feature in the order in which they
become known, int64 of the same shape. ``permutations(tree, n)`` of MDA gives int64 (n_features, n):
out-of-bag row a gets the value of row ``[k, a]`` in feature k.
"""
