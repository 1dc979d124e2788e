"""Audit a model by eight questions: `audit`, and the `Audit` that holds the answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from splitcredit.measures._calls import checked
from splitcredit.results import progress_bar
from splitcredit.results.stored import replacing
from splitcredit.views.auditing import copies, page, plots, sections
from splitcredit.views.auditing.comparison import MEASURES, Comparison, compared
from splitcredit.views.auditing.subject import Subject

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """Findings of an audit: eight sections, each a number with its interval and a sentence.

    Parameters
    ----------
    sections : tuple of Section
        In their order; each has ``key, title, what, value, low, high, sentence, table, notes``.
    comparison : Comparison
        All measures of the model.
    beats_chance : bool or None
        Whether the model predicts better than chance; None if there are no rows to judge by.
    notes : tuple of str
        What was cut down.
    """

    sections: tuple[Any, ...]
    comparison: Comparison
    beats_chance: bool | None
    notes: tuple[str, ...] = ()

    def __repr__(self):
        return f"Audit({len(self.sections)} sections, beats_chance={self.beats_chance})"

    def __getitem__(self, key):
        return next(section for section in self.sections if section.key == key)

    def to_frame(self) -> pd.DataFrame:
        """Convert to a DataFrame, a row for each section.

        Returns
        -------
        DataFrame
            ``section, what, value, low, high, sentence``; `low` and `high` are the ends of the 95 %
            interval. The numbers behind a section are in its `table`.
        """
        columns = "section what value low high sentence".split()
        rows = [(s.key, s.what, s.value, s.low, s.high, s.sentence) for s in self.sections]
        return pd.DataFrame(rows, columns=columns)

    def to_json(self) -> str:
        """Write all numbers and sentences as JSON; what is not known is null.

        Returns
        -------
        str
            With the keys ``beats_chance``, ``notes``, ``not_applicable`` and ``sections``.
        """
        content = {
            "beats_chance": self.beats_chance,
            "notes": self.notes,
            "not_applicable": self.comparison.not_applicable,
            "sections": [
                s._asdict() | {"table": s.table.to_dict("records")} for s in self.sections
            ],
        }
        return json.dumps(_plain(content), indent=1, ensure_ascii=False, allow_nan=False)

    def to_html(self, path: str | Path | None = None) -> str:
        """Write one page that refers to no other file; needs matplotlib.

        Parameters
        ----------
        path : str or Path, optional
            Where it is written; by default nowhere.

        Returns
        -------
        str
            The page.
        """
        text = page.render(self)
        if path is not None:
            with replacing(path) as partial:
                partial.write_text(text, encoding="utf-8")
        return text

    def plot(self, section: str) -> Any:
        """Draw the plot of a section; needs matplotlib.

        Parameters
        ----------
        section : str
            Its `key`, such as ``"noise"``.

        Returns
        -------
        matplotlib Figure

        """
        keys = [s.key for s in self.sections]
        if section not in keys:
            raise ValueError(f"section={section!r} is not one of {', '.join(keys)}")
        return plots.of_section(self, self[section])


@checked
def audit(
    model: object,
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    *,
    features: Literal["columns", "transformed"] = "columns",
    sample_weight: ArrayLike | None = None,
    sample_weight_test: ArrayLike | None = None,
    progress: bool | None = None,
    random_state: int = 0,
) -> Audit:
    """Audit a fitted model: how well it predicts, and which of its importances can be trusted.

    Parameters
    ----------
    model : fitted model, Forest or path
        See `splitcredit.explain`. Copies of an estimator, also at the end of a pipeline, are fitted
        beside noise. A Booster cannot be fitted anew; the page then says what is missing.
    X, y, X_test, y_test, features, progress
        See `splitcredit.compare`.
    sample_weight, sample_weight_test : (n_samples,), optional
        Weights of the rows of X and of X_test, in the sections ``"model"`` and ``"measures"``. All
        rows count alike in the others and in the fits of copies.
    random_state : int
        Seed of all draws. The same seed gives the same bytes.

    Returns
    -------
    Audit

    Raises
    ------
    TypeError, ValueError
        As `splitcredit.compare`.

    Notes
    -----
    Two minutes are enough for 100,000 rows, 50 features and 500 trees on two cores. Larger parts
    are cut down, by sizes and not by a clock, and `Audit.notes` and the notes of a section say how.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[::2], y[::2])
    >>> audit = splitcredit.audit(model, X[::2], y[::2], X[1::2], y[1::2])
    >>> audit
    Audit(8 sections, beats_chance=True)
    >>> audit["model"].what, round(audit["model"].value, 2) > 0.9
    ('area under the ROC curve', True)
    """
    if y is None:
        raise TypeError("an audit needs the targets of the rows: pass y")
    n_steps = len(MEASURES) + copies.FITS + 1 + 6
    with progress_bar.bar(n_steps, progress, "steps") as done:
        weights = sample_weight, sample_weight_test
        subject = Subject(model, X, y, X_test, y_test, random_state, features, weights)
        comparison = compared(subject, done=done)
        of_copies = copies.fitted(subject, done)
        found, beats = sections.model(subject, of_copies)
        done(1)
        noise, by_values = sections.noise(of_copies, subject.names), sections.values(of_copies)
        all_sections = [found, sections.measures(comparison), noise, by_values]
        all_sections.append(sections.faithful(subject, comparison))
        done(1)
        all_sections.append(sections.redundant(subject, comparison, found.value))
        done(1)
        all_sections.append(sections.digits(subject))
        done(1)
        all_sections.append(sections.recommended(subject, comparison, beats))
        done(2)
    if comparison.feature_names != subject.names:
        subject.note("Noise, numbers of values and like features are of the transformed features.")
    return Audit(tuple(all_sections), comparison, beats, tuple(subject.notes))


def _plain(value):
    """Convert numbers, text, lists and dicts to JSON's types."""
    if isinstance(value, dict):
        return {str(key): _plain(of_key) for key, of_key in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value
