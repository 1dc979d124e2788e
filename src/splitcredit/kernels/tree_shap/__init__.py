"""Path-dependent TreeSHAP: exact Shapley values of trees, by quadrature.

**The idea.** lundberg2017 explains the expectation of a tree when only the features of a set S are
known: at a split on an unknown feature both children are followed, weighted by their covers
(Algorithm 1). The Shapley value of feature j (Eq. 2) is a sum over all sets S. For a single leaf it
becomes an integral over t from 0 to 1 of a polynomial: the product, over the other features i on
the path, of f_i(t) = (1 - t) z_i + t o_i. Gauss-Legendre quadrature with ceil(m / 2) points is
exact for m features on the path. So a tree is traversed once for all leaves. The traversal carries
the factors above a node down (A), brings the sums over the leaves below it up (Q), and credits the
feature at the node itself. All terms are sums and products of positive numbers. Nothing is divided
out again, which is where the extend and unwind steps of the published algorithm lose digits in deep
trees. The derivation is in `blocks`.

**Symbols**, in the code and in `blocks`.

==========  ===================================================================================
v           value of a leaf for one output
z_i         product of the cover ratios of the edges on the path that test feature i
o_i         1 if x satisfies all of these tests, else 0
r           cover ratio of the first child of a node (``ratio``)
s           1 if x goes to the first child, else 0
t_k         point k of the quadrature on [0, 1] (``points``), with a weight (``weights``)
h_k         t_k + (1 - t_k) z of the node's feature, as merged above the node
q_k         share of the first child in what goes down; 1 - q_k that of the second
A_k         product of the factors above the node, times the weight of the point
Q_k         sum over the leaves below the node of v times the factors below
phi         the attributions
==========  ===================================================================================

The first child of a node is the one below which more outputs vary. It is visited first.

**The files**, in the order in which to read them.

- `explain` is the entry. It chooses the algorithm from the trees and the number of rows, and leaves
  out the last output where the outputs add up to a constant, as class probabilities do.
- `layout` writes down, once for a forest and a choice of outputs, the nodes below which some output
  varies, in the order of the traversal (`TreeLayout`). It is kept as long as the forest lives.
- `rows` takes one row through one tree. It is the shortest form of the algorithm: read it before
  `blocks`. For one row it takes a quarter of the time of `blocks`.
- `blocks` takes 256 rows through a tree together. It holds the derivation and the traversal.
- `lanes` holds the arithmetic of `blocks`: loops over the rows of a block, three points at a time,
  in the form that becomes vector instructions. `transposed` copies the rows of tables to columns of
  a block, and results back, through the caches. `blocks` and `lanes` are the base of everything
  here; `rows` repeats their operations in the same order, so a row gets the same bytes.
- `outcome_tables` cuts trees of depth at most 8 into groups of at most 8 splits, and computes the
  attributions of each group once for every combination of outcomes of its splits. A row then costs
  one look-up for each group. With many rows it takes a fraction of the time of `blocks`. It is
  chosen only where a count of the operations says that it pays. `split_groups` does the cutting;
  `group_tables` has the form of the tables, which interactions share, and the look-up.
- `oob` is the traversal of `blocks` with each tree explaining only its in-bag or only its
  out-of-bag rows: SHAP_in and SHAP_oob of loecher2022.

**Arrays.** Prepared rows are float64 (n_samples, n_columns), read-only; ``rows`` are the numbers of
those that are explained, int64; ``outputs`` are int64 (n_explained,), and terms name an output by
its place in there. A block has x, float64 (n_columns, lanes), and phi, float64 (n_features *
n_outputs, lanes). Attributions are added to ``out``, float64 (n_rows, n_features, n_explained).
Fields of named tuples have their types beside them.
"""
