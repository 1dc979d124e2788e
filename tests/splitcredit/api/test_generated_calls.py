"""Generated calls of the public functions: a right result, or an error of ours with the argument.

    CALLS=500 python -m pytest -s -n 0 tests/splitcredit/api/test_generated_calls.py

prints how many calls ended in which way, and the seconds of the processor that the slowest took.
"""

import math
import os
import re
import time
import traceback
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lightgbm import LGBMRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

import splitcredit

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(60, 3)).round(1)
TARGETS = {"classes": RNG.integers(0, 3, 60), "two": RNG.integers(0, 2, 60), "values": ROWS[:, 0]}
NAMES = ["dose", "age", "size"]
# Model, and the name of its targets.
MODELS = {
    "forest": (RandomForestClassifier(3, max_depth=3, random_state=0), "classes"),
    "regression": (RandomForestRegressor(2, max_depth=3, random_state=0), "values"),
    "tree": (DecisionTreeClassifier(max_depth=2, random_state=0), "two"),
    "xgboost": (XGBClassifier(n_estimators=2, max_depth=2, n_jobs=1), "two"),
    "lightgbm": (LGBMRegressor(n_estimators=2, num_leaves=4, n_jobs=1, verbose=-1), "values"),
    "pipeline": (make_pipeline(StandardScaler(), RandomForestRegressor(2, max_depth=2)), "values"),
    "stump": (DecisionTreeClassifier(max_depth=1, random_state=0), "classes"),
}
ODD_MODELS = [None, 3, "no such file.json", [], np.zeros(3), DecisionTreeClassifier]
ODD_MODELS += [StandardScaler()]
ODD = [None, -1, 0, 1, 7, 2**40, 10**400, 1.5, math.nan, -math.inf, 1j, True, "", "nonsense", "all"]
ODD += [b"x", [], [0], [[0], [0, 1]], {}, {"dose": 1}, {0: [0]}, (), set(), np.array([0, 1])]
ODD += [np.array("all"), np.zeros((2, 2)), pd.NA, np.datetime64("2020"), object(), len, range(2)]
ODD += [pd.Series([1, 2]), np.ma.masked_array([1.0, 2], [0, 1]), np.array([None, "a"]), "predicted"]


def as_frame(X, labels):
    """A table with labels of columns, as many as fit."""
    return pd.DataFrame(X, columns=(list(labels) * 9)[: X.shape[1]])


# Forms of a table of numbers; most are the same rows, all others are to be refused.
FORMS = {
    "array": lambda X: X,
    "columns first": np.asfortranarray,
    "every second": lambda X: np.repeat(X, 2, 0)[::2],
    "lists": lambda X: X.tolist(),
    "objects": lambda X: X.astype(object),
    "float32": lambda X: X.astype("f4"),
    "float16": lambda X: X.astype("f2"),
    "longdouble": lambda X: X.astype(np.longdouble),
    "big-endian": lambda X: X.astype(">f8"),
    "int8": lambda X: np.nan_to_num(X, posinf=9).astype("i1"),
    "bool": lambda X: X > 0,
    "complex": lambda X: X + 1j,
    "text": lambda X: X.astype(str),
    "dates": lambda X: np.nan_to_num(X, posinf=9).astype("M8[D]"),
    "records": lambda X: np.zeros(len(X), "f8,f8,f8"),
    "masked": lambda X: np.ma.masked_array(X, X > 0),
    "unmasked": np.ma.masked_array,
    "matrix": lambda X: scipy.sparse.csr_matrix(np.nan_to_num(X)),
    "sparse": lambda X: scipy.sparse.coo_array(np.nan_to_num(X)),
    "named": lambda X: as_frame(X, NAMES),
    "other order": lambda X: as_frame(X, NAMES).iloc[:, ::-1],
    "twice": lambda X: as_frame(X, ["dose", "dose", "age"]),
    "odd names": lambda X: as_frame(X, [None, ("a", 1), math.nan]),
    "numbers": lambda X: as_frame(X, [2, 0, 1]),
    "levels": lambda X: as_frame(X, [("a", 1), ("a", 2), ("b", 1)]),
    "row labels": lambda X: as_frame(X, NAMES).set_axis(["a"] * len(X)),
    "nullable": lambda X: as_frame(X, NAMES).astype("Float64"),
    "categories": lambda X: as_frame(X, NAMES).astype("category"),
    "one row": lambda X: X[:1].ravel(),
    "cube": lambda X: X[None],
    "scalar": lambda X: 1.5,
    "nothing": lambda X: None,
    "word": lambda X: "rows",
    "dict": lambda X: dict(enumerate(X.T)),
    "generator": lambda X: (row for row in X),
    "ragged": lambda X: [[1.0, 2.0, 3.0], [1.0]],
}


