"""Draw results after checks of the arguments, and convert results to shap's form."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from splitcredit.results.plots import drawing, kinds, rows
from splitcredit.rows.names import feature_index, index_of, rows_to_show
from splitcredit.rows.tables import check_choice

# Panels beside each other.
_PANELS = 5


def of_importance(importance, ax, top):
    """Draw importances; see `Importance.plot`."""
    order = drawing.first(np.argsort(-importance.values, kind="stable"), top)
    ax = drawing.new_axes(ax, len(order), importance.feature_names)
    ends = None if importance.refits is None else importance.interval()[:, order]
    drawing.bars(ax, importance.values[order], importance.standard_error[order], ends)
    text = drawing.wrapped(_counted(importance))
    if ends is not None:
        text += f"\nlines: 95 % of {len(importance.refits)} refits"
    drawing.label(ax, importance, order, text)
    return ax


def _counted(importance):
    """Write what the values of an importance count, and its method."""
    output = importance.parameters.get("output")
    is_one = isinstance(output, str) and output != "all"
    counted = drawing.unit(importance, output if is_one else "")
    if "mean |attribution|" in importance.parameters.values():
        counted = f"mean |contribution| to the {counted}"
    return f"{counted or 'importance'} ({importance.method})"


def side_by_side(importances, top=20, panels=True):
    """Draw importances side by side; see `Importance.side_by_side`."""
    named = _by_label(importances)
    of_each = [one.feature_names for one in named.values()]
    features = [name for name in of_each[0] if all(name in own for own in of_each)]
    if not features:
        text = f"no feature is in all of {list(named)}, the first of which has {of_each[0][:5]}"
        raise ValueError(f"{text}: pass importances that share features")
    everything = SimpleNamespace(feature_names=[*dict.fromkeys([*features, *sum(of_each, ())])])
    pairs = [(one, [one.feature_names.index(n) for n in features]) for one in named.values()]
    values = np.array([one.values[places] for one, places in pairs])
    errors = np.array([one.standard_error[places] for one, places in pairs])
    rank = np.argsort(np.argsort(-values, axis=1, kind="stable"), axis=1).mean(axis=0)
    order = drawing.first(np.argsort(rank, kind="stable"), top)
    if not panels:
        return _together(named, values, errors, order, everything)
    axes = _panels(len(named), len(order))
    for k, (ax, (name, one)) in enumerate(zip(axes, named.items(), strict=True)):
        drawing.bars(ax, values[k, order], errors[k][order])
        drawing.label(ax, everything, order, drawing.wrapped(drawing.unit(one), 22))
        ax.set_title(drawing.shortened(name, 20), fontsize="small")
        ax.xaxis.label.set_size("x-small")
        ax.tick_params("x", labelsize="x-small")
        ax.locator_params("x", nbins=2)
        if k % _PANELS:
            ax.tick_params("y", labelleft=False)
            for note in ax.texts:
                note.set_visible(False)
    return axes


def _together(named, values, errors, order, everything):
    """Draw all importances on one axis, as shares unless all have one method and unit."""
    counted = {_counted(one) for one in named.values()}
    text = counted.pop()
    if counted:
        totals = np.array([[np.abs(one.values).sum() or 1.0] for one in named.values()])
        values, errors = values / totals, errors / totals
        text = "share of the sum of all absolute values"
    ax = drawing.new_axes(None, len(order) * (2 + len(named)) // 3, everything.feature_names)
    height = 0.8 / len(named)
    drawn = []
    for k, (own, error) in enumerate(zip(values, errors, strict=True)):
        place = 0.4 - (k + 0.5) * height, height, f"C{k}"
        drawn.append(drawing.bars(ax, own[order], error[order], None, *place))
    above = {"loc": "lower right", "bbox_to_anchor": (1, 1), "ncols": 2, "frameon": False}
    ax.legend(drawn, [drawing.literal(name) for name in named], **above)
    drawing.label(ax, everything, order, drawing.wrapped(text))
    return ax


def _by_label(importances):
    """Return importances by their titles: their labels, or their methods."""
    if hasattr(importances, "items"):
        named = {str(name): _averaged(one) for name, one in importances.items()}
    else:
        named = {}
        for one in map(_averaged, importances):
            twins = sum(one.method == other.method for other in named.values())
            named[f"{one.method} ({twins + 1})" if twins else one.method] = one
    if not named:
        raise ValueError("no importances are given: pass at least one")
    return named


def _averaged(result):
    """Return an importance as it is, and attributions as means of absolute values."""
    if result.values.ndim == 1:
        return result
    mean = np.abs(result.values).mean(axis=0, dtype=np.float64).sum(axis=1)
    own = {"values": mean, "standard_error": np.full(len(mean), np.nan)}
    own["parameters"] = result.parameters | {"summary": "mean |attribution|"}
    return SimpleNamespace(**vars(result) | own)


def _panels(n_panels, n_features):
    """Return axes (n_panels,) in rows of a few."""
    columns = min(n_panels, _PANELS)
    rows = -(-n_panels // columns)
    size = 2.2 + 1.5 * columns, rows * (0.9 + 0.28 * max(n_features, 1))
    figure = drawing.pyplot().figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes[n_panels:]:
        ax.remove()
    return axes[:n_panels]


def of_attribution(attribution, ax, output, top, X, kind, row, feature):
    """Draw attributions; see `Attribution.plot`."""
    n, p, _ = attribution.values.shape
    X = _read_columns(attribution, X)
    if X is not None and np.shape(X) != (n, p):
        raise ValueError(
            f"X has shape {np.shape(X)}, and {(n, p)} was explained: pass the same rows, as the "
            "trees see them"
        )
    names = attribution.output_names
    outputs = [*range(len(names))] if output is None else [index_of(names, output, "output")]
    shown = [names[c] for c in outputs]
    if kind is not None:
        _check_kind(kind, n, shown)
    means = np.zeros((p, len(outputs)))
    if n:
        means = np.abs(attribution.values[:, :, outputs]).mean(axis=0, dtype=np.float64)
    ranking = np.argsort(-means.sum(axis=1), kind="stable")
    order = drawing.first(ranking, top)
    X = attribution.data if X is None else rows_to_show(X, attribution.feature_names)
    if kind == "waterfall":
        return kinds.waterfall(attribution, ax, outputs[0], top, X, row)
    if kind == "scatter":
        known = attribution.feature_names
        j = ranking[0] if feature is None else feature_index(known, feature, "feature")
        return kinds.scatter(attribution, ax, outputs[0], X, j)
    if kind == "decision":
        return rows.decision(attribution, ax, outputs[0], X, row, order)
    if kind == "force":
        return rows.force(attribution, ax, outputs[0], top, X, row)
    if kind == "heatmap":
        return kinds.heatmap(attribution, ax, outputs[0], order)
    ax = drawing.new_axes(ax, len(order), attribution.feature_names)
    what = "contribution"
    if len(outputs) > 1 or kind == "bar":
        kinds.stacked_bars(ax, means[order], shown)
        what = "mean |contribution|"
    else:
        colors = None if X is None else drawing.numbers(X)[:, order]
        kinds.swarms(ax, attribution.values[:, order, outputs[0]], colors)
        if X is not None:
            drawing.gray_legend(ax, X, order)
    drawing.label(ax, attribution, order, drawing.title(attribution, outputs, what))
    return ax


def _check_kind(kind, n, outputs):
    """Refuse an unknown kind, or one that does not show what is to be drawn."""
    check_choice("kind", kind, kinds.KINDS)
    if kind != "bar" and len(outputs) > 1:
        raise ValueError(f"kind={kind!r} shows one output: pass output=, one of {outputs[:10]}")
    if kind not in ("bar", "beeswarm") and n == 0:
        raise ValueError(f"kind={kind!r} shows rows, and none were explained: explain some")


def imported_shap():
    """Import the package shap."""
    return drawing.imported("shap", "a shap.Explanation needs")


def _read_columns(result, X):
    """Select the explained columns of a table that has others, which no step reads."""
    names = list(result.feature_names)
    return X[names] if hasattr(X, "iloc") and {*names} <= {*X} else X


def explanation(result, X):
    """Convert to shap; see `Attribution.to_shap` and `Interactions.to_shap`."""
    shap = imported_shap()
    values, n_outputs = result.values, result.values.shape[-1]
    X = _read_columns(result, X)
    shape, given = (len(values), len(result.feature_names)), np.shape(X)
    if X is not None and given != shape:
        raise ValueError(f"X has shape {given}, and {shape} was explained: pass the same rows")
    data = getattr(result, "data", None)
    data = data if X is None else rows_to_show(X, result.feature_names)
    base = np.broadcast_to(result.baseline, (len(values), n_outputs)).copy()
    is_one = n_outputs == 1
    return shap.Explanation(
        values=values[..., 0] if is_one else values,
        base_values=base[:, 0] if is_one else base,
        data=None if data is None else np.asarray(data),
        feature_names=list(result.feature_names),
        output_names=None if is_one else list(result.output_names),
    )
