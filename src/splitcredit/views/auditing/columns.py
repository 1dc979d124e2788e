"""Columns of tables as numbers, an outcome, and how far they go together, for what finds leaks."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import rankdata

# Texts that are dates, and names of columns with times.
_DATE = r"\d{4}-\d{1,2}|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"
_TIMES = r"(?:^|[_\W])(?:date|timestamp|datetime|year|month|week|day)(?:$|[_\W])"


class Suspicion(NamedTuple):
    """One suspicion: in how many of how many rows it shows, and how strong it is, up to 1."""

    kind: str
    features: tuple[str, ...]
    rows: int
    of: int
    strength: float
    sentence: str


class Column(NamedTuple):
    """A column as numbers, NaN where missing; equal labels have equal numbers in all columns."""

    name: str
    values: np.ndarray
    labels: list[str] | None = None
    is_time: bool = False
    later: np.ndarray | None = None  # its values in the rows of a test

    def word(self, value):
        """Give a value as text."""
        if np.isnan(value):
            return "missing"
        return repr(self.labels[int(value)]) if self.labels else f"{value:.6g}"


class Outcome(NamedTuple):
    """Codes of classes with their names, or numbers and no names."""

    codes: np.ndarray
    classes: tuple = ()

    @property
    def table(self):
        """The numbers, or 0 and 1 for each class, (n, n_classes or 1)."""
        if not self.classes:
            return self.codes[:, None].astype(float)
        return (self.codes[:, None] == np.arange(len(self.classes))).astype(float)

    def at(self, rows):
        """Give the outcome of some rows."""
        return self._replace(codes=self.codes[rows])

    def centered(self):
        """Give the table about its means; of numbers their ranks, (n, n_classes or 1)."""
        table = self.table if self.classes else ranks_of(self.table)
        return table - table.mean(axis=0)

    def word(self, code):
        """Give an outcome as text."""
        return str(self.classes[int(code)]) if self.classes else f"{code:.6g}"


def columns_of(table) -> list[Column]:
    """Convert the columns of a DataFrame."""
    kinds = [_kind(column) for _, column in table.items()]
    texts = [table.iloc[:, j] for j, kind in enumerate(kinds) if kind == "text"]
    labels = sorted({str(x) for column in texts for x in column.dropna().unique()})
    place, columns = {label: float(k) for k, label in enumerate(labels)}, []
    for kind, (name, column) in zip(kinds, table.items(), strict=True):
        if kind == "time":
            column = pd.to_datetime(column, errors="coerce", utc=True, format="mixed")
            column = (column - pd.Timestamp(0, tz="UTC")).dt.total_seconds()
        elif kind == "text":
            column = column.astype(object).map(lambda x: place.get(str(x), np.nan))
        values = column.to_numpy(np.float64, na_value=np.nan)
        is_time = kind == "time" or bool(re.search(_TIMES, str(name).lower()))
        columns.append(Column(str(name), values, labels if kind == "text" else None, is_time))
    return columns


def _kind(column):
    if pd.api.types.is_datetime64_any_dtype(column):
        return "time"
    if pd.api.types.is_numeric_dtype(column):
        return "number"
    known = column.dropna()
    is_text = len(known) > 0 and all(isinstance(x, str) for x in known)
    return "time" if is_text and known.str.fullmatch(rf"(?:{_DATE})(?:[T ].*)?").all() else "text"


def ranks_of(values):
    """Rank each column about the mean, with missing values first."""
    ranks = rankdata(np.where(np.isnan(values), -np.inf, values), axis=0)
    return ranks - (len(ranks) + 1) / 2


def gini(ranks, outcome) -> np.ndarray:
    """Compute Gini coefficients (2 AUC - 1) by class, or rank correlations, (p, n_classes or 1)."""
    n, table = len(ranks), outcome.table
    if outcome.classes:
        size = table.sum(axis=0)
        return ranks.T @ table / np.where(size * (n - size) > 0, size * (n - size) / 2, np.inf)
    other = ranks_of(table)
    spread = np.sqrt((ranks**2).sum(axis=0)[:, None] * (other**2).sum(axis=0))
    return ranks.T @ other / np.where(spread > 0, spread, np.inf)


def gini_error(outcome) -> np.ndarray:
    """Compute standard errors of `gini` without any relation (Mann and Whitney, Spearman)."""
    n = len(outcome.codes)
    if not outcome.classes:
        return np.full(1, 1 / np.sqrt(max(n - 1, 1)))
    size = outcome.table.sum(axis=0)
    return np.sqrt((n + 1) / 3 / np.where(size * (n - size) > 0, size * (n - size), np.inf))
