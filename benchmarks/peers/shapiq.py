"""shapiq: quadrature in C++, double precision, row by row; one thread.

The variant ``public`` is `TreeExplainer.explain_X`; ``kernel`` calls the compiled function below
it directly, which is private and spares the Python objects of the result.
"""

import numpy as np
from shapiq.tree import TreeExplainer

import fitted

PACKAGE = "shapiq"
THREADS = False


def construct(model, X, measure, variant, background, threads):
    """One explainer a class; two classes are each other's negative, so there one does."""
    n_classes = fitted.class_count(model)
    classes = range(n_classes) if n_classes > 2 else [None]
    explainers = [TreeExplainer(model, max_order=1, class_index=c) for c in classes]
    for explainer in explainers:
        explainer._init_explainers()  # else the first call does it
    return variant, explainers


def explain(explainer, X):
    """Attributions of the rows, one array or batch a class."""
    variant, explainers = explainer
    if variant == "public":
        return X.shape, [e.explain_X(X) for e in explainers]
    return X.shape, [_rows(e._pathdependent_explainer, X) for e in explainers]


def _rows(quadrature, X):
    features = quadrature._relevant_features
    values = np.zeros(X.shape)
    for i, row in enumerate(quadrature._trees[0].cast_input(np.asarray(X, np.float64))):
        values[i, features] = quadrature._explain_cpp(row[features])
    return values


def arranged(raw):
    """Batches hold one array a feature, for the features used."""
    (n_samples, n_features), results = raw
    attributions = np.zeros((n_samples, n_features, len(results)))
    for c, result in enumerate(results):
        if isinstance(result, np.ndarray):
            attributions[:, :, c] = result
        else:
            for key, values in result.values.items():
                if len(key) == 1:
                    attributions[:, key[0], c] = values
    return attributions
