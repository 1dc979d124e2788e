"""Random distributions on which the theorems are checked by enumeration."""

import numpy as np

from reproduction.theory.distributions import JointDistribution

CARDINALITIES = ((2, 2), (2, 3), (2, 2, 2), (2, 3, 2), (3, 2, 2, 2))


def random_distributions(n: int, seed: int = 0) -> list[JointDistribution]:
    """Draw `n` distributions; those of a smaller `n` are the first of a larger one.

    Every `CARDINALITIES` with each family in turn. Y has two or three values (parity: two), worth
    random numbers.
    """
    distributions = []
    for i in range(n):
        random = np.random.default_rng([seed, i])
        shape = CARDINALITIES[i % len(CARDINALITIES)]
        family = _FAMILIES[i // len(CARDINALITIES) % len(_FAMILIES)]
        table = family(random, shape, int(random.integers(2, 4)))
        distributions.append(_with_values(random, table))
    return distributions


def _with_values(random, table):
    """The distribution proportional to a table, with random numbers for the values of Y."""
    return JointDistribution(table / table.sum(), random.normal(size=table.shape[-1]))


def _dirichlet(random, shape):
    return random.dirichlet(np.ones(int(np.prod(shape)))).reshape(shape)


def _generic(random, shape, n_classes):
    return _dirichlet(random, (*shape, n_classes))


def _irrelevant_last(random, shape, n_classes):
    """The last input is independent of the others and Y together."""
    table_of_others = _dirichlet(random, (*shape[:-1], n_classes))
    return table_of_others[..., None, :] * _dirichlet(random, shape[-1:])[:, None]


def _context(random, shape, n_classes):
    """The last input tells about Y only where X_1 > 0, and is locally irrelevant where X_1 = 0."""
    # At X_1 = 0, Y is distributed as a(z), z the inputs between; elsewhere as a(z) + change /
    # P(X_1 > 0 | x_p), so that the change shows alike for every x_p when X_1 is not known.
    first, *middle, last = shape
    on = random.permutation(np.linspace(0.3, 0.8, last))
    p_first = np.zeros((first, last))
    p_first[0], p_first[1:] = 1 - on, _dirichlet(random, (first - 1,))[:, None] * on
    p_inputs = np.multiply.outer(_dirichlet(random, middle), p_first * _dirichlet(random, (last,)))
    p_inputs = np.moveaxis(p_inputs, -2, 0)

    a = 0.5 / n_classes + 0.5 * random.dirichlet(np.ones(n_classes), size=middle)
    change = random.normal(size=n_classes)
    change -= change.mean()
    # No probability may fall below 0: those of a are at least 0.5 / n_classes.
    change *= 0.5 / n_classes * on.min() / np.abs(change).max()
    p_y = np.broadcast_to(a[None, ..., None, :], (*shape, n_classes)).copy()
    p_y[1:] += change / on[:, None]
    return p_inputs[..., None] * p_y


def _zero_cells(random, shape, n_classes):
    """40 % of the cells are 0, so some inputs never occur."""
    table = _generic(random, shape, n_classes)
    n_zero = int(0.4 * table.size)
    table.ravel()[random.permutation(table.size)[:n_zero]] = 0.0
    return table


def _parity(random, shape, n_classes):
    """Y is the parity of the sum of equally likely inputs, flipped with some probability."""
    is_odd = np.indices(shape).sum(axis=0) % 2
    flip = random.uniform(0.0, 0.4)
    p_one = np.where(is_odd == 1, 1 - flip, flip)
    return np.stack([1 - p_one, p_one], axis=-1)


_FAMILIES = (_generic, _irrelevant_last, _context, _zero_cells, _parity)


def symmetric_distributions(n: int, seed: int = 0) -> list[JointDistribution]:
    """Random distributions in which X_1 and X_2 are symmetric in every game of this package.

    The table is unchanged when X_1 and X_2 change places, and then the values of X_2 are renamed,
    v to v + 1, which no entropy sees: at x with x_2 = x_1 + 1, both are symmetric locally too.
    """
    distributions = []
    for i in range(n):
        random = np.random.default_rng([seed, i])
        shape = ((2, 2), (3, 3), (2, 2, 2), (3, 3, 2))[i % 4]
        table = _generic(random, shape, int(random.integers(2, 4)))
        table = np.roll(table + table.swapaxes(0, 1), 1, axis=1)
        distributions.append(_with_values(random, table))
    return distributions


def pairs_of_outputs(n: int, seed: int = 0) -> list[tuple[JointDistribution, JointDistribution]]:
    """Two random outputs of the same inputs; every second time the second is the first in noise."""
    # Noise (a random channel) never adds information about an input, whatever else is known.
    pairs = []
    for i in range(n):
        random = np.random.default_rng([seed, i])
        shape = ((2, 2), (2, 3), (2, 2, 2))[i % 3]
        p_x = _dirichlet(random, shape)[..., None]
        first, second = random.dirichlet(np.ones(3), size=(2, *shape))
        if i % 2:
            second = first @ random.dirichlet(np.ones(3), size=3)
        pairs.append((JointDistribution(p_x * first), JointDistribution(p_x * second)))
    return pairs


def noisy_copy() -> JointDistribution:
    """X_1 = Y, a fair coin, and X_2 = Y but for one time in ten: relevant, yet masked by X_1."""
    table = np.zeros((2, 2, 2))
    for y in range(2):
        table[y, y, y], table[y, 1 - y, y] = 0.45, 0.05
    return JointDistribution(table)


def locally_alike_inputs() -> JointDistribution:
    """X_1 and X_2 symmetric in v_loc(.; x) at x = (0, 0), while X_2 tells more elsewhere."""
    p_x = np.array([[1, 1], [3, 3]]) / 8
    p_one = np.array([[0.0, 0.75], [0.5, 1.0]])
    return JointDistribution(np.stack([p_x * (1 - p_one), p_x * p_one], axis=-1))


def hidden_dependence() -> JointDistribution:
    """X_1 irrelevant to Y, but not given only that X_2 <= 1.

    X_1 and Y depend on X_2, of three equally likely values, and not on each other. Their chances
    of being 1 vary with X_2 without covariance over all three values, but with some over two.
    """
    one_of_x, one_of_y = np.array([0.2, 0.7, 0.6]), np.array([0.55, 0.7, 0.25])
    x = np.stack([1 - one_of_x, one_of_x])
    y = np.stack([1 - one_of_y, one_of_y], axis=-1)
    return JointDistribution(x[:, :, None] * y[None] / 3)


def swapping_input() -> JointDistribution:
    """One binary X that at X = 1 swaps two probabilities of Y: relevant there, with local MDI 0."""
    return JointDistribution([[0.625, 0.125], [0.075, 0.175]])


def symmetric_inputs() -> JointDistribution:
    """X_1 and X_2 symmetric in I(Y; .), but not once the third input is known; all equally likely.

    Y = (X_3, Y'). Where X_3 = 0, Y' is X_1, flipped with probability 1/4. Where X_3 = 1, Y' is X_2
    if X_1 = 1, else a coin.
    """
    p_one = np.empty((2, 2, 2))
    p_one[:, :, 0] = [[0.25, 0.25], [0.75, 0.75]]
    p_one[:, :, 1] = [[0.5, 0.5], [0.0, 1.0]]
    table = np.zeros((2, 2, 2, 4))
    for x3 in range(2):
        table[:, :, x3, 2 * x3] = 1 - p_one[:, :, x3]
        table[:, :, x3, 2 * x3 + 1] = p_one[:, :, x3]
    return JointDistribution(table / 8)


def equal_moments() -> JointDistribution:
    """One relevant binary X that changes neither the mean (0) nor the variance (1) of Y."""
    table = np.array([[0.0, 0.5, 0.0, 0.5, 0.0], [0.125, 0.0, 0.75, 0.0, 0.125]]) / 2
    return JointDistribution(table, [-2, -1, 0, 1, 2])
