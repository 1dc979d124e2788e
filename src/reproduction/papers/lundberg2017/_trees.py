"""Trees that are built or drawn, as `Forest`: no data, only shapes, covers and leaves."""

import numpy as np

from splitcredit.models.forest import LEAF, Forest


def leaf(value, cover: float = 1.0) -> tuple:
    """A leaf; the value is a number or one number an output."""
    return np.atleast_1d(np.asarray(value, float)), float(cover)


def split(feature: int, left: tuple, right: tuple, threshold: float = 0.5) -> tuple:
    """An inner node over two nodes that `leaf` or `split` made."""
    return feature, threshold, left, right


def forest_of(roots, n_features: int, **fields) -> Forest:
    """Lay trees into a Forest, nodes in preorder.

    Values of inner nodes are means of the leaves, impurities variances summed over the outputs
    when all rows of a leaf have its value.
    """
    rows, offsets = [], [0]
    for root in roots:
        _lay(root, rows)
        offsets.append(len(rows))
    names = ("feature", "threshold", "left", "right", "value", "cover", "square")
    arrays = dict(zip(names, map(np.array, zip(*rows, strict=True)), strict=True))
    spread = arrays.pop("square") - arrays["value"] ** 2
    n_outputs = arrays["value"].shape[1]
    defaults = {
        "feature_names": [f"x{j}" for j in range(n_features)],
        "output_names": [f"output {c}" for c in range(n_outputs)],
        "criterion": "squared_error",
        "impurity": np.maximum(spread.sum(axis=1), 0.0),
        "aggregate": "sum",
    }
    return Forest(**arrays, tree_offsets=offsets, **{**defaults, **fields})


def random_forest(rng, n_features, depth, n_outputs=1, n_trees=1, n_unused=0) -> Forest:
    """Splits drawn for rows of 0 to 3: features repeat on paths, some leaves cannot be reached.

    Covers and leaves are small whole numbers, so that sums of them are exact. The last `n_unused`
    features, which come on top of `n_features`, are not tested.
    """

    def draw(depth):
        if depth == 0 or rng.random() < 0.15:
            return leaf(rng.integers(-8, 9, n_outputs), rng.integers(1, 9))
        threshold = rng.integers(3) + 0.5
        return split(int(rng.integers(n_features)), draw(depth - 1), draw(depth - 1), threshold)

    trees = [split(t % n_features, draw(depth - 1), draw(depth - 1), 1.5) for t in range(n_trees)]
    return forest_of(trees, n_features + n_unused)


def random_rows(rng, n_rows, n_features) -> np.ndarray:
    """Rows of 0 to 3 for `random_forest`."""
    return rng.integers(0, 4, (n_rows, n_features)).astype(float)


def caterpillar(depth: int, seed: int = 0, n_features: int | None = None) -> Forest:
    """One long path, right at every node, with a leaf of 1 to 3 rows hanging off each.

    Feature ``d % n_features`` (by default another at each depth) is tested at depth d, at a
    threshold that rises when it comes again.
    """
    rng = np.random.default_rng(seed)
    n_features = n_features or depth
    node = leaf(rng.integers(1, 9))
    for d in reversed(range(depth)):
        hanging = leaf(rng.integers(-8, 9), rng.integers(1, 4))
        node = split(d % n_features, hanging, node, d // n_features + 0.5)
    return forest_of([node], n_features)


# Kind of row -> probability that it passes a test of the caterpillar, and number of rows.
ROWS = {"whole chain": (1.0, 1), "passes 9 of 10 tests": (0.9, 4), "passes every other": (0.5, 6)}


def caterpillar_rows(depth: int, seed: int = 0, n_features: int | None = None):
    """Rows that go to all depths: kinds, one a row, and float64 (n_rows, n_features)."""
    n_features = n_features or depth
    tests = -(-depth // n_features)
    random = np.random.default_rng([seed, 1])
    kinds = [kind for kind, (_, n_rows) in ROWS.items() for _ in range(n_rows)]
    rows = [tests * (random.random(n_features) < ROWS[kind][0]).astype(float) for kind in kinds]
    return kinds, np.stack(rows)


def broom(handle: int, height: int, seed: int = 0, n_trees: int = 1) -> Forest:
    """A path of `handle` splits, then a complete tree; each level tests a feature of its own."""
    rng = np.random.default_rng(seed)

    def bristles(d):
        if d == handle + height:
            return leaf(rng.integers(-8, 9))
        return split(d, bristles(d + 1), bristles(d + 1))

    def tree():
        node = bristles(handle)
        for d in reversed(range(handle)):
            node = split(d, leaf(rng.integers(-8, 9)), node)
        return node

    return forest_of([tree() for _ in range(n_trees)], handle + height)


def halving(height: int, n_features: int, seed: int = 0) -> Forest:
    """A complete tree that tests the same features again and again, at half its range each time."""
    rng = np.random.default_rng(seed)

    def below(d, ranges):
        if d == height:
            return leaf(rng.integers(-8, 9))
        i = d % n_features
        low, high = ranges[i]
        middle = (low + high) / 2
        sides = ((low, middle), (middle, high))
        return split(i, *(below(d + 1, {**ranges, i: side}) for side in sides), middle)

    return forest_of([below(0, dict.fromkeys(range(n_features), (0.0, 1.0)))], n_features)


def _lay(node, rows):
    """Append a node and all below it; its place, with mean, cover and mean square."""
    place = len(rows)
    if len(node) == 2:
        value, cover = node
        rows.append((LEAF, 0.0, -1, -1, value, cover, value**2))
        return place
    feature, threshold, left, right = node
    rows.append(None)
    a, b = _lay(left, rows), _lay(right, rows)
    cover = rows[a][5] + rows[b][5]
    mean, square = ((rows[a][5] * rows[a][k] + rows[b][5] * rows[b][k]) / cover for k in (4, 6))
    rows[place] = (feature, threshold, a, b, mean, cover, square)
    return place
