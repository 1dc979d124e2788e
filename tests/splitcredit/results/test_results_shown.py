"""Results show themselves, are cut into parts, and go to files and back."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from splitcredit import Attribution, Importance, Interactions
from splitcredit.prediction_gap.rankings import Rankings

NAMES = [f"x{j}" for j in range(12)]


def attribution(n_outputs=1):
    values = np.arange(3 * 12 * n_outputs, dtype=float).reshape(3, 12, n_outputs)
    names = [f"class <{k}>" for k in range(n_outputs)]
    return Attribution(
        values, np.zeros(n_outputs), NAMES, names, "tree_shap", index=pd.Index(list("abc"))
    )


def test_results_print_their_largest_values_first_places_and_largest_sets():
    """Red if a pair is shown with one of its two halves."""
    lines = str(attribution()).splitlines()
    assert lines[2].split() == ["x11", "23"] and lines[-1] == "... and 2 more features"
    with_error = str(Importance([0.25, 0.5], ["a", "b"], "mda", {}, [0.5, 0.125]))
    values = [line.split() for line in with_error.splitlines()[2:]]
    assert values == [["b", "0.5", "0.125"], ["a", "0.25", "0.5"]]
    ranked = Rankings(np.array([[1, 0], [1, 0], [0, 1]]), np.ones((3, 2)), feature_names=NAMES[:2])
    lines = str(ranked).splitlines()
    assert lines[0] == repr(ranked) and "x1" in lines[2] and "0.6667" in lines[2]
    assert str(replace(ranked, rankings=ranked.rankings[:0], gaps=None)).count("\n") == 0
    pairs = Interactions(np.arange(8.0).reshape(2, 2, 2, 1), None, np.zeros(1), NAMES[:2], ("y",))
    assert str(pairs).splitlines()[2].split() == ["x0", "x", "x1", "6"]


def test_the_table_of_a_notebook_escapes_names():
    """Red if a name of a class is taken for a tag."""
    html = attribution(2)._repr_html_()
    assert "class &lt;1&gt;" in html and "class <1>" not in html and "2 more features" in html


def test_a_standard_error_that_is_not_estimated_is_missing():
    """Red if it is 0.0, which says that the value is exact."""
    frame = Importance([1.0, 2.0], ["a", "b"], "ufi").to_frame()
    assert frame["feature"].tolist() == ["b", "a"] and frame["standard_error"].isna().all()


def test_rows_and_features_are_taken_by_position_and_name():
    whole = attribution()
    assert whole[1].values.tolist() == whole.values[1:2].tolist()
    assert whole[1].index.tolist() == ["b"] and len(whole[:2]) == 2
    assert whole[np.array([True, False, True])].values.shape == (2, 12, 1)
    assert whole["x3"].tolist() == [3.0, 15.0, 27.0] and attribution(2)["x3"].shape == (3, 2)
    assert Importance([1.0, 2.0], ["a", "b"], "ufi")["b"] == 2.0
    own = Attribution(np.zeros((2, 1, 1)), [[1.0], [2.0]], ["a"], ["o"], "m", {}, [0, 1])
    assert own[1].baseline.tolist() == [[2.0]] and own[1].output_index.tolist() == [1]
    with pytest.raises(ValueError, match="a feature: 'x99' is neither"):
        whole["x99"]


@pytest.mark.parametrize("result", [attribution(2), Importance([0.5], ["a"], "mda", {"k": 1})])
def test_a_result_is_read_back_from_its_file(result, tmp_path):
    path, kind = tmp_path / "a result.npz", type(result)
    result.save(path)
    back = kind.load(path)
    assert back.values.tobytes() == result.values.tobytes() and back.method == result.method
    assert back.parameters == result.parameters and list(tmp_path.iterdir()) == [path]
    with pytest.raises(ValueError, match=r"a result\.npz holds no "):
        (Attribution if kind is Importance else Importance).load(path)
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(ValueError, match=r"a result\.npz holds no "):
        kind.load(path)


def test_a_description_has_the_numbers_of_its_row():
    """Sums by hand; values below rounding are not named."""
    values = np.array([[-1.25, 0.5, 2000.0, 0.25, -0.125, 0.0625, 1e-20]])[..., None]
    fields = {"output_index": [1], "data": [[1, 2, np.nan, 4, 5, 6, 7.0]], "index": ["p7"]}
    of_model = ([0.5], [f"${c}$" for c in "abcdefg"], ["predicted"])
    one = Attribution(values, *of_model, "saabas", unit="log-odds", **fields)
    assert one.describe() == (
        "Row 0 (p7): the log-odds of the predicted class (of index 1) are 2,000, 1,999 above the "
        "baseline of 0.5. This is raised most by $c$ = missing (+2,000), $b$ = 2 (+0.5), $d$ = 4 "
        "(+0.25), and lowered most by $a$ = 1 (-1.25), $e$ = 5 (-0.125). The other features (2) "
        "add +0.0625."
    )
    grouped = one.grouped({"all": list(range(7))}).describe()
    assert grouped.endswith("all (+1,999), and lowered most by nothing.")
    for method, what in (("local_mdi", "impurity"), ("oob_attributions", "that have not seen")):
        text = Attribution(values, [0], list("abcdefg"), ["y"], method).describe()
        assert what in text and "have the sum 1,999, which is not a prediction" in text
    two = Attribution([[[1, 1]]], [-1, 0], ["a"], ["no", "yes"], "saabas")
    with pytest.raises(ValueError, match=r"pass output=, one of \('no', 'yes'\)"):
        two.describe()
    assert "prediction of 'no' is 0, 1 above the baseline of -1." in two.describe(0, "no")
