"""Shapley interaction values of trees, path-dependent and interventional.

**The idea.** The Shapley interaction index of a set T of features (Grabisch and Roubens 1999) is a
mean, over the sets S of other features, of the difference that T makes as a whole. As for single
features, the weights of the sets S are integrals over t from 0 to 1, so that every other feature
is in S with probability t, independently of the others. For one leaf with value v, the game
is a product over the features i on the path, of o_i if i is known and z_i if not (`tree_shap` has
the symbols). So its interaction index is::

    v times the integral of prod_{j in T} (o_j - z_j) prod_{i not in T} ((1 - t) z_i + t o_i) dt

and it is 0 for a set T that is not on the path. With m features on the path the integrand is a
polynomial of degree m minus the size of T, which Gauss-Legendre quadrature integrates exactly.
Against a background, o_i and z_i are 0 or 1, and the integral is a Beta function.

**The files**, in the order in which to read them.

- `leaf_paths` writes down, for each leaf, the features on its path, each with the interval of its
  values that stays on the path and the share z of the cover.
- `sets` numbers the sets of features that occur together on some path, or those that are wanted.
- `leaf_games` credits sets of any size, path-dependent or against a background, leaf by leaf. It is
  the shortest form of the algorithm. Rows that satisfy the same conditions of a path share its
  arithmetic.
- `pair_blocks` credits pairs, path-dependent, in one traversal of a tree for all leaves and a block
  of rows: the traversal of `tree_shap`. `shares` keeps what each row passes to the children.
- `pair_tables` credits all pairs of shallow trees: `pair_blocks` explains every outcome of a few
  splits once, and a row looks up its own.

**Arrays.** Prepared rows are (n_samples, n_columns), ``outputs`` int64 (k,), and sets int64
(n_sets, size), each in rising order. An index is float64 (n_samples, n_sets, k); Shapley values of
all single features may stand behind it, as n_features more sets.
"""
