"""The public names for type checkers, which do not see names that are imported when first used."""

from splitcredit.api import explain as explain
from splitcredit.api import explain_chunks as explain_chunks
from splitcredit.api import faithfulness as faithfulness
from splitcredit.api import importance as importance
from splitcredit.api import methods as methods
from splitcredit.api import rank as rank
from splitcredit.api.interactions import Interactions as Interactions
from splitcredit.api.interactions import interactions as interactions
from splitcredit.api.partial_dependence import partial_dependence as partial_dependence
from splitcredit.measures.air import air as air
from splitcredit.measures.conditional_permutation import (
    conditional_permutation as conditional_permutation,
)
from splitcredit.measures.local_mdi import local_mdi as local_mdi
from splitcredit.measures.mda import mda as mda
from splitcredit.measures.mdi import mdi as mdi
from splitcredit.measures.mdi_oob import mdi_oob as mdi_oob
from splitcredit.measures.oob_attributions import oob_attributions as oob_attributions
from splitcredit.measures.oob_attributions import oob_importance as oob_importance
from splitcredit.measures.penalized_gini import penalized_gini as penalized_gini
from splitcredit.measures.permutation import permutation as permutation
from splitcredit.measures.saabas import saabas as saabas
from splitcredit.measures.sage import sage as sage
from splitcredit.measures.splits import splits as splits
from splitcredit.measures.tree_shap import tree_shap as tree_shap
from splitcredit.measures.tree_shap_interventional import (
    tree_shap_interventional as tree_shap_interventional,
)
from splitcredit.measures.ufi import ufi as ufi
from splitcredit.models.forest import Forest as Forest
from splitcredit.models.formats import to_forest as to_forest
from splitcredit.results.attribution import Attribution as Attribution
from splitcredit.results.attribution import Importance as Importance
from splitcredit.results.partial_dependence import PartialDependence as PartialDependence
from splitcredit.views.auditing import Audit as Audit
from splitcredit.views.auditing import Comparison as Comparison
from splitcredit.views.auditing import audit as audit
from splitcredit.views.auditing import compare as compare
from splitcredit.views.explainer import TreeExplainer as TreeExplainer

__version__: str
