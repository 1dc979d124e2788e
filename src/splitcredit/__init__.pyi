"""The public names for type checkers, which do not see names that are imported when first used."""

from splitcredit.api import explain as explain
from splitcredit.api import explain_chunks as explain_chunks
from splitcredit.api import faithfulness as faithfulness
from splitcredit.api import importance as importance
from splitcredit.api import methods as methods
from splitcredit.api import rank as rank
from splitcredit.attribution import Attribution as Attribution
from splitcredit.attribution import Importance as Importance
from splitcredit.auditing import Audit as Audit
from splitcredit.auditing import Comparison as Comparison
from splitcredit.auditing import audit as audit
from splitcredit.auditing import compare as compare
from splitcredit.explainer import TreeExplainer as TreeExplainer
from splitcredit.forest import Forest as Forest
from splitcredit.formats import to_forest as to_forest
from splitcredit.importances.air import air as air
from splitcredit.importances.local_mdi import local_mdi as local_mdi
from splitcredit.importances.mda import mda as mda
from splitcredit.importances.mdi import mdi as mdi
from splitcredit.importances.mdi_oob import mdi_oob as mdi_oob
from splitcredit.importances.oob_attributions import oob_attributions as oob_attributions
from splitcredit.importances.oob_attributions import oob_importance as oob_importance
from splitcredit.importances.penalized_gini import penalized_gini as penalized_gini
from splitcredit.importances.permutation import permutation as permutation
from splitcredit.importances.saabas import saabas as saabas
from splitcredit.importances.sage import sage as sage
from splitcredit.importances.splits import splits as splits
from splitcredit.importances.tree_shap import tree_shap as tree_shap
from splitcredit.importances.tree_shap_interventional import (
    tree_shap_interventional as tree_shap_interventional,
)
from splitcredit.importances.ufi import ufi as ufi
from splitcredit.shapley_interactions import Interactions as Interactions
from splitcredit.shapley_interactions import interactions as interactions

__version__: str
