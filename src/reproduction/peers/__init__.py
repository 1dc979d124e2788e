"""Second opinions: measures of the library as the papers' own programs compute them.

There is a file for each. Beside them stand ``random_order``, which any measure should beat, and
``rank``, the public function of the library where it is more than the file of its method.

A file has ``explain(model, forest, X, ...) -> Attribution`` or ``importance(model, forest, ...) ->
Importance``, and the name of the file is the name that a recipe of an importance gives, beside the
names of `splitcredit.measures`. `model` is the fitted estimator of the library that grew it:
the job of the importances fits it anew from its recipe, and checks that it is the one whose
`forest` was saved. ``REQUIRES`` says what the model must be, in the words of
`reproduction.planning.checks`. ``parameters`` of the result name the package, its release and the
type in which it adds up.
"""

from reproduction import registry
from splitcredit import measures

KINDS = ("explain", "importance", "rank")


def available() -> list[str]:
    """Names of the measures of other packages."""
    return registry.names(__name__)


def function_of(name: str):
    """The function of a measure, of another package or of the library.

    ValueError if there is none; the message lists the measures of the library.
    """
    if name not in available():
        return measures.function_of(name)
    return getattr(_module_of(name), kind_of(name))


def kind_of(name: str) -> str:
    """What the function does: ``"explain"`` rows, give an ``"importance"``, or ``"rank"``."""
    if name not in available():
        return measures.kind_of(name)
    return next(kind for kind in KINDS if hasattr(_module_of(name), kind))


def requires(name: str) -> tuple[str, ...]:
    """What the model must be, in words; see `splitcredit.measures`."""
    module = _module_of(name) if name in available() else measures.module_of(name)
    return tuple(getattr(module, "REQUIRES", ()))


def _module_of(name):
    return registry.load(__name__, name, "measure of another package")
