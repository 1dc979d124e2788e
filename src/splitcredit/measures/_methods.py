"""Tabulate all methods: their functions, what they need, and checks of their parameters."""

from __future__ import annotations

import csv
import inspect
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any

from splitcredit import measures
from splitcredit.measures import _library_values
from splitcredit.measures._calls import needs, unknown
from splitcredit.models import training
from splitcredit.models.opened import Opened
from splitcredit.prediction_gap import greedy, optimum
from splitcredit.rows.names import did_you_mean

# Kinds of `splits`, which people type for methods.
KINDS = ("weight", "gain", "total_gain", "cover", "total_cover")


# What each word in the column `needs` means, in the order in which they are listed.
NEEDS = {
    "y": "the targets of the rows of X",
    "background": "rows that unknown features are taken from",
    "impurity": "a model with an impurity for every node, as converted models have",
    "bootstrap": (
        "a model that says which rows each tree was grown on, as forests of scikit-learn with "
        "bootstrap=True do, and these rows as X"
    ),
    "prediction": (
        "a prediction on the scale of y: the target itself, fractions of classes, or scores whose "
        "softmax is their probabilities"
    ),
    "score": "a fitted estimator with a score, or trees that are averaged",
    "refit": "an estimator that can be fitted again",
}
# The ranking that is no module of `measures`; the other is `pg2_greedy`.
OPTIMUM = "pgi2_optimum"
GREEDY = "pg2_greedy"
_PENALIZED = ("pg_10", "pg_hat_10", "pg_051", "pg_hat_051")
_WEIGHED = {"": {}, "_y": {"weigh_by": "y"}, "_centered": {"weigh_by": "centered_y"}}
# Names that stand for a method with parameters, in `compare`, in audits and in the study
# trust, and two that people type.
PRESETS: dict[str, tuple[str, dict[str, Any]]] = {
    "shap": ("tree_shap", {}),
    "pfi": ("permutation", {}),
    "greedy": (GREEDY, {}),
    **{name: ("penalized_gini", {"preset": name, "per_row": True}) for name in _PENALIZED},
    **{
        f"{rows}_shap{end}": ("oob_attributions", {"rows": rows} | more)
        for rows in ("inbag", "oob")
        for end, more in _WEIGHED.items()
    },
    "split_count": ("splits", {"kind": "weight"}),
    "split_gain": ("splits", {"kind": "total_gain"}),
}


@dataclass(frozen=True)
class Method:
    """One method: its name, the functions that accept it, and what it needs beside model and X."""

    name: str
    functions: tuple[str, ...]
    needs: tuple[str, ...]
    summary: str

    @property
    def attributes(self) -> bool:
        """Whether it attributes rows by a function of its name."""
        return "explain" in self.functions

    @property
    def averages(self) -> bool:
        """Whether its importance is the mean absolute attribution over the rows."""
        return self.attributes and not hasattr(self._module, "IMPORTANCE")

    @property
    def takes_any_rows(self) -> bool:
        """Whether it attributes rows that the model was not fitted on, each independently."""
        return self.attributes and "bootstrap" not in self.needs

    @property
    def refits(self) -> bool:
        """Whether it fits a copy of the model, which need not be fitted itself."""
        return "refit" in self.needs

    def function(self, of: str = "explain") -> Callable[..., Any]:
        """Return the public function that serves ``explain``, ``importance`` or ``rank``."""
        if self.name in (GREEDY, OPTIMUM):
            return greedy.greedy_ranking if self.name == GREEDY else optimum.best_ranking
        name = getattr(self._module, "IMPORTANCE", self.name) if of == "importance" else self.name
        return getattr(self._module, name)

    def takes(self, parameter: str, of: str = "explain") -> bool:
        """Return whether its function has a parameter of that name."""
        return parameter in parameters_of(self.function(of))

    @property
    def why_unweighted(self) -> str:
        """Reason why the importance takes no `sample_weight`; empty if it does."""
        if self.averages or self.takes("sample_weight", "importance"):
            return ""
        if self.refits:
            return "it fits a copy of the model without weights"
        if "bootstrap" in self.needs:
            return "each tree counts its rows as often as it drew them"
        return (
            "it is read from the fitted model, not taken over rows: fit the model with the weights"
        )

    def why_not(self, opened: Opened) -> str | None:
        """Return the message that refuses an opened model; None if it is served."""
        try:
            if not _library_values.is_needed(opened, self.name):
                forest = opened.forest
                if hasattr(self._module, "refuse"):
                    self._module.refuse(opened.model, forest)
                elif "bootstrap" in self.needs:
                    training.refuse_untrained(forest)
        except (TypeError, ValueError) as error:
            return str(error)
        return None

    @property
    def _module(self):
        return optimum if self.name == OPTIMUM else measures.module_of(self.name)


