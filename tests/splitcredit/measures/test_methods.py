"""What the table of methods says of a model is what happens, in the same words."""

import numpy as np
import pytest
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from xgboost import DMatrix, XGBClassifier, XGBRegressor, train

import splitcredit
from forests import whole_numbers
from splitcredit import measures
from splitcredit.measures._methods import parameters_of

X, COUNTS = whole_numbers("classes", 60, 4, 5)
TWO, THREE = COUNTS % 2, COUNTS % 3
FEW = {"n_estimators": 3, "random_state": 0}
MODELS = {
    "forest": lambda: RandomForestClassifier(**FEW).fit(X, THREE),
    "regression forest": lambda: RandomForestRegressor(**FEW).fit(X, COUNTS),
    "without bootstrap": lambda: ExtraTreesClassifier(**FEW).fit(X, THREE),
    "gradient, two": lambda: GradientBoostingClassifier(**FEW).fit(X, TWO),
    "gradient, three": lambda: GradientBoostingClassifier(**FEW).fit(X, THREE),
    "xgboost": lambda: XGBClassifier(**FEW).fit(X, THREE),
    "xgboost, Poisson": lambda: XGBRegressor(objective="count:poisson", **FEW).fit(X, COUNTS),
    "Booster": lambda: train({"objective": "multi:softprob", "num_class": 3}, DMatrix(X, THREE), 3),
    "lightgbm": lambda: LGBMClassifier(verbose=-1, **FEW).fit(X, THREE),
    "lightgbm, values": lambda: LGBMRegressor(verbose=-1, **FEW).fit(X, COUNTS),
    "one against all": lambda: LGBMClassifier(objective="ova", verbose=-1, **FEW).fit(X, THREE),
    "adaboost": lambda: AdaBoostClassifier(**FEW).fit(X, THREE),
    "isolation": lambda: IsolationForest(**FEW).fit(X),
    "several targets": lambda: RandomForestRegressor(**FEW).fit(X, np.c_[COUNTS, TWO]),
    "converted": lambda: splitcredit.to_forest(LGBMRegressor(verbose=-1, **FEW).fit(X, COUNTS)),
}
TARGETS = {
    "gradient, two": TWO,
    **dict.fromkeys(["regression forest", "xgboost, Poisson", "lightgbm, values"], COUNTS),
    "converted": COUNTS,
    "several targets": np.c_[COUNTS, TWO],
}


def called(model, method, y):
    """Whatever function a method is for, with all that it needs."""
    more = {"background": X[:5]} if "background" in method.needs else {}
    if method.name == "sage":
        more = {"n_permutations": 2}
    if "scale" in method.needs or "importance" not in method.functions:
        return splitcredit.rank(model, X[:1], method.name, scale=0.1, output=0)
    if "explain" in method.functions:
        return getattr(splitcredit, method.name)(model, X, **more)
    data = (X, y) if method.takes("X") else ()
    return method.function("importance")(model, *data, **more)


@pytest.mark.parametrize("name", MODELS)
def test_a_method_that_the_table_says_serves_a_model_does(name):
    """And one that it says does not is refused in the words of the table."""
    model, y = MODELS[name](), TARGETS.get(name, THREE)
    table = splitcredit.methods(model)
    for method in table:
        why = table.why_not[method.name]
        if why is None:
            called(model, method, y)
            continue
        with pytest.raises((TypeError, ValueError)) as caught:
            called(model, method, y)
        assert str(caught.value) == why, method.name
    assert [why or None for why in table.to_frame()["why_not"]] == list(table.why_not.values())
    assert all(why is None or f"no: {why}" in repr(table) for why in table.why_not.values())


def test_a_seed_is_0_where_none_is_given():
    taken = {name: parameters_of(getattr(splitcredit, name, print)) for name in measures.names()}
    seeds = {name: of["random_state"].default for name, of in taken.items() if "random_state" in of}
    assert seeds.keys() > {"mda", "sage"} and set(seeds.values()) == {0}


def test_what_serves_which_model():
    """Red if SAGE is said to serve any model, or a need is said to be met by another one."""
    served = {
        name: {m for m, why in splitcredit.methods(MODELS[name]()).why_not.items() if why is None}
        for name in ("forest", "without bootstrap", "lightgbm", "one against all", "Booster")
    }
    bags = {"ufi", "mda", "conditional_permutation", "mdi_oob", "penalized_gini"}
    bags.add("oob_attributions")
    everything = {m.name for m in splitcredit.methods()}
    assert served["forest"] == everything
    assert served["without bootstrap"] == served["lightgbm"] == everything - bags
    assert served["one against all"] == everything - bags - {"sage"}
    assert served["Booster"] == everything - bags - {"air", "permutation"}
