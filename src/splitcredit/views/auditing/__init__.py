"""Audits of fitted models: `compare` of all measures, and `audit`, a page with a verdict.

The name is not that of the function, so that ``splitcredit.audit`` is the function always.

- `subject` opens a model and its rows, once, and cuts them down to what two minutes allow.
- `comparison` has the table of measures, and computes them.
- `leaks` looks for what gives the outcome away, with `leaks_of_rows`, in `columns`.
- `evidence` fits the model anew beside permuted copies of its features.
- `sections` puts what was found into sentences, with a verdict; `result` puts them together.
- `texts` has titles and words, `plots` and `page` draw and write.
"""

from splitcredit.views.auditing.comparison import Comparison, compare
from splitcredit.views.auditing.result import Audit, audit

__all__ = ["Audit", "Comparison", "audit", "compare"]