class MethodTable(tuple):
    """Methods, shown as a table; `to_frame` gives a DataFrame."""

    # By method: why it does not serve the model that was given, or None.
    why_not: dict[str, str | None] | None = None

    def __repr__(self):
        rows = [("name", "functions", "needs", "what it is")]
        rows += [(m.name, ", ".join(m.functions), ", ".join(m.needs), m.summary) for m in self]
        if self.why_not is not None:
            reasons = ((m, self.why_not[m.name]) for m in self)
            rows = [("name", "functions", "needs", "whether it serves the model")] + [
                (m.name, ", ".join(m.functions), ", ".join(m.needs), f"no: {why}" if why else "yes")
                for m, why in reasons
            ]
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        lines = [
            "  ".join([*(row[k].ljust(widths[k]) for k in range(3)), row[3]]).rstrip()
            for row in rows
        ]
        used = {need for method in self for need in method.needs}
        answers = defaultdict(list)
        for row in choices():
            kind = "" if row["kind"] == "any" else f" ({row['kind']})"
            answers[row["meaning"]].append(row["answer"] + kind)
        lines += ["", *(f"{n}: {NEEDS[n]}" for n in NEEDS if n in used), "", "To learn"]
        return "\n".join([*lines, *(f"  {what}: {'; '.join(of)}" for what, of in answers.items())])

    def to_frame(self):
        """Convert to a DataFrame: name, functions, needs, summary; why_not if given a model."""
        import pandas as pd

        columns = ["name", "functions", "needs", "summary"]
        rows = [(m.name, ", ".join(m.functions), ", ".join(m.needs), m.summary) for m in self]
        frame = pd.DataFrame(rows, columns=columns)
        if self.why_not is None:
            return frame
        return frame.assign(why_not=[why or "" for why in self.why_not.values()])


