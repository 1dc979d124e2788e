"""Find features and outputs by their names or indices."""

from __future__ import annotations

import difflib

import numpy as np


def index_of(names, name, who: str) -> int:
    """Return the index of a name, or an index itself; a ValueError lists the names."""
    if isinstance(name, str) and name in names:
        places = [k for k, known in enumerate(names) if known == name]
        if len(places) > 1:
            raise ValueError(f"{who}: several are called {name!r}: pass an index, one of {places}")
        return places[0]
    is_index = isinstance(name, (int, np.integer)) and not isinstance(name, bool)
    if is_index and 0 <= name < len(names):
        return int(name)
    raise ValueError(
        f"{who}: {name!r} is neither an index below {len(names)} nor a name in {list(names)[:10]}"
    )


def did_you_mean(name, known) -> str:
    """Ask for the nearest of the known names, if one is near, at the end of a message."""
    of_lower = {known_name.lower(): known_name for known_name in known}
    near = difflib.get_close_matches(str(name).lower(), list(of_lower), 1)
    return f" (did you mean {of_lower[near[0]]!r}?)" if near else ""


def feature_index(names, name, who: str) -> int:
    """Call `index_of` for a feature, whose name may have another form; see `as_known`."""
    is_name = isinstance(name, (str, tuple))
    known = name
    if is_name:
        known = _without_steps(as_known([name], names)[0], names)
    index = index_of(names, known, who)
    if not is_name and str(name) in names and names.index(str(name)) != index:
        raise ValueError(
            f"{who}: {name} may mean the feature {str(name)!r} or that of index {name}, which is "
            f"{names[index]!r}: pass the name, as text"
        )
    return index


def as_known(names, expected) -> list[str]:
    """Return names as text, in the form in which a library keeps them, if the model has it.

    LightGBM keeps underscores for blanks, XGBoost the levels of a MultiIndex with blanks between
    them, and CatBoost the position of a column without a name.
    """
    known = set(expected)
    return [_in_known_form(name, j, known) for j, name in enumerate(names)]


def _without_steps(text, names):
    """Return a name without prefixes of pipeline steps, if only that is known."""
    rest = text
    while rest not in names and "__" in rest:
        rest = rest.partition("__")[2]
    return rest if rest in names else text


def _in_known_form(name, position, known):
    text = str(name)
    if text == "" and "" not in known and str(position) in known:
        return str(position)
    kept = " ".join(map(str, name)) if isinstance(name, tuple) else text.replace(" ", "_")
    return kept if text not in known and kept in known else text


def as_names(names, who="names") -> tuple[str, ...]:
    """Return names as a tuple of str; a tuple of them unchanged."""
    if type(names) is tuple and set(map(type, names)) <= {str}:
        return names
    is_list = hasattr(names, "__iter__") and getattr(names, "ndim", 1) > 0
    if isinstance(names, (str, bytes)) or not is_list:
        raise ValueError(f"{who}: {names!r} is not a list of names")
    return tuple(str(name) for name in names)


def columns_in_order(X, names):
    """Return X with its columns in the order of the names, if it has exactly these."""
    labels = labels_of_columns(X)
    column_names = [] if labels is None else _as_shown(labels, names)
    is_distinct = len(set(column_names)) == len(column_names)
    if not is_distinct or sorted(column_names) != sorted(names):
        return X
    return with_columns(X, column_names, names)


def with_columns(X, columns, names):
    """Return a table, with the given column names, in the order of the features."""
    check_columns(columns, names)
    position = {name: k for k, name in enumerate(columns)}
    order = [position[name] for name in names]
    if order == list(range(len(order))):
        return X
    if hasattr(X, "iloc"):
        return X.iloc[:, order]
    labels = [labels_of_columns(X)[k] for k in order]
    return X.select(labels) if hasattr(X, "select") else X[labels]


def check_columns(columns, expected) -> None:
    """Refuse columns that are not the model's, in any order."""
    known, present = set(expected), set(columns)
    missing = [name for name in expected if name not in present]
    extra = [name for name in columns if name not in known]
    if missing or extra:
        remedy = "leave out what is not expected"
        if missing:
            remedy = "pass those that it was fitted on, or an array of them in that order"
        raise ValueError(
            f"the columns of X are not the features of the model: missing {missing[:5]}, not "
            f"expected {extra[:5]}; {remedy}"
        )
    if len(columns) > len(present):
        twice = sorted({name for name in columns if columns.count(name) > 1})
        raise ValueError(f"X has several columns of the same name, {twice[:5]}: keep one of each")


