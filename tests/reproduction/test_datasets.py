"""Real data sets: tables against the originals, known facts, a user's own; and drawn ones."""

import gzip
import hashlib
import io
import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reproduction import __main__, datasets, models, recorded
from reproduction.datasets import Dataset, _tables, red_wine, standardized_split
from reproduction.stages import check
from scripts import ROOT, script

make_tables = script("data/make_tables.py")


def load(name, repeat=0, **parameters):
    return datasets.load({"dataset": name, **parameters}, repeat)


def column(data, name):
    return data.X[:, data.feature_names.index(name)]


@pytest.mark.parametrize(
    ("name", "parameters", "shape", "largest", "correlated", "class_names"),
    [
        # Of the correlations with the outcome one is the strongest: it is lost if rows are moved.
        ("titanic", {}, (714, 4), 1, ("Sex", -0.539), ("died", "survived")),
        ("red_wine", {}, (1599, 11), 8, ("alcohol", 0.476), ()),
        ("california_housing", {}, (20433, 8), 500001, ("median_income", 0.688), ()),
        ("parkinson", {}, (5875, 17), 39.511, ("PPE", 0.162), ()),
        ("parkinson", {"target": "total_UPDRS"}, (5875, 17), 54.992, ("HNR", -0.162), ()),
        ("ad_data", {}, (333, 129), 1, ("tau", 0.445), ("Control", "Impaired")),
        ("ad_data", {"target": "tau"}, (333, 124), 7.172, ("SOD", 0.742), ()),
    ],
)
def test_tables_have_the_known_rows(name, parameters, shape, largest, correlated, class_names):
    data = load(name, **parameters)
    assert data.X.shape == shape and not np.isnan(data.X).any()
    assert round(float(data.y.max()), 3) == largest and data.class_names == class_names
    feature, expected = correlated
    assert round(np.corrcoef(column(data, feature), data.y)[0, 1], 3) == expected


def test_known_counts_and_passengers():
    titanic, wine = load("titanic"), load("red_wine")
    assert titanic.feature_names == ("Age", "Sex", "Pclass", "PassengerId")
    assert np.bincount(column(titanic, "Pclass").astype(int)).tolist() == [0, 186, 173, 355]
    # 0 female, 1 male. A man of 22 in the third class died, a woman of 38 in the first survived.
    assert np.bincount(column(titanic, "Sex").astype(int)).tolist() == [261, 453]
    assert titanic.y.sum() == 290
    assert titanic.X[:2].tolist() == [[22, 1, 3, 1], [38, 0, 1, 2]]
    assert titanic.y[:2].tolist() == [0, 1]
    assert np.bincount(wine.y.astype(int)).tolist() == [0, 0, 0, 10, 53, 681, 638, 199, 18]
    # No name tells the outcome, and age and sex are none of the patients' voices.
    assert not {"age", "sex", "subject#", "total_UPDRS"} & set(load("parkinson").feature_names)
    of_tau = load("ad_data", target="tau")
    assert not {"tau", "p_tau", "Ab_42", "age", "male"} & set(of_tau.feature_names)
    assert np.array_equal(of_tau.y, column(load("ad_data"), "tau"))


def test_a_share_of_ad_data_is_drawn_by_the_seed_and_keeps_rows_together():
    full, half = load("ad_data"), load("ad_data", share=0.5, random_state=1)
    rows = {row.tobytes(): i for i, row in enumerate(full.X)}
    places = [rows[row.tobytes()] for row in half.X]
    assert len(set(places)) == round(333 / 2) and places == sorted(places)
    assert np.array_equal(half.y, full.y[places])
    assert np.array_equal(half.X, load("ad_data", share=0.5, random_state=1).X)
    assert not np.array_equal(half.X, load("ad_data", share=0.5, random_state=2).X)


SPLITS = {"red_wine": 1279, "california_housing": 16346, "parkinson": 4700}


@pytest.mark.parametrize(("name", "n_training"), SPLITS.items())
def test_rows_of_the_authors_split_keep_features_and_target_together(name, n_training):
    """In the authors' newest files, 431 of 20433 rows of housing have a target of their own."""
    full = load(name)
    split = load("standardized_split", of=name, split="authors")
    assert len(split.training.X) == n_training == len(full.X) - len(split.explained.X)
    standardized = (full.X - full.X.mean(axis=0)) / full.X.std(axis=0)
    pairs, expected = (
        sorted((row.tobytes(), value) for row, value in zip(X, y, strict=True))
        for X, y in ((split.X, split.y), (standardized, full.y))
    )
    assert pairs == expected