def choices() -> list[dict[str, str]]:
    """Read which method answers which question, or what else does, by the kind of a model."""
    text = files("splitcredit.measures").joinpath("choices.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def methods(model: object = None) -> MethodTable:
    """List all methods: their names, functions, needs and meaning.

    Parameters
    ----------
    model : fitted model, Forest or path, optional
        The table then says which methods serve this model, and why the others do not.

    Returns
    -------
    MethodTable
        A tuple of methods that shows itself as a table; ``to_frame()`` gives a DataFrame.

    Examples
    --------
    >>> table = splitcredit.methods()
    >>> [method.name for method in table if "explain" in method.functions]
    ['local_mdi', 'oob_attributions', 'saabas', 'tree_shap', 'tree_shap_interventional']
    >>> next(method.needs for method in table if method.name == "ufi")
    ('y', 'bootstrap')
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> model = ExtraTreesClassifier(5).fit(X, y)
    >>> splitcredit.methods(model).why_not["ufi"][:57]
    'this model does not say which rows each tree was grown on'
    """
    found = [_method(name) for name in (*measures.names(), OPTIMUM)]
    table = MethodTable(sorted(found, key=lambda method: (-len(method.functions), method.name)))
    if model is not None:
        try:
            opened = Opened(model)
        except (TypeError, ValueError) as error:
            table.why_not = dict.fromkeys((method.name for method in table), str(error))
        else:
            table.why_not = {method.name: method.why_not(opened) for method in table}
    return table


def resolve(method: Any) -> tuple[Any, dict]:
    """Return the method that a name, function or preset stands for, and its parameters."""
    if isinstance(method, partial):
        return method.func, method.keywords
    return PRESETS.get(method, (method, {})) if isinstance(method, str) else (method, {})


def look_up(method: object, function: str) -> Method:
    """Find the method of that name or function; ValueError if `function` does not take it."""
    name, _ = resolve(method)
    name = _name_of(name)
    known = isinstance(name, str) and name in (*measures.names(), OPTIMUM)
    if not known or function not in _method(name).functions:
        raise ValueError(_refusal(name, function))
    return _method(name)


def is_measure(method: object) -> bool:
    """Return whether a method is a known name or function, and not a function of the user."""
    return not callable(_name_of(resolve(method)[0]))


def call(method: object, function: str, progress: bool | None = None, **common) -> partial:
    """Bind the function of a method to its parameters, and those of `common` that are not None."""
    chosen, parameters = resolve(method)
    if is_measure(method):
        chosen = look_up(method, function).function(function)
    known = parameters_of(chosen)
    has_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    given = {name: value for name, value in common.items() if value is not None} | parameters
    if given.get("groups") == "columns" and "groups" not in known:
        del given["groups"]  # results are by columns
    for name in given:
        if name not in known and not has_any:
            raise TypeError(unknown(chosen, name))
    if progress is not None and "progress" in known:
        given["progress"] = progress
    return partial(chosen, **given)


def refuse_missing(of_method: partial, given=("X",)) -> None:
    """Raise a TypeError if a required parameter is neither given nor bound to the method."""
    for name, parameter in parameters_of(of_method.func).items():
        is_needed = parameter.default is parameter.empty and name != "model"
        if is_needed and name not in given and name not in of_method.keywords:
            raise TypeError(needs(of_method.func.__name__, name))


@cache
def parameters_of(function):
    """Return parameters by name, cached: reading a signature takes longer than explaining a row."""
    return inspect.signature(function).parameters


def _name_of(function):
    """Return the name of the method that a public function computes; anything else unchanged."""
    module = (getattr(function, "__module__", "") or "").rpartition(".")
    is_public = module[0] == measures.__name__ and callable(function)
    return module[2] if is_public and module[2] in measures.names() else function


@cache
def _method(name):
    if name == OPTIMUM:
        best = "The ranking with the largest PGI^2 of all, for up to 16 features."
        return Method(OPTIMUM, ("rank",), (), best)
    module = measures.module_of(name)
    functions, needed = ("rank",), set(getattr(module, "REQUIRES", ()))
    if name != GREEDY:
        attributes = hasattr(module, "attribute")
        functions = ("explain", "importance", "rank") if attributes else ("importance", "rank")
        public = {getattr(module, name), getattr(module, getattr(module, "IMPORTANCE", name))}
        for function in public:
            required = parameters_of(function).values()
            needed |= {p.name for p in required if p.default is inspect.Parameter.empty}
    summary = module.__doc__.partition("\n")[0]
    return Method(name, functions, tuple(n for n in NEEDS if n in needed), summary)


def _refusal(name, function):
    """Say that a function does not take a method, and which functions do."""
    method_names = ", ".join(m.name for m in methods() if function in m.functions)
    takers = next((m.functions for m in methods() if isinstance(name, str) and m.name == name), ())
    if takers:
        verb = "do" if len(takers) > 1 else "does"
        return (
            f"{function} does not take the method {name!r}, {' and '.join(takers)} {verb}: "
            f"available for {function} are {method_names}"
        )
    near = did_you_mean(name, [m.name for m in methods()] + list(PRESETS))
    if isinstance(name, str) and name in KINDS:
        more = "; LightGBM's gain is kind='total_gain'" if name == "gain" else ""
        near = f" (that is splitcredit.splits(model, kind={name!r}){more})"
    return f"unknown method {name!r}{near}: available are {method_names}"
