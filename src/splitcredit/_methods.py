"""The table of all methods: what takes them, what they need, and checks of their parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache, wraps
from typing import Any, TypeVar

from splitcredit import importances
from splitcredit._names import did_you_mean
from splitcredit.importances.splits import KINDS

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
# The ranking that is no module of `importances`; the other is `pg2_greedy`.
OPTIMUM = "pgi2_optimum"
GREEDY = "pg2_greedy"
_PENALIZED = ("pg_10", "pg_hat_10", "pg_051", "pg_hat_051")
_WEIGHED = {"": {}, "_y": {"weigh_by": "y"}, "_centered": {"weigh_by": "centered_y"}}
# Names that are taken for a method with parameters: those of `compare`, of audits and of the study
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
    """One method.

    Parameters
    ----------
    name : str
        The word that the functions take as ``method``.
    functions : tuple of str
        Those of ``explain``, ``importance`` and ``rank`` that take it. `splitcredit.faithfulness`
        measures the ranking of each.
    needs : tuple of str
        Beside model and X; see `NEEDS`.
    summary : str
        One line.
    """

    name: str
    functions: tuple[str, ...]
    needs: tuple[str, ...]
    summary: str

    @property
    def attribute(self):
        """The function that attributes rows, or None; it is called with a forest and rows."""
        return self._first("explain", "attribute")

    @property
    def summarize(self):
        """The function that gives global importances, or None."""
        return self._first("importance")

    @property
    def takes_any_rows(self) -> bool:
        """Whether it attributes rows that the model was not fitted on, each by itself."""
        return self._first("explain") is not None

    @property
    def refits(self) -> bool:
        """Whether it fits a copy of the model, which need not be fitted itself."""
        return "refit" in self.needs

    def takes(self, parameter: str) -> bool:
        """Whether a function that attributes or summarizes has a parameter of that name."""
        function = self.attribute or self.summarize
        return function is not None and parameter in inspect.signature(function).parameters

    def why_not(self, model: object) -> str | None:
        """Why a fitted model is not served, in the words of the error; None if it is.

        Parameters
        ----------
        model : fitted model, Forest or path
        """
        from splitcredit import _handed_over
        from splitcredit.formats import to_forest
        from splitcredit.importances import _training

        try:
            if not _handed_over.is_needed(model, self.name):
                forest = to_forest(model)
                if hasattr(self._module, "refuse"):
                    self._module.refuse(model, forest)
                elif "bootstrap" in self.needs:
                    _training.refuse_untrained(forest)
        except (TypeError, ValueError) as error:
            return str(error)
        return None

    @property
    def _module(self):
        if self.name != OPTIMUM:
            return importances.module_of(self.name)
        from splitcredit.gaps import optimum

        return optimum

    def _first(self, *kinds):
        module = self._module
        return next((getattr(module, kind) for kind in kinds if hasattr(module, kind)), None)


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
        return "\n".join([*lines, "", *(f"{n}: {NEEDS[n]}" for n in NEEDS if n in used)])

    def to_frame(self):
        """As a DataFrame: name, functions, needs, summary; of a model why_not, empty if served."""
        import pandas as pd

        columns = ["name", "functions", "needs", "summary"]
        rows = [(m.name, ", ".join(m.functions), ", ".join(m.needs), m.summary) for m in self]
        frame = pd.DataFrame(rows, columns=columns)
        if self.why_not is None:
            return frame
        return frame.assign(why_not=[why or "" for why in self.why_not.values()])


def methods(model: object = None) -> MethodTable:
    """All methods: their names, the functions that take them, what they need, what they are.

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
    >>> import splitcredit
    >>> table = splitcredit.methods()
    >>> [method.name for method in table if "explain" in method.functions]
    ['local_mdi', 'oob_attributions', 'saabas', 'tree_shap', 'tree_shap_interventional']
    >>> next(method.needs for method in table if method.name == "ufi")
    ('y', 'bootstrap')
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> model = ExtraTreesClassifier(5).fit(*load_iris(return_X_y=True))
    >>> splitcredit.methods(model).why_not["ufi"][:57]
    'this model does not say which rows each tree was grown on'
    """
    found = [_method(name) for name in (*importances.names(), OPTIMUM)]
    table = MethodTable(sorted(found, key=lambda method: (-len(method.functions), method.name)))
    if model is not None:
        table.why_not = {method.name: method.why_not(model) for method in table}
    return table


def meant(name: str, parameters: dict) -> tuple[str, dict]:
    """The method that a name stands for, and its parameters; see `PRESETS`."""
    method, preset = PRESETS.get(name, (name, {})) if isinstance(name, str) else (name, {})
    return method, preset | parameters


def look_up(name: str, function: str) -> Method:
    """The method of that name, which a function takes: ``explain``, ``importance`` or ``rank``.

    ValueError if the function does not take it; the message lists the methods that it takes.
    """
    name, _ = meant(name, {})
    known = isinstance(name, str) and name in (*importances.names(), OPTIMUM)
    if not known or function not in _method(name).functions:
        raise ValueError(_refusal(name, function))
    return _method(name)


@cache
def _method(name):
    if name == OPTIMUM:
        best = "The ranking with the largest PGI^2 of all, for up to 16 features."
        return Method(OPTIMUM, ("rank",), (), best)
    module = importances.module_of(name)
    parameters = inspect.signature(importances.function_of(name)).parameters
    needed = {p.name for p in parameters.values() if p.default is inspect.Parameter.empty}
    needed |= set(getattr(module, "REQUIRES", ()))
    functions = ("rank",)
    if any(hasattr(module, kind) for kind in ("explain", "attribute")):
        functions = "explain", "importance", "rank"
    elif hasattr(module, "importance"):
        functions = "importance", "rank"
    summary = module.__doc__.partition("\n")[0]
    return Method(name, functions, tuple(n for n in NEEDS if n in needed), summary)


def _refusal(name, function):
    """The line that a function does not take a method, with the functions that do."""
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
        near = f" (that is method='splits', kind={name!r}{more})"
    return f"unknown method {name!r}{near}: available are {method_names}"


# What to do where a parameter is missing.
_HINTS = {
    "X": "the rows, X=...",
    "y": "the targets of the rows of X, y=...",
    "background": (
        "rows that unknown features are taken from, such as a hundred rows of the training data: "
        "background=X_train[:100]"
    ),
    "scale": (
        "the size of the noise in units of the features, one number or one for each feature, or in "
        "standard deviations of each feature: scale='0.3std'"
    ),
}
# What the face gives itself: the model, under whatever name, the noise, and whether to show a bar.
_GIVEN = ("forest", "estimator", "model", "perturbation", "progress", "done")


# What the face passes on by itself, or uses.
_OF_FACE = ("y", "dtype", "progress", "chunk_rows", "check_additivity")


def chosen(function, arguments) -> dict:
    """The parameters of methods that a call of the face gives: those that are not its defaults.

    Parameters
    ----------
    function : callable
        Of the face. A parameter has the default of the methods that take it, or None where these
        differ.
    arguments : dict
        Of the call, by name.
    """
    found = {}
    for name, parameter in _parameters(function).items():
        value, default = arguments[name], parameter.default
        is_default = value is default or (type(value) is type(default) and value == default)
        if parameter.kind is parameter.KEYWORD_ONLY and name not in _OF_FACE and not is_default:
            found[name] = value
    return found


def check(method: str, function, given, parameters, extra=()) -> None:
    """Compare what a method is called with and what it takes.

    TypeError if a parameter is missing or unknown. The message names the method and its parameters.

    Parameters
    ----------
    method : str
    function : callable
    given : sequence of str
        Arguments beside the parameters.
    parameters : dict
        By name.
    extra : sequence of str
        Parameters that the face takes in the place of those of the function.
    """
    signature = _parameters(function)
    accepted = [name for name in signature if name not in (*_GIVEN, "X", "y")]
    accepted = [*extra, *accepted]
    unknown = [name for name in parameters if name not in accepted]
    if unknown:
        near = did_you_mean(unknown[0], accepted)
        line = f"method {method!r} has no parameter {unknown[0]!r}{near}: {_list(accepted)}"
        if method == "tree_shap" and unknown[0] in ("background", "model_output"):
            line += f"; method='tree_shap_interventional' takes {unknown[0]}"
        raise TypeError(line)
    for name, parameter in signature.items():
        missing = parameter.default is inspect.Parameter.empty and name not in _GIVEN
        if missing and parameters.get(name) is None and name not in given:
            raise TypeError(f"{needs(f'method {method!r}', name)}; {_list(accepted)}")


_F = TypeVar("_F", bound=Callable[..., Any])


def named(function: _F) -> _F:
    """The function, which names the nearest of its parameters where one is misspelt."""
    known = inspect.signature(function).parameters

    @wraps(function)
    def called(*args, **kwargs):
        for name in (name for name in kwargs if name not in known):
            near = did_you_mean(name, known)
            raise TypeError(f"{function.__name__} has no parameter {name!r}{near}")
        return function(*args, **kwargs)

    return called  # type: ignore[return-value]


def takes(function, name: str) -> bool:
    """Whether a function has a parameter of that name."""
    return name in _parameters(function)


@lru_cache(maxsize=128)
def _parameters(function):
    """Parameters by name; reading them anew would take longer than to explain one row."""
    return inspect.signature(function).parameters


def needs(who: str, name: str) -> str:
    """The line that a method or metric needs a parameter, and how to give it."""
    return f"{who} needs {name}: {_HINTS.get(name, f'pass {name}=...')}"


def _list(names):
    return f"its parameters are {', '.join(names)}" if names else "it has no parameters"