def test_a_split_of_ones_own_is_drawn_by_the_seed():
    recipe = {"of": "wine", "test_share": 0.25}
    split, same, other = (load("standardized_split", **recipe, random_state=s) for s in (1, 1, 2))
    assert (len(split.explained.X), len(split.training.X)) == (45, 133)
    assert np.allclose(split.X.mean(axis=0), 0) and np.allclose(split.X.std(axis=0), 1)
    assert np.array_equal(split.X, same.X) and not np.array_equal(split.X, other.X)
    three_rows = load("standardized_split", **recipe, random_state=1, n_test=3)
    assert np.array_equal(three_rows.explained.X, split.explained.X[:3])
    assert np.array_equal(three_rows.training.X, split.training.X)
    assert Dataset.from_arrays(three_rows.to_arrays()).n_training == 133


def test_a_feature_of_one_value_is_zero_when_it_is_standardized():
    """It was 0 / 0: models took it for missing, and perturbations had no width."""
    constant = np.ptp(load("digits").X, axis=0) == 0
    X = load("standardized_split", of="digits", random_state=1).X
    assert constant.any() and np.isfinite(X).all()
    assert (X[:, constant] == 0).all() and np.allclose(X[:, ~constant].std(axis=0), 1)


@pytest.mark.parametrize("name", make_tables.ORIGINALS)
def test_a_table_holds_what_its_original_holds(name):
    folder = os.environ.get("SPLITCREDIT_ORIGINALS")
    if not folder:
        pytest.skip("the originals are not part of the project: SPLITCREDIT_ORIGINALS names none")
    file, sha256 = make_tables.ORIGINALS[name]
    content = Path(folder, file).read_bytes()
    assert hashlib.sha256(content).hexdigest() == sha256
    table = pd.read_csv(ROOT / "data" / f"{name}.csv.gz")
    if name == "gajewski2025_wine_tree":
        (nodes,) = json.loads(content)["learner"]["gradient_booster"]["model"]["trees"]
        conditions = table["threshold"].where(table["left"] >= 0, table["value"])
        assert table["left"].tolist() == nodes["left_children"]
        assert table["right"].tolist() == nodes["right_children"]
        assert table["cover"].tolist() == nodes["sum_hessian"]
        assert conditions.tolist() == nodes["split_conditions"]
    else:
        separator = ";" if name == "red_wine" else ","
        pd.testing.assert_frame_equal(table, pd.read_csv(io.BytesIO(content), sep=separator))


def test_a_damaged_table_is_refused_by_name(monkeypatch, tmp_path):
    content = red_wine.TABLE.path.read_bytes()
    one_cell = gzip.decompress(content).replace(b"7.4,0.7,", b"7.4,0.8,", 1)
    monkeypatch.setattr(_tables, "FOLDER", tmp_path)
    for damaged, message in (
        (None, r"red_wine.csv.gz cannot be read .* restore the file"),
        (content[:1000], r"red_wine.csv.gz cannot be read"),
        (gzip.compress(one_cell), r"red_wine.csv.gz has the SHA-256 .*, not d22f4f"),
    ):
        if damaged is not None:
            (tmp_path / "red_wine.csv.gz").write_bytes(damaged)
        with pytest.raises(ValueError, match=message):
            load("red_wine")