@st.composite
def tables(draw):
    """A form, a table in it, and the rows that it should be read as."""
    n, p = draw(st.sampled_from([1, 4, 4, 4, 9, 0])), draw(st.sampled_from([3] * 30 + [1, 4, 0]))
    X = np.resize(ROWS[:n], (n, p)).copy()
    if n and p:
        X.flat[0] = draw(st.sampled_from([0.5] * 6 + [math.nan, math.inf, 1e300, -0.0]))
    return FORMS[draw(st.sampled_from(list(FORMS) + ["array"] * 60))](X)


def of(*usual):
    """A usual value of an argument, most of the time."""
    return st.sampled_from([*usual] * (1 + 250 // len(usual)) + ODD)


OUTPUT, SEEDS = of("all", "predicted", 0), of(0, 1)
BACKGROUND = st.one_of(st.just(ROWS[:5]), st.just(ROWS[:5]), tables())
Y = of(np.zeros(4), [0, 1, 1, 0], list("abca"))
NOISE = {"noise": of("normal", "laplace", "uniform", "marginal", None), "background": BACKGROUND}
NOISE |= {"scale": of(0.3, [0.1, 0.2, 0.3], "0.3std", None)}
ROWWISE = ("tree_shap", "saabas", "local_mdi", "tree_shap_interventional", "oob_attributions")
GLOBAL = ("mdi", "tree_shap", "mdi_oob", "ufi", "mda", "permutation", "sage", "penalized_gini")
GLOBAL += ("conditional_permutation",)
# Function -> its arguments, each drawn in a quarter of the calls unless it is needed.
CALLS = {
    "explain": {"method": of(*ROWWISE), "output": OUTPUT, "background": BACKGROUND, "y": Y}
    | {"dtype": of("float64", "float32"), "progress": of(False, None), "colour": of(1)}
    | {"model_output": of("raw", "probability", "log_loss"), "groups": of({"a": [0, 1]}, None)},
    "explain_chunks": {"method": of(*ROWWISE), "chunk_rows": of(1, 2, None), "output": OUTPUT},
    "importance": {"method": of(*GLOBAL), "y": Y, "random_state": SEEDS, "output": OUTPUT},
    "interactions": {"output": OUTPUT, "sets": of([[0, 1]], None), "order": of(1, 2, 3)}
    | {"background": BACKGROUND},
    "rank": {"method": of("pg2_greedy", "pgi2_optimum", "tree_shap", "mdi"), "top": of(1, 2)}
    | {"output": of(0, None)},
    "faithfulness": {"ranking": of([0, 1, 2], "tree_shap", [[2, 1, 0]] * 4, [True, False, True])}
    | {"metric": of("pgi2", "pgu2", "pg2", "pgi2_curve"), "k": of(1, None), "output": of(0, None)}
    | {"samples": of(5, None), "random_state": SEEDS},
    "to_forest": {"X_train": tables()},
    "TreeExplainer": {"data": BACKGROUND, "model_output": of("raw", "probability")}
    | {"feature_perturbation": of("auto", "interventional", "tree_path_dependent")},
    "compare": {"y": Y, "random_state": SEEDS},
}
RESULTS = {
    "Importance": {"values": of([1.0, 2, 3]), "feature_names": of(NAMES), "method": of("mdi")}
    | {"standard_error": of(None, [0, 0, 1])},
    "Attribution": {"values": of(np.ones((4, 3, 1))), "baseline": of([0.5], np.ones((4, 1)))}
    | {"feature_names": of(NAMES), "output_names": of(["y"]), "method": of("saabas")}
    | {"output_index": of(None, [0, 0, 0, 0]), "index": of(None, list("abcd"))},
}
CALLS |= RESULTS
NEEDED = {"faithfulness": ("ranking",)} | RESULTS
# Methods of results -> their arguments.
METHODS = {
    "__getitem__": {"key": of(0, "dose", slice(2))},
    "grouped": {"groups": of({"a": [0, 1]}, {"a": ["dose"]})},
    "to_frame": {},
    "totals": {},
    "to_arrays": {},
    "save": {"path": of("result.npz")},
    "load": {"path": of("result.npz")},
    "pgi2": {},
}


@st.composite
def calls(draw):
    """A function, a model, rows, arguments, and a method of the result with its arguments."""
    function = draw(st.sampled_from([*CALLS, "explain", "importance", "faithfulness", "rank"]))
    name = draw(st.sampled_from([*MODELS] * 4 + ["odd"]))
    pool = CALLS[function] | (NOISE if function in ("rank", "faithfulness") else {})
    needed = NEEDED.get(function, ())
    arguments = {k: draw(v) for k, v in pool.items() if k in needed or not draw(st.integers(0, 3))}
    if function == "compare" and draw(st.integers(0, 5)):  # it takes half a second
        function, arguments = "explain", {}
    model = draw(st.sampled_from(ODD_MODELS)) if name == "odd" else name
    method = draw(st.sampled_from(list(METHODS)))
    then = {k: draw(v) for k, v in METHODS[method].items()}
    return function, model, draw(tables()), arguments, method, then


def fitted(name):
    model, targets = MODELS[name]
    if not hasattr(model, "n_features_in_"):
        model.fit(
            pd.DataFrame(ROWS, columns=NAMES) if name == "regression" else ROWS, TARGETS[targets]
        )
    return model


def fault(error, given):
    """What is wrong with an error; "" if it is ours and names an argument."""
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    text = str(error)
    if isinstance(error, (FileNotFoundError, IsADirectoryError)):
        return ""  # with the name of the file
    if not isinstance(error, (TypeError, ValueError)):
        return f"{type(error).__name__}: {text}"
    known = {"X", "model", "forest", "Forest", "method", "features", "values", "a feature", "group"}
    known |= {*given, "holds no"}
    if not any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) for word in known):
        return f"no argument in {type(error).__name__}: {text}"
    return "" if "splitcredit" in last or "sklearn" in last else f"not ours, from {last}: {text}"


