"""Audits of fitted models: `compare` of all measures, and `audit`, a page of eight questions.

The name is not that of the function, so that ``splitcredit.audit`` is the function always.

- `subject` opens a model and its rows, once, and cuts them down to what two minutes allow.
- `comparison` has the table of measures, and computes them.
- `copies` fits the model anew beside permuted copies of its features.
- `sections` answers the eight questions; `result` puts them together.
- `texts` has their sentences, `plots` and `page` draw and write them.
- ``rule.csv`` is the rule of the matrix of trust.
"""

from splitcredit.views.auditing.comparison import Comparison, compare
from splitcredit.views.auditing.result import Audit, audit

__all__ = ["Audit", "Comparison", "audit", "compare"]
