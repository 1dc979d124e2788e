"""Second opinions: our values beside those of other packages, on the models of the paper."""

from functools import partial

from reproduction.papers import _agreement

compute, draw = _agreement.compute, _agreement.draw
# s47: the packages that compute each measure, appendix C.
_NAMED = dict.fromkeys(["Saabas", "TreeSHAP", "TreeSHAP, interventional"], "s47")
statements = partial(_agreement.statements, named=_NAMED)
