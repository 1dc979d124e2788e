"""Metrics, found by name, with ``compute(attributions, ...) -> DataFrame``.

A file is one metric, which has the name of the file, or a family of them, see `FAMILIES`: there
each metric is a function of its name, and declares by `declared` what others do by constants of
their file. `attributions` maps the names of the run's importances to their `Attribution` or
`Importance`; a metric that does not say what they are does not use them. It may also take the run's
``data``, the rows that are explained, and ``training``, those that the model was fitted on
(`Dataset`), its ``forest`` (`Forest`), its ``estimator``, not fitted, ``refit``, ``(X, y) -> fitted
model``, which fits the model of the run to other rows, and ``random_state``, its seed. The rows of
the result are tidy, with features by their names.

A metric declares its columns: ``KEYS`` tell the rows of one run apart, the one that curves are
drawn by first; ``VALUES`` are numbers that can be drawn, the first by default. The names ``run``,
``metric``, ``data``, ``model``, ``repeat`` and ``variant`` are columns of sweeps. A metric that has
no rows without importances declares how many it needs as ``IMPORTANCES``, and one that measures the
results of one method alone names it as ``METHOD``; planning refuses an experiment without them.
``SCORES`` of ``"global"`` says that a metric takes one output of every importance, and of
``"local"`` that it takes importances that explain rows by one output. Planning also refuses an
empty list for a parameter, unless that is the default or the metric names it in ``MAY_BE_EMPTY``.
``REQUIRES`` says what the model must be, as for importances. What the rows of the data set decide
is checked by a function ``check(load, ...)`` of parameters of the recipe, which says what is wrong;
``load()`` is the `Dataset`.
"""

from reproduction import registry

# File of a family -> its metrics.
FAMILIES = {
    "correlations": ("class_correlation", "row_correlation", "row_correlation_summary"),
    "clusterings": ("cluster_bars", "clustering_r2"),
    "errors": ("cross_validated_error", "randomized_error", "removed_error"),
    "gaps": ("pgi2", "pgi2_bound", "pgi2_optimum", "pgi_agreement"),
    "greedy": ("ranking_changes", "topk_agreement"),
    "scores": ("global_scores", "local_scores", "local_values", "relevance_auc"),
    "truth": ("problem_facts", "truth_scores"),
    "trees": ("mdi_by_depth", "model_card", "single_children"),
}
# What most metrics declare: they take one output of each importance, or scores of rows by one.
GLOBAL = {"IMPORTANCES": 1, "SCORES": "global"}
LOCAL = {"IMPORTANCES": 1, "SCORES": "local"}


def available() -> list[str]:
    """Names of the metrics."""
    return registry.names(__name__, FAMILIES)


def declared(*keys: str, values: tuple[str, ...] = ("value",), **others):
    """Give a metric of a family its ``KEYS``, ``VALUES`` and what else a file of one declares."""
    return registry.declared(KEYS=keys, VALUES=values, **others)


def metric(name: str):
    """The function of one metric; ValueError lists the metrics."""
    found = module_of(name)
    return found if callable(found) else found.compute


def module_of(name: str):
    """What declares the constants of one metric: its module, or its function in a family."""
    return registry.load(__name__, name, "metric", FAMILIES)


def keys(name: str) -> tuple[str, ...]:
    """Columns that tell the rows of one run apart, as a metric declares them."""
    return tuple(getattr(module_of(name), "KEYS", ()))
