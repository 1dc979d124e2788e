"""Define the result of `splitcredit.partial_dependence`: curves of a feature, or maps of two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from splitcredit.results.plots import dependence as plots
from splitcredit.results.stored import SHOWN, Shown, more
from splitcredit.rows.names import free

KINDS = ("average", "individual", "both", "ale")


@dataclass(frozen=True, eq=False, repr=False)
class PartialDependence(Shown):
    """Partial dependence on one feature or two, with its grid and labels.

    Parameters
    ----------
    values : float64 (n_places, n_outputs), or (n_places, n_places_2, n_outputs) of two features
        Mean predictions, or accumulated local effects.
    grids : tuple of arrays (n_places,)
        For each feature its values on the grid: float64, or labels of categories in an array of
        objects. NaN, if it is a place, is the last.
    feature_names, output_names : tuple of str
    kind : {"average", "individual", "both", "ale"}
    individual : float64 (n_samples, n_places, ..., n_outputs), optional
        Predictions of each row (ICE).
    data : tuple of arrays (n_samples,)
        For each feature its values in the rows, which plots show.
    unit : str
        What the values count, such as ``"log-odds"`` or ``"probability"``.
    is_step : bool
        Whether each value of the grid stands for the interval between thresholds that ends there.

    Examples
    --------
    >>> curve = splitcredit.partial_dependence(model, X, "petal width (cm)", output=0)
    >>> list(curve.to_frame())
    ['petal width (cm)', 'output', 'value']
    """

    values: np.ndarray
    grids: tuple[np.ndarray, ...]
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...]
    kind: str = "average"
    individual: np.ndarray | None = None
    data: tuple[np.ndarray, ...] = ()
    unit: str = "prediction"
    is_step: bool = False

    def __repr__(self):
        names = " x ".join(map(repr, self.feature_names))
        places = " x ".join(str(len(grid)) for grid in self.grids)
        outputs = f"{len(self.output_names)} outputs"
        return f"PartialDependence({self.kind!r}, {names}, {places} places, {outputs})"

    def to_frame(self) -> Any:
        """Convert to a DataFrame, with one row for each place on the grid and output.

        Its columns are the features, output and value; the last two have an underscore behind them
        if a feature is called so.
        """
        import pandas as pd

        shape = self.values.shape
        index = np.indices(shape).reshape(len(shape), -1)
        columns = {name: self.grids[j][index[j]] for j, name in enumerate(self.feature_names)}
        columns[free("output", columns)] = np.array(self.output_names)[index[-1]]
        columns[free("value", columns)] = self.values.ravel()
        return pd.DataFrame(columns)

    def _summary(self):
        frame = self.to_frame()
        return frame.head(SHOWN), more(len(frame), "rows")

    def plot(self, ax=None, output=None, *, centered: bool = False, lines: int = 100):
        """Draw curves of one feature, or a map of two. Needs matplotlib.

        Gray bars at the bottom say how the rows are distributed. Categories are points at equal
        distances, and missing values a point beside the others.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure if not given.
        output : str or int, optional
            Name or index of the output to draw; needed for maps and curves of rows of several.
        centered : bool
            Whether each curve begins at 0, which shows where curves of rows differ in shape.
        lines : int
            Most rows whose curves are drawn, at equal distances in the order of the rows.

        Returns
        -------
        matplotlib Axes; ValueError if there is no such output, or no one is chosen
        """
        return plots.draw(self, ax, output, centered, lines)
