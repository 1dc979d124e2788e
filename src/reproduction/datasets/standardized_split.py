"""A data set, its features standardized and its rows split for training and test.

As in gajewski2025: means and standard deviations (of the population) are those of all rows,
training and test together; the target stays as it is; a fifth of the rows, at random, is the test.
"""

import inspect
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from reproduction import datasets
from reproduction.datasets import Dataset, _tables
from reproduction.parameters import Count, DatasetName, Seed, problem

# The authors drew their split without a seed. These are the numbers of their rows in the original
# tables, in their order.
AUTHORS_ROWS = {
    name: _tables.listed(f"gajewski2025_rows_{name}")
    for name in ("red_wine", "california_housing", "parkinson")
}


def files(of: str = "", split: str = "random", options: dict | None = None, **_) -> list[Path]:
    """The files of the data set, and that of the authors' rows if the split is theirs."""
    paths = datasets.files({"dataset": of, **(options or {})})
    return [*paths, _authors_table(of).path] if split == "authors" else paths


def check(of: str = "", options: dict | None = None, **_) -> None:
    """ValueError if the data set does not take the options."""
    if not of:
        return
    loader, given = datasets.loader(of), options or {}
    module, takes = inspect.getmodule(loader), inspect.signature(loader, eval_str=True).parameters
    unknown = ", ".join(sorted(set(given) - (takes.keys() - {"random_state"})))
    if unknown:
        raise ValueError(f"options: {of} has no parameter {unknown}; it has {', '.join(takes)}")
    for name, value in given.items():
        if reason := problem(takes[name].annotation, value):
            raise ValueError(f"options.{name}: {reason}")
    if hasattr(module, "check"):
        try:
            module.check(**given)
        except ValueError as error:
            raise ValueError(f"options.{error}") from None


def load(
    of: DatasetName,
    split: Literal["random", "authors"] = "random",
    test_share: Annotated[float, "> 0, < 1"] = 0.2,
    n_test: Count | None = None,
    n_training: Count | None = None,
    *,
    options: dict | None = None,
    random_state: Seed = 0,
) -> Dataset:
    """Load or draw a data set, standardize its features and split its rows, training first.

    Parameters
    ----------
    of : str
        Name of the data set, whose parameters are `options`.
    split : {"random", "authors"}
        ``"authors"``: the rows of gajewski2025, of red_wine, california_housing and parkinson.
    test_share : float
        Share of the rows in the test, rounded up; not used with ``"authors"``.
    n_test : int, optional
        Keep only this many of the first rows of the test.
    n_training : int, optional
        Keep only this many of the first rows for training.
    random_state : int
        Seed of the split, and of data that are drawn.
    """
    if split not in ("random", "authors"):
        raise ValueError(f"split={split!r}: expected random or authors")
    if not 0 < test_share < 1:
        raise ValueError(f"test_share is {test_share}: expected a number between 0 and 1")
    check(of, options)
    loader, given = datasets.loader(of), dict(options or {})
    if "random_state" in inspect.signature(loader).parameters:
        given["random_state"] = random_state
    data = loader(**given)
    if split == "authors":
        training, test = _authors_rows(of, len(data.X))
    else:
        n = -int(-test_share * len(data.X) // 1)
        order = np.random.default_rng(random_state).permutation(len(data.X))
        training, test = order[n:], order[:n]
    training = training[:n_training]
    if not len(training):
        raise ValueError(
            f"test_share: {test_share} of {len(data.X)} rows leaves none for training: take a "
            "smaller share, or more rows"
        )
    # A feature of one value has nothing to be divided by, but the rounding of its mean: it is 0.
    constant = (data.X == data.X[:1]).all(axis=0)
    X = (data.X - data.X.mean(axis=0)) / np.where(constant, 1.0, data.X.std(axis=0))
    X[:, constant] = 0.0
    rows = np.concatenate([training, test[:n_test]])
    return replace(data, X=X[rows], y=data.y[rows], n_training=len(training))


def _authors_table(name):
    if name not in AUTHORS_ROWS:
        names = ", ".join(AUTHORS_ROWS)
        raise ValueError(f"no split of the authors for {name!r}: there are {names}")
    return AUTHORS_ROWS[name]


def _authors_rows(name, n_rows):
    """Places of the authors' rows among the rows of the data set."""
    table = _authors_table(name).read()
    # The numbers are those of the original; loaders leave out some rows, the same as the authors.
    numbers = np.sort(table["row"].to_numpy())
    if len(numbers) != n_rows or len(np.unique(numbers)) != n_rows:
        raise ValueError(f"{name} has {n_rows} rows, the authors' split {len(numbers)}")
    places = np.searchsorted(numbers, table["row"].to_numpy())
    return tuple(places[table["split"] == subset] for subset in ("train", "test"))
