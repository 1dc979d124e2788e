"""Second opinions: measures of the library as the papers' own programs compute them.

There is a file for each, or a function in the file `packages`. Beside them stand ``random_order``,
which any measure should beat, and ``rank``, the public function of the library where it is more
than the file of its method.

A file has ``explain(model, forest, X, ...) -> Attribution`` or ``importance(model, forest, ...) ->
Importance``, and the name of the file is the name that a recipe of an importance gives, beside the
names of `splitcredit.measures`. `model` is the fitted estimator of the library that grew it:
the job of the importances fits it anew from its recipe, and checks that it is the one whose
`forest`, which gives the names, was saved. ``REQUIRES`` says what the model must be, in the words
of `reproduction.models.REQUIREMENTS`.
"""

from reproduction import registry
from splitcredit import measures

KINDS = ("explain", "importance", "rank")
FAMILIES = {
    "packages": (
        *("local_mdi_treeinterpreter", "saabas_treeinterpreter", "saabas_xgboost"),
        "tree_shap_interventional_shap",
    )
}


def available() -> list[str]:
    """Names of the measures of other packages."""
    return registry.names(__name__, FAMILIES)


def function_of(name: str):
    """The function of a measure, of another package or of the library; ValueError lists these."""
    if name not in available():
        return measures.function_of(name)
    found = _declared(name)
    return found if callable(found) else getattr(found, kind_of(name))


def kind_of(name: str) -> str:
    """What the function does: ``"explain"`` rows, give an ``"importance"``, or ``"rank"``."""
    if name not in available():
        return measures.kind_of(name)
    found = _declared(name)
    return "explain" if callable(found) else next(kind for kind in KINDS if hasattr(found, kind))


def requires(name: str) -> tuple[str, ...]:
    """What the model must be, in words; see `splitcredit.measures`."""
    declared = _declared(name) if name in available() else measures.module_of(name)
    return tuple(getattr(declared, "REQUIRES", ()))


def _declared(name):
    return registry.load(__name__, name, "measure of another package", FAMILIES)