@pytest.mark.parametrize(
    "changed", [{"X": np.zeros(5)}, {"y": np.zeros(4)}, {"feature_names": ("a",)}]
)
def test_a_loader_whose_arrays_do_not_fit_each_other_is_named(monkeypatch, changed):
    """The fit failed, with a message that did not say of which data set."""
    right = {"X": np.zeros((5, 2)), "y": np.zeros(5), "feature_names": ("a", "b")}
    monkeypatch.setattr(datasets, "loader", lambda name: lambda: Dataset(**right | changed))
    with pytest.raises(ValueError, match=r"^data set mine: X has the shape \(.*; expected \(n_s"):
        load("mine")


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("iris", {"outcome": "shuffled"}, "outcome='shuffled': expected one of observed, permuted"),
        ("standardized_split", {"of": "wine", "split": "authors"}, "no split of the authors for"),
        ("standardized_split", {"of": "beer"}, "unknown data set 'beer'"),
        ("standardized_split", {"of": "wine", "split": "autors"}, "split='autors': expected"),
        ("standardized_split", {"of": "wine", "test_share": -0.2}, "test_share is -0.2: expected"),
        ("friedman", {"n_features": 4}, "n_features"),
        ("csv_file", {"path": "other.csv", "target": "y"}, r"other.csv cannot be read \(No such"),
        ("gene_modules", {"n_active": 201}, "at least 2 factors and 2 active modules"),
        ("gene_modules", {"n_active": 1}, "at least 2 factors and 2 active modules"),
        ("gene_modules", {"n_factors": 1}, "at least 2 factors and 2 active modules"),
    ],
)
def test_bad_parameters_are_named(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        load(name, **parameters)


# A table of one's own.


@pytest.fixture
def mine(monkeypatch, tmp_path):
    """A function that loads what it has written into mine.csv."""
    monkeypatch.chdir(tmp_path)

    def loaded(text, name="csv_file", **parameters):
        Path("mine.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
        return load(name, **{"path": "mine.csv", "target": "y", **parameters})

    return loaded


@pytest.mark.parametrize(
    ("text", "parameters", "names", "X", "y"),
    [
        ("a,y,b\n1,0.5,2\n3,1.5,4\n", {}, ("a", "b"), [[1, 2], [3, 4]], [0.5, 1.5]),
        ("a,y,b\n1,0.5,2\n3,1.5,4\n", {"features": ["b"]}, ("b",), [[2], [4]], [0.5, 1.5]),
        ("\ufeffa,b,y\n1,2,3\n", {}, ("a", "b"), [[1, 2]], [3]),
        # What ends every line is no cell.
        ("a,b,y\n1,2,3,\n", {}, ("a", "b"), [[1, 2]], [3]),
        ("a::b::y\n1::2::3\n", {"separator": "::"}, ("a", "b"), [[1, 2]], [3]),
        # A column that is left out need not have a name of its own.
        (",a,b,y,z,z\n0,1,2,3,4,5\n", {"features": ["a", "b"]}, ("a", "b"), [[1, 2]], [3]),
    ],
)
def test_a_csv_has_the_columns_of_its_first_line(mine, text, parameters, names, X, y):
    data = mine(text, **parameters)
    assert (data.feature_names, data.class_names) == (names, ())
    assert (data.X.tolist(), data.y.tolist()) == (X, y)


def test_classes_of_a_csv_are_texts(mine, tmp_path):
    data = mine("a;y\n1;sick\n2;well\n3;sick\n", classes=True, separator=";")
    assert (data.class_names, data.y.tolist()) == (("sick", "well"), [0, 1, 0])
    # Equal as numbers, and two classes.
    data = mine("a,y,b\n1,01,2\n2,1,3\n3,01,4\n", classes=True, path=str(tmp_path / "mine.csv"))
    assert (data.class_names, data.y.tolist()) == (("01", "1"), [0, 1, 0])


@pytest.mark.parametrize(
    ("text", "parameters", "message"),
    [
        ("a,b\n1,2\n", {}, " has no column y; it has a, b"),
        ("a,y\n1,2\n", {"features": ["c"]}, " has no column c; it has a, y"),
        ("a,b,y\nx,1,2\n", {}, ": not numeric: a; turn text into .* the other columns by"),
        ("a,y\n1,sick\n", {}, ": not numeric: y; .* or set classes: true"),
        ("a,b,y\n,1,2\n,3,\n4,5,6\n", {}, r": blanks in a \(2\), y \(1\); fill them or"),
        ("a,y\n1,2\n", {"features": ["a", "y"]}, ": y is the target, take it out of features"),
        # pandas takes 1 and 4 for names of the rows, and 2 and 5 for a.
        ("a,y\n1,2,3\n4,5,6\n", {}, ": rows have more cells than the first line has"),
        # It calls the second a, or y, by another name: y would be a feature then.
        ("a,a,y\n1,2,3\n", {}, ": there twice: a; give one a new name"),
        ("a,y,y\n1,2,3\n", {}, ": there twice: y; give one a new name"),
        ("a,y\n1,2\n", {"features": ["a", "a"]}, ": there twice: a; give one"),
        (",a,y\n0,1,2\n", {}, ": column 1 has no name; name it, or say by features"),
        ("a,y\ninf,1\n", {}, ": infinite values, or numbers above .*, in a; replace them"),
        ("a,y\n1,inf\n", {}, ": infinite values, or numbers above .*, in y; replace them"),
        ("a,y\n", {}, " has no row"),
        ("y\n1\n", {}, " has no feature"),
        ("a,y\n1,2\n", {"features": []}, " has no feature"),
        ("", {}, " is empty: its first line must name the columns"),
        ("a,y\n1,2\n1,2,3\n", {}, r" cannot be read as CSV \(.* line 3.*\); save it"),
        (b"\xe4,y\n1,2\n", {}, r" cannot be read as CSV \(.*utf-8.*save it as"),
        ("a,y\n1,NA\n2,x\n", {"classes": True}, r": blanks in y \(1\); fill them or"),
        ("=cmd(),y\n1,2\n", {}, r": a spreadsheet would run =cmd\(\) as a formula"),
        ("a,y\n1,@x\n2,-1\n", {"classes": True}, ": a spreadsheet would run @x as a"),
        (f"a,y\n{2**53 + 1},1\n", {}, r": integers beyond 2\*\*53 in a, which would be"),
        # The decimal commas would be separators.
        ("a;y\n1,5;2\n", {}, ": the first line has ';' .* set separator: \";\"$"),
        ("a\ty\n1\t2\n", {}, r": the first line has .* set separator: \"\\t\"$"),
        ("a,y\n1,2\n", {"separator": ";"}, "first line has ',' .* and no ';'; set separator: \","),
        ("a,y\n1,2\n", {"sha256": "00"}, ": its SHA-256 is .*, not 00"),
    ],
)
def test_errors_of_a_csv_name_file_column_and_remedy(mine, text, parameters, message):
    with pytest.raises(ValueError, match=f"^mine.csv.*{message}"):
        mine(text, **parameters)


def test_a_job_on_a_table_that_cannot_be_used_ends_in_one_line(mine, monkeypatch, capsys):
    """A traceback of forty lines stood before it, and the line once more."""
    monkeypatch.setattr(check, "add_arguments", lambda parser: None)
    monkeypatch.setattr(check, "run", lambda arguments: mine("a,color,y\n1,red,0\n"))
    assert __main__.main(["check"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert re.match("check: mine.csv: not numeric: color; turn text into numbers", line)


def test_parquet_of_a_user_is_read_as_a_csv_is(mine, monkeypatch):
    """By the reader of pandas, without the package behind it."""
    text = "a,y,b\n1,0.5,2\n3,1.5,4\n"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"mine.csv: Parquet needs pyarrow: pip install pyarrow"):
        mine(text, "parquet_file")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)

    def read(index=None, text=text, **parameters):
        """With an index that has a name, it is a column of the table again."""
        monkeypatch.setattr(
            "pandas.read_parquet",
            lambda raw: pd.read_csv(raw) if index is None else pd.read_csv(raw).set_index(index),
        )
        return mine(text, "parquet_file", **parameters)

    for index in (None, "a"):
        data = read(index)
        assert data.feature_names == ("a", "b") and data.X.tolist() == [[1, 2], [3, 4]]
    assert read("y").y.tolist() == [0.5, 1.5]
    assert read(["b", "a"]).feature_names == ("b", "a")
    assert read("a", features=["b"]).feature_names == ("b",)
    # Without a name it counts the rows.
    assert read(pd.Index([7, 9])).feature_names == ("a", "b")
    with pytest.raises(ValueError, match=r"^mine.csv: a is a column and the name of the index; gi"):
        read(pd.Index([7, 9], name="a"))
    with pytest.raises(ValueError, match=r"blanks in a \(1\)"):
        read(text="a,y\n,1\n2,3\n")
    with pytest.raises(ValueError, match=r"^mine.csv cannot be read as Parquet \(No columns"):
        read(text="")


# Drawn ones.


def test_noisy_features_may_be_relevant_wherever_they_are_and_noise_of_one_cardinality():
    default = load("noisy_features", n_samples=400, random_state=5)
    # The first two draws of the generator, in this order, whatever parameters came later.
    random = np.random.default_rng(5)
    assert np.array_equal(default.X, random.integers(0, np.arange(2, 52), (400, 50)))
    assert default.relevant == tuple(sorted(random.choice(10, 5, replace=False)))
    everywhere = {"name": "noisy_features", "n_samples": 400, "n_candidates": 50}
    relevant_sets = [load(repeat=repeat, **everywhere).relevant for repeat in range(60)]
    counts = np.bincount(np.concatenate(relevant_sets), minlength=50)
    assert counts.reshape(5, 10).sum(axis=1).min() > 0.6 * counts.sum() / 5
    ordinary = load(**everywhere, random_state=5)
    binary = load(**everywhere, random_state=5, noise_values=2)
    assert binary.relevant == ordinary.relevant and np.array_equal(binary.y, ordinary.y)
    relevant = list(binary.relevant)
    assert np.array_equal(binary.X[:, relevant], ordinary.X[:, relevant])
    noise = np.delete(binary.X, relevant, axis=1)
    assert set(np.unique(noise)) == {0, 1} and 0.4 < noise.mean() < 0.6


@pytest.mark.parametrize("d", [5, 20])
def test_five_features_of_friedman_tell_y_however_many_there_are(d):
    data = load("friedman", n_features=d, noise=0.0, n_samples=300)
    u = data.X / np.sqrt(12) + 0.5
    y = 10 * np.sin(np.pi * u[:, 0] * u[:, 1]) + 20 * (u[:, 2] - 0.5) ** 2
    assert np.allclose(data.y, y + 10 * u[:, 3] + 5 * u[:, 4])
    assert data.relevant == (0, 1, 2, 3, 4) and len(data.training.X) == 300
    assert np.abs(data.X.std(axis=0) - 1).max() < 0.1


@pytest.mark.parametrize("recipe", [{"name": "iris"}, {"name": "gene_modules"}])
def test_permuted_outcomes_are_the_same_outcomes_beside_other_rows(recipe):
    """Same features, same outcomes, each at a row of chance, anew in each repeat."""
    plain, observed = load(repeat=1, **recipe), load(repeat=1, **recipe, outcome="observed")
    permuted, same, other = (load(repeat=r, **recipe, outcome="permuted") for r in (1, 1, 2))
    assert np.array_equal(observed.X, plain.X) and np.array_equal(observed.y, plain.y)
    assert np.array_equal(permuted.X, observed.X)
    assert np.array_equal(np.sort(permuted.y), np.sort(observed.y))
    # Of 150 rows in three classes a third agree by chance.
    assert np.mean(permuted.y == observed.y) < 0.5
    assert np.array_equal(permuted.y, same.y) and not np.array_equal(permuted.y, other.y)


def test_an_explicit_seed_permutes_anew_in_each_repeat_and_unlike_the_draw():
    recipe = {"name": "gene_modules", "random_state": 5, "outcome": "permuted"}
    first, second = (load(repeat=repeat, **recipe) for repeat in (0, 1))
    assert np.array_equal(first.X, second.X) and not np.array_equal(first.y, second.y)


# What authors left behind.


def test_a_recorded_tree_is_read_and_not_fitted():
    """Walked by hand over the rows of its table, by the names of the features."""
    recipe = {"estimator": "XGBRegressor", "recorded": "gajewski2025_wine_tree", "random_state": 42}
    wine = load("standardized_split", of="red_wine", split="authors")
    names = [feature.replace(" ", "_") for feature in wine.feature_names]
    nodes = pd.read_csv(ROOT / "data" / "gajewski2025_wine_tree.csv.gz").set_index("node")
    forest, leaves = models.fit(recipe, wine.X, wine.y), []
    for row in wine.X[:200].astype(np.float32):
        k = 0
        while nodes.loc[k, "left"] >= 0:
            node = nodes.loc[k]
            left = row[names.index(node["feature"])] < np.float32(node["threshold"])
            k = node["left" if left else "right"]
        leaves.append(np.float32(nodes.loc[k, "value"]))
    base = float(np.float32(5.6379986))
    assert forest.predict(wine.X[:200])[:, 0].tolist() == [float(v) + base for v in leaves]
    with pytest.raises(ValueError, match="gajewski2025_wine_tree has 11 features, X 10"):
        models.fit(recipe, wine.X[:, 1:], wine.y)
    with pytest.raises(ValueError, match="no recorded tree 'other': there are gajewski2025_wine"):
        models.fit(recipe | {"recorded": "other"}, wine.X, wine.y)


def test_a_recorded_order_of_ties_is_one_of_the_features_for_every_place():
    with pytest.raises(ValueError, match="no order 'single' is recorded for Jitter"):
        recorded.tie_order("single", ("Jitter(%)", "Jitter(Abs)", "Jitter:RAP"))
    names = load("standardized_split", of="parkinson").feature_names
    of_single, of_bigger = (recorded.tie_order(kind, names) for kind in ("single", "bigger"))
    for order in (of_single, of_bigger):
        assert (np.sort(order, axis=1) == np.arange(17)).all()
        # The program's set of names was built anew after the eighth place.
        assert (order[:8] == order[0]).all() and (order[8:] == order[8]).all()
        assert (order[7] != order[8]).any()
    assert [names[j] for j in of_single[0, :3]] == ["Jitter(%)", "Jitter:PPQ5", "Shimmer:APQ5"]
    assert [names[j] for j in of_bigger[16, :2]] == ["Jitter(%)", "Shimmer:DDA"]


def test_a_split_that_does_not_name_every_row_once_is_refused(monkeypatch):
    of_authors = standardized_split.AUTHORS_ROWS
    monkeypatch.setitem(of_authors, "parkinson", of_authors["red_wine"])
    with pytest.raises(ValueError, match="the authors' split"):
        load("standardized_split", of="parkinson", split="authors")
