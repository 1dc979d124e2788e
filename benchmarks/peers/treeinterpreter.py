"""treeinterpreter: Saabas row by row in Python; one thread."""

from treeinterpreter import treeinterpreter

PACKAGE = "treeinterpreter"
THREADS = False


def construct(model, X, measure, variant, background, threads):
    """Nothing is made beforehand."""
    return model


def explain(explainer, X):
    """Prediction, bias and contributions of the rows."""
    return treeinterpreter.predict(explainer, X)


def arranged(raw):
    """Only the contributions."""
    return raw[2]
