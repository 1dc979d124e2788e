"""Choose outputs, labels and background for the measures that divide a prediction."""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.walks import predict
from splitcredit.models.formats import are_targets
from splitcredit.models.training import number_of
from splitcredit.results.attribution import Attribution


def explain_prediction(
    forest, X, output, method, all_outputs, one_a_row, baseline, players=None
) -> Attribution:
    """Attribute the chosen outputs of the prediction."""
    X = forest.prepare(X)
    of_outputs = of_chosen_outputs(forest, X, output, all_outputs, one_a_row, baseline)
    values, baseline, names, index = of_outputs
    return Attribution(
        values=values,
        baseline=baseline,
        feature_names=forest.feature_names if players is None else players,
        output_names=names,
        method=method,
        parameters={"output": output if isinstance(output, str) else int(output)},
        output_index=index,
    )


def prepared_background(forest, background) -> np.ndarray:
    """Check background rows and cast them once, as `Forest.prepare` does with X."""
    try:
        rows = forest.prepare(background)
    except ValueError as error:
        raise ValueError(f"background: {error}") from None
    if len(rows) == 0:
        raise ValueError("background has no rows: pass rows of the training data")
    return rows


def of_chosen_outputs(forest, X, output, all_outputs, one_a_row, baseline) -> tuple:
    """Return values, baseline and names of chosen outputs, and each row's output or None."""
    if isinstance(output, str) and output == "predicted":
        index, names = predicted_outputs(forest, X), ("predicted",)
        if forest.other_class is None:
            return one_a_row(forest, X, index)[..., None], baseline[index][:, None], names, index
        values = of_predicted(index, all_outputs(forest, X, np.zeros(1, np.int64)))
        return values, of_predicted(index, baseline[None]), names, index
    outputs = chosen_outputs(forest, output, "'all', 'predicted'")
    values, baseline = all_outputs(forest, X, outputs), baseline[outputs]
    if is_other_class(forest, output):
        return 0.0 - values, 0.0 - baseline, (forest.other_class,), None
    return values, baseline, tuple(forest.output_names[c] for c in outputs), None


def predicted_outputs(forest, X) -> np.ndarray:
    """Return the class with the largest prediction for each prepared row, (n_samples,)."""
    refuse_targets(forest)
    return largest(forest, predict.predict(forest, X))


def largest(forest, scores) -> np.ndarray:
    """Return the class with the largest score, the first of equals; of (n_samples, n_outputs)."""
    if forest.other_class is not None:
        return (scores[:, 0] > 0).astype(np.int64)
    return scores.argmax(axis=1)


def of_predicted(index, scored) -> np.ndarray:
    """Negate what belongs to the score of the second class in rows of the first."""
    is_second = index.astype(np.bool_).reshape(-1, *[1] * (scored.ndim - 1))
    return np.where(is_second, scored, 0.0 - scored)


def refuse_targets(forest) -> None:
    """Refuse a model of several targets, among which the user has to choose."""
    if are_targets(forest):
        raise ValueError(
            f"the outputs {list(forest.output_names)[:5]} are several targets: choose one with "
            "output=, by index or by name"
        )


class OutputIndex(int):
    """Index of an output that the library has chosen; it is never a class of that name."""


def chosen_outputs(forest, output, allowed="'all'") -> np.ndarray:
    """Return the indices for ``"all"``, or for the name or index of an output, int64."""
    if isinstance(output, str) and output == "all":
        return np.arange(forest.n_outputs)
    if isinstance(output, OutputIndex):
        return np.array([int(output)])
    names = list(classes_of(forest))
    index = _index_among(names, output)
    if index is not None:
        return np.array([0 if forest.other_class is not None else index])
    if not allowed:
        raise ValueError(
            f"output={output!r} is neither an index below {len(names)} nor a name in {names}"
        )
    raise ValueError(
        f"output={output!r} is not one of {allowed}, an index below {len(names)}, "
        f"or a name in {names}"
    )


def is_other_class(forest, output) -> bool:
    """Return whether `output` is the first of two classes, which has no score of its own."""
    if forest.other_class is None or isinstance(output, OutputIndex):
        return False
    return _index_among(list(classes_of(forest)), output) == 0


def classes_of(forest):
    """Name the outputs, behind the name of the class that has no score, if there is one."""
    return (*(() if forest.other_class is None else (forest.other_class,)), *forest.output_names)


def _index_among(names, output):
    """Return the index of a name, or of a number that is not a name; else None."""
    if isinstance(output, str):
        return names.index(output) if output in names else None
    if not _is_index(output) or not 0 <= output < len(names):
        return None
    named = [name for name in names if number_of(name) == output]
    if named and names[output] not in named:
        raise ValueError(
            f"output={output} may mean the class {output} or the output of index {output}, which "
            f"is {names[output]!r}: pass output={named[0]!r} or output={names[output]!r}"
        )
    return int(output)


def _is_index(output):
    return isinstance(output, (int, np.integer)) and not isinstance(output, bool)
