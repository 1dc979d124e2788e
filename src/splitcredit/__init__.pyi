"""The public names for type checkers, which do not see names that are imported when first used."""

from splitcredit.attribution import Attribution as Attribution
from splitcredit.attribution import Importance as Importance
from splitcredit.auditing import Audit as Audit
from splitcredit.auditing import Comparison as Comparison
from splitcredit.auditing import audit as audit
from splitcredit.auditing import compare as compare
from splitcredit.explainer import TreeExplainer as TreeExplainer
from splitcredit.face import explain as explain
from splitcredit.face import explain_chunks as explain_chunks
from splitcredit.face import faithfulness as faithfulness
from splitcredit.face import importance as importance
from splitcredit.face import methods as methods
from splitcredit.face import rank as rank
from splitcredit.forest import Forest as Forest
from splitcredit.formats import to_forest as to_forest
from splitcredit.shapley_interactions import Interactions as Interactions
from splitcredit.shapley_interactions import interactions as interactions

__version__: str
