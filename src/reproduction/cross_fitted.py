"""Define `CrossFitted`: forests, each fitted without one part of the rows."""

from dataclasses import dataclass

import numpy as np

from splitcredit.models.forest import Forest
from splitcredit.results.attribution import Attribution


@dataclass(frozen=True, eq=False, repr=False)
class CrossFitted:
    """Cross-fitting: forest ``f`` was fitted on the rows outside fold ``f``.

    `fold`, int64 (n_samples,), has the fold of each row; ValueError if one has no forest.
    """

    forests: tuple[Forest, ...]
    fold: np.ndarray

    def __post_init__(self):
        object.__setattr__(self, "forests", tuple(self.forests))
        object.__setattr__(self, "fold", np.asarray(self.fold, dtype=np.int64))
        if self.fold.size and not 0 <= self.fold.min() <= self.fold.max() < len(self.forests):
            raise ValueError(f"fold must lie in 0..{len(self.forests) - 1}: one forest a fold")

    def __repr__(self):
        return f"CrossFitted({len(self.forests)} folds, {self.forests[0]})"

    def explain(self, compute) -> Attribution:
        """Attributions of all rows, each by the forest that did not see it.

        ``compute(forest, held_out, fitted_on)`` gives those of the rows `held_out`; both are bool
        (n_samples,).
        """
        held_out = [self.fold == f for f in range(len(self.forests))]
        pairs = zip(self.forests, held_out, strict=True)
        attributions = [compute(forest, rows, ~rows) for forest, rows in pairs]
        return _joined(attributions, held_out)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The folds, and every array of forest ``f`` under ``f.NAME``."""
        nested = {
            f"{f}.{name}": array
            for f, forest in enumerate(self.forests)
            for name, array in forest.to_arrays().items()
        }
        return {"fold": self.fold, **nested}

    @classmethod
    def from_arrays(cls, arrays) -> "CrossFitted":
        """Inverse of `to_arrays`."""
        arrays_of_fold: dict[int, dict] = {}
        for entry, array in arrays.items():
            f, dot, name = entry.partition(".")
            if dot:
                arrays_of_fold.setdefault(int(f), {})[name] = array
        return cls(
            tuple(Forest.from_arrays(arrays_of_fold[f]) for f in sorted(arrays_of_fold)),
            arrays["fold"],
        )


def from_arrays(arrays) -> Forest | CrossFitted:
    """The `Forest` or `CrossFitted` that wrote the arrays."""
    return (CrossFitted if "fold" in arrays else Forest).from_arrays(arrays)


def _joined(attributions, held_out):
    """Join the attributions of the folds; the baseline differs from row to row."""
    first = attributions[0]
    if not isinstance(first, Attribution):
        raise ValueError(
            f"{first.method} does not explain single rows, so folds have no effect: "
            "use a model without `folds`, or a local measure"
        )
    if any(attribution.output_names != first.output_names for attribution in attributions):
        raise ValueError("the forests of the folds have different classes: use fewer folds")
    shape = (len(held_out[0]), *first.values.shape[1:])
    values, baseline = np.empty(shape), np.empty((shape[0], shape[2]))
    index = None if first.output_index is None else np.empty(shape[0], np.int64)
    for attribution, rows in zip(attributions, held_out, strict=True):
        values[rows], baseline[rows] = attribution.values, attribution.baseline
        if index is not None:
            index[rows] = attribution.output_index
    return Attribution(
        values=values,
        baseline=baseline,
        feature_names=first.feature_names,
        output_names=first.output_names,
        method=first.method,
        parameters={**first.parameters, "folds": len(attributions)},
        output_index=index,
    )