def rows_to_show(X, names):
    """Return rows under the names of features, by position for names that were made up."""
    if hasattr(X, "toarray"):
        raise ValueError("X is sparse: pass X.toarray()")
    in_order = columns_in_order(X, names)
    labels = labels_of_columns(in_order)
    columns = list(names) if labels is None else _as_shown(labels, names)
    if columns == list(names) or (set(columns) != set(names) and are_made_up(names)):
        return in_order
    raise ValueError(
        f"X has the columns {columns[:5]}, and {list(names)[:5]} was explained: pass the rows as "
        "the trees see them, those of a pipeline as model[:-1].transform(X) gives them, or "
        "X.to_numpy() if the columns are these features in their order"
    )


def _as_shown(labels, names):
    return [_without_steps(name, names) for name in as_known(labels, names)]


def are_made_up(names):
    """Return whether names were made up for a model that has none."""
    return any(
        list(names) == [f"{start}{j}" for j in range(len(names))] for start in ("x", "Column_")
    )


def names_of_columns(X) -> list[str] | None:
    """Return the column names of a table of any library; else None."""
    labels = labels_of_columns(X)
    return None if labels is None else [str(label) for label in labels]


def labels_of_columns(X):
    """Return the column labels of a table as its library has them; else None.

    The `columns` of a table of pyarrow are its data. A DataFrame of pandas has its columns as
    attributes, so that one may be called ``column_names``.
    """
    columns = getattr(X, "columns", None)
    return columns if hasattr(X, "iloc") else getattr(X, "column_names", columns)


def in_order_of_features(forest, given, who: str):
    """Return what is given by feature name in the order of a model's features."""
    if not (hasattr(given, "keys") and hasattr(given, "__getitem__")):
        return given
    labels = list(given.keys())
    label_of = dict(zip(forest.known(labels), labels, strict=True))
    label_of |= {str(label): label for label in labels}
    missing = [name for name in forest.feature_names if name not in label_of]
    if missing and hasattr(given, "to_numpy") and not forest.names_given:
        return given.to_numpy()
    if missing:
        raise ValueError(f"{who} has no entry for {missing[:5]}: give one for every feature")
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise ValueError(f"{who} has several entries for {twice!r}: give one for every feature")
    return np.array([given[label_of[name]] for name in forest.feature_names])


def with_plain_booleans(given, who: str):
    """Return a mask of pandas or of objects as one of NumPy; anything else unchanged."""
    has_columns, is_pandas = hasattr(given, "columns"), hasattr(given, "iloc")
    if not (is_pandas or isinstance(given, np.ndarray)):
        return given
    dtypes = list(given.dtypes) if has_columns else [given.dtype]
    if not any(str(dtype) in ("boolean", "object", "bool[pyarrow]") for dtype in dtypes):
        return given
    cells = np.asarray(given, object).ravel()
    are_missing = [cell is None or str(cell) in ("<NA>", "nan") for cell in cells]
    if not len(cells) or not all(
        is_missing or isinstance(cell, (bool, np.bool_))
        for cell, is_missing in zip(cells, are_missing, strict=True)
    ):
        return given
    if any(are_missing):
        raise ValueError(f"{who} has missing values: fill them with true or false")
    return given.astype(bool)


def row_index(X):
    """Return the row labels of a DataFrame, a pandas Index; else None."""
    return X.index if hasattr(X, "iloc") and hasattr(X, "columns") else None


def check_index(index, n: int):
    """Return labels as a pandas.Index, or None; ValueError unless each of n rows has one."""
    if index is None:
        return None
    import pandas as pd

    try:
        labels = index if isinstance(index, pd.Index) else pd.Index(index)
    except (TypeError, ValueError):
        raise ValueError(f"index={index!r}: expected a label for each of {n} rows") from None
    if len(labels) != n:
        raise ValueError(f"index has {len(labels)} labels, expected {n}: one for each row")
    return labels


def free(name, taken) -> str:
    """Return a free name for a column of a result: the name, followed by underscores if taken."""
    while name in taken:
        name = f"{name}_"
    return name


def indexed(frame, index, times: int, own: int):
    """Give a frame the labels of the explained rows, and free names to its first columns."""
    taken = {*frame.columns[own:]}
    if index is not None:
        frame.index = index.repeat(times)
        taken |= {*frame.index.names}
    frame.columns = [*(free(name, taken) for name in frame.columns[:own]), *frame.columns[own:]]
    return frame
