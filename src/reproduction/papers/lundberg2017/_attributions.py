"""The attributions that figure 1 compares, exact on one tree that is made of fractions.

As in the figure's caption the data set matches the model perfectly: the rows are spread over the
leaves as the covers say, and the label of a row is the value of its leaf.
"""

from reproduction.papers.lundberg2017 import _algorithms
from reproduction.papers.lundberg2017._algorithms import INTERNAL, Tree


def path_output(x, tree: Tree) -> list:
    """The path method for the output (Saabas): changes of the expectation along the path of x."""
    mean, _ = _moments(tree)
    phi = [0] * len(x)
    for j in tree.tests(x):
        phi[tree.d[j]] += mean[tree.child(j, x)] - mean[j]
    return phi


def mean_absolute_shap(rows, tree: Tree) -> list:
    """Mean of the absolute SHAP values over rows that stand for equal shares of the data."""
    values = [_algorithms.shapley_by_subsets(x, tree) for x in rows]
    return [sum(map(abs, column)) / len(rows) for column in zip(*values, strict=True)]


def path_gain(M: int, tree: Tree) -> list:
    """The path method for the gain: drop of the mean squared error at the splits of a feature."""
    mean, square = _moments(tree)
    error = [tree.r[j] / tree.r[0] * (square[j] - mean[j] ** 2) for j in range(len(mean))]
    gain = [0] * M
    for j in range(len(mean)):
        if tree.v[j] is INTERNAL:
            gain[tree.d[j]] += error[j] - error[tree.a[j]] - error[tree.b[j]]
    return gain


def gain_game(rows, tree: Tree):
    """v(S), the drop of the mean squared error over the rows when the features of S are known."""
    M = len(rows[0])
    label = [_algorithms.expvalue(x, range(M), tree) for x in rows]
    mean = _algorithms.expvalue(rows[0], (), tree)

    def error(S):
        expected = [_algorithms.expvalue(x, S, tree) for x in rows] if S else [mean] * len(rows)
        return sum((y - e) ** 2 for y, e in zip(label, expected, strict=True)) / len(rows)

    return lambda S: error(()) - error(S)


def _moments(tree):
    """Mean and mean square of the label in every node."""
    mean, square = list(tree.v), [None if v is INTERNAL else v * v for v in tree.v]
    for j in reversed(range(len(tree.v))):  # children come after their parents
        if tree.v[j] is INTERNAL:
            left_share, right_share = tree.r[tree.a[j]] / tree.r[j], tree.r[tree.b[j]] / tree.r[j]
            for moment in (mean, square):
                moment[j] = left_share * moment[tree.a[j]] + right_share * moment[tree.b[j]]
    return mean, square