def check(function, model, result, X, arguments):
    """Hold a result against one thing that is true of all right ones."""
    if function in ("explain", "interactions"):
        assert np.isfinite(result.values).all() and np.isfinite(result.baseline).all()
    if function == "explain" and "model_output" not in arguments and "groups" not in arguments:
        if arguments.get("method", "tree_shap") in ("tree_shap", "saabas"):
            output = arguments.get("output", "all")
            if isinstance(output, str) and output == "all":
                forest = splitcredit.to_forest(model)
                rows = X if model is not MODELS["pipeline"][0] else model[:-1].transform(X)
                assert np.allclose(result.totals(), forest.predict(rows), rtol=1e-5, atol=1e-5)
    if function == "importance":
        assert result.values.shape == (3,)
    if function == "rank":
        assert (np.diff(np.sort(result.rankings, axis=1), axis=1) > 0).all()
    if function == "faithfulness":
        assert (result >= 0).all() and np.isfinite(result).all()


def called(function, model, X, arguments):
    if function in ("to_forest", "TreeExplainer"):
        made = getattr(splitcredit, function)(model, **arguments)
        return made if function == "to_forest" else made(X)
    if function in RESULTS:
        return getattr(splitcredit, function)(**arguments)
    result = getattr(splitcredit, function)(model, X, **arguments)
    return list(result) if function == "explain_chunks" else result


def outcome(call):
    """In a word, how a call ended."""
    function, model, X, arguments, method, then = call
    model = fitted(model) if isinstance(model, str) and model in MODELS else model
    try:
        result = called(function, model, X, arguments)
    except Exception as error:
        return fault(error, arguments) or "refused"
    try:
        check(function, model, result, X, arguments)
    except Exception as error:
        return f"wrong: {error!r}"
    is_ours = type(result).__module__.startswith("splitcredit")
    if not is_ours or not hasattr(type(result), method):
        return "right"
    try:
        own = getattr(result, method)
        own(*then.values()) if callable(own) else own
    except IndexError:  # with which loops over rows end
        return "right, and its method refuses" if method == "__getitem__" else "IndexError"
    except Exception as error:
        words = fault(error, then)
        return f".{method}: {words}" if words else "right, and its method refuses"
    return "right, and its method"


def test_generated_calls_give_a_right_result_or_our_own_error(tmp_path, monkeypatch):
    """Red if a wrong argument ends in a message of NumPy or pandas, or in a wrong number."""
    monkeypatch.chdir(tmp_path)
    counts, faults, most = Counter(), [], [0.0, ""]

    @settings(
        max_examples=int(os.environ.get("CALLS", 500)),
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(calls())
    def try_all(call):
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            words = outcome(call)
        seconds = time.process_time() - start
        if seconds > most[0]:
            most[:] = seconds, call[0]
        is_fine = words in ("right", "refused") or words.startswith("right, ")
        counts[words if is_fine else "a fault"] += 1
        if not is_fine:
            faults.append(f"{words[:300]}\n    {call!r}"[:900])

    try_all()
    print(f"\n{dict(counts)}, {sum(counts.values())} calls; at most {most[0]:.2f} s ({most[1]})")
    assert not faults, "\n".join(dict.fromkeys(faults))
