"""Metrics: one file each, found by its file name, with ``compute(attributions, ...) -> DataFrame``.

`attributions` maps the names of the run's importances to their `Attribution` or `Importance`; a
metric that does not say what they are does not use them. It may also take the run's ``data``, the
rows that are explained, and ``training``, those that the model was fitted on (`Dataset`), its
``forest``, its ``estimator``, not fitted, ``refit``, which fits the model of the run to other rows,
and ``random_state``. The rows of the result are tidy, with features by their names. A module also
declares its columns: ``KEYS`` tell the rows of one run apart, the one that curves are drawn by
first; ``VALUES`` are numbers that can be drawn, the first by default. The names ``run``,
``metric``, ``data``, ``model``, ``repeat`` and ``variant`` are columns of sweeps. A metric that has
no rows without importances declares how many it needs as ``IMPORTANCES``, and one that measures the
results of one method alone names it as ``METHOD``; planning refuses an experiment without them.
``SCORES`` of ``"global"`` says that a metric takes one output of every importance, and of
``"local"`` that it takes importances that explain rows by one output. Planning also refuses an
empty list for a parameter, unless that is the default or the module names it in ``MAY_BE_EMPTY``.
``REQUIRES`` says what the model must be, as for importances. What the rows of the data set decide
is checked by a function ``check(load, ...)`` of parameters of the recipe, which says what is wrong;
``load()`` is the `Dataset`.
"""

from reproduction import registry


def available() -> list[str]:
    """Names of the metrics."""
    return registry.names(__name__)


def metric(name: str):
    """The ``compute`` function of one metric; ValueError lists the metrics."""
    return module_of(name).compute


def module_of(name: str):
    """The module of one metric; ValueError lists the metrics."""
    return registry.load(__name__, name, "metric")


def keys(name: str) -> tuple[str, ...]:
    """Columns that tell the rows of one run apart, as the module of a metric declares them."""
    return tuple(getattr(module_of(name), "KEYS", ()))
