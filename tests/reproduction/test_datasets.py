"""Real data sets: tables against the originals, known facts, a user's own; and drawn ones."""

import gzip
import hashlib
import io
import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reproduction import __main__, datasets, models, recorded
from reproduction.datasets import (
    Dataset,
    _tables,
    ad_data,
    california_housing,
    csv_file,
    parkinson,
    parquet_file,
    red_wine,
    standardized_split,
    titanic,
)
from reproduction.stages import check

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "data"))

import make_tables  # noqa: E402  (a script beside the tables, no package)


def load(name, **parameters):
    return datasets.load({"dataset": name, **parameters})


def column(data, name):
    return data.X[:, data.feature_names.index(name)]


def test_titanic():
    data = load("titanic")
    assert data.X.shape == (714, 4) and data.X.dtype == np.float64
    assert data.feature_names == ("Age", "Sex", "Pclass", "PassengerId")
    assert data.y.sum() == 290 and data.class_names == ("died", "survived")
    assert np.bincount(column(data, "Pclass").astype(int)).tolist() == [0, 186, 173, 355]
    # 0 female, 1 male.
    assert np.bincount(column(data, "Sex").astype(int)).tolist() == [261, 453]
    assert len(np.unique(column(data, "Age"))) == 88
    assert len(np.unique(column(data, "PassengerId"))) == 714
    # Known passengers: 1 (a man of 22, third class) died, 2 (a woman of 38, first) survived.
    rows = {
        int(i): (row.tolist(), y) for row, i, y in zip(data.X, data.X[:, 3], data.y, strict=True)
    }
    assert rows[1] == ([22, 1, 3, 1], 0)
    assert rows[2] == ([38, 0, 1, 2], 1)


def test_red_wine():
    data = load("red_wine")
    assert data.X.shape == (1599, 11) and data.y.dtype == np.float64
    assert np.bincount(data.y.astype(int)).tolist() == [0, 0, 0, 10, 53, 681, 638, 199, 18]
    assert len(np.unique(np.column_stack([data.X, data.y]), axis=0)) == 1599 - 240
    # The strongest of its correlations, and of the known sign: lost if rows were moved.
    assert round(np.corrcoef(column(data, "alcohol"), data.y)[0, 1], 3) == 0.476


def test_california_housing():
    data = load("california_housing")
    assert data.X.shape == (20433, 8) and not np.isnan(data.X).any()
    assert data.feature_names[4] == "total_bedrooms"
    # Over all 20640 rows the mean is 206855.8 dollars, and 965 are at the cap.
    table = california_housing.TABLE.read()
    prices = table["median_house_value"]
    assert (round(prices.mean(), 1), (prices >= 500001).sum()) == (206855.8, 965)
    blanks = table.index[table["total_bedrooms"].isna()]
    assert len(blanks) == 207 and table["ocean_proximity"].nunique() == 5
    # Income decides prices: features beside another row's price, as after rows were dropped without
    # care, have no correlation.
    assert round(np.corrcoef(column(data, "median_income"), data.y)[0, 1], 3) == 0.688
    complete_rows = table.drop(index=blanks)
    assert np.array_equal(data.y, complete_rows["median_house_value"])
    assert np.array_equal(column(data, "households"), complete_rows["households"])


def test_parkinson():
    data = load("parkinson")
    assert data.X.shape == (5875, 17) and data.feature_names[0] == "test_time"
    assert not {"age", "sex", "subject#", "total_UPDRS"} & set(data.feature_names)
    total = load("parkinson", target="total_UPDRS")
    assert np.array_equal(total.X, data.X)
    assert round(np.corrcoef(total.y, data.y)[0, 1], 3) == 0.947
    assert (column(data, "test_time") < 0).sum() == 12
    table = parkinson.TABLE.read()
    assert table["subject#"].nunique() == 42
    assert np.array_equal(data.y, table["motor_UPDRS"])


def test_ad_data():
    data = load("ad_data")
    assert data.X.shape == (333, 129) and data.class_names == ("Control", "Impaired")
    assert data.y.sum() == 91 and {"tau", "p_tau", "age", "male"} < set(data.feature_names)
    tau = load("ad_data", target="tau")
    assert tau.X.shape == (333, 124) and tau.class_names == ()
    assert not {"tau", "p_tau", "Ab_42", "age", "male"} & set(tau.feature_names)
    assert np.array_equal(tau.y, column(data, "tau"))
    # Tau is higher in the impaired (Craig-Schapiro et al. 2011).
    assert tau.y[data.y == 1].mean() > tau.y[data.y == 0].mean()


def test_a_share_of_ad_data_is_drawn_by_the_seed_and_keeps_rows_together():
    full, half_data = load("ad_data"), load("ad_data", share=0.5, random_state=1)
    rows = {row.tobytes(): (i, y) for i, (row, y) in enumerate(zip(full.X, full.y, strict=True))}
    of_half = [rows[row.tobytes()] for row in half_data.X]
    places = [i for i, _ in of_half]
    assert len(set(places)) == len(half_data.y) == round(333 / 2)
    assert places == sorted(places)
    assert [y for _, y in of_half] == half_data.y.tolist()
    assert np.array_equal(half_data.X, load("ad_data", share=0.5, random_state=1).X)
    assert not np.array_equal(half_data.X, load("ad_data", share=0.5, random_state=2).X)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("iris", {"outcome": "shuffled"}, "outcome='shuffled': expected one of observed, permuted"),
        ("standardized_split", {"of": "wine", "split": "authors"}, "no split of the authors for"),
        ("standardized_split", {"of": "beer"}, "unknown data set 'beer'"),
        ("friedman", {"n_features": 4}, "n_features"),
    ],
)
def test_bad_parameters_are_named(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        datasets.load({"dataset": name, **parameters})


SPLITS = {"red_wine": 1279, "california_housing": 16346, "parkinson": 4700}


@pytest.mark.parametrize(("name", "n_training"), SPLITS.items())
def test_rows_of_the_authors_split_keep_features_and_target_together(name, n_training):
    """In the authors' newest files, 431 of 20433 rows of housing have a target of their own."""
    full = load(name)
    split_data = load("standardized_split", of=name, split="authors")
    assert split_data.X.shape == full.X.shape and split_data.n_training == n_training
    assert len(split_data.training.X) == n_training
    assert len(split_data.explained.X) == len(full.X) - n_training
    standardized = (full.X - full.X.mean(axis=0)) / full.X.std(axis=0)
    pairs, expected = (
        sorted((row.tobytes(), value) for row, value in zip(X, y, strict=True))
        for X, y in ((split_data.X, split_data.y), (standardized, full.y))
    )
    assert pairs == expected


def test_a_split_of_ones_own_is_drawn_by_the_seed():
    recipe = {"of": "wine", "test_share": 0.25}
    split_data = load("standardized_split", **recipe, random_state=1)
    assert (len(split_data.explained.X), len(split_data.training.X)) == (45, 133)
    assert np.allclose(split_data.X.mean(axis=0), 0) and np.allclose(split_data.X.std(axis=0), 1)
    assert np.array_equal(split_data.X, load("standardized_split", **recipe, random_state=1).X)
    assert not np.array_equal(split_data.X, load("standardized_split", **recipe, random_state=2).X)
    three_rows = load("standardized_split", **recipe, random_state=1, n_test=3)
    assert np.array_equal(three_rows.explained.X, split_data.explained.X[:3])
    assert np.array_equal(three_rows.training.X, split_data.training.X)
    assert Dataset.from_arrays(three_rows.to_arrays()).n_training == 133


def test_a_feature_of_one_value_is_zero_when_it_is_standardized():
    """It was 0 / 0: models took it for missing, and perturbations had no width."""
    constant = np.ptp(load("digits").X, axis=0) == 0
    X = load("standardized_split", of="digits", random_state=1).X
    assert constant.any() and np.isfinite(X).all()
    assert (X[:, constant] == 0).all() and np.allclose(X[:, ~constant].std(axis=0), 1)


# Tables against their originals, and damaged ones.

TABLES = {
    module.TABLE.name: module.TABLE
    for module in (red_wine, california_housing, parkinson, titanic, ad_data)
} | {table.name: table for table in standardized_split.AUTHORS_ROWS.values()}
TABLES |= {table.name: table for table, _ in recorded.TREES.values()}
TABLES |= {recorded.TIE_ORDERS.name: recorded.TIE_ORDERS}


def originals(name):
    """Bytes of the original of a table, or the test ends as skipped."""
    folder = os.environ.get("SPLITCREDIT_ORIGINALS")
    if not folder:
        pytest.skip(
            "the originals are not part of the project: SPLITCREDIT_ORIGINALS names no folder"
        )
    file, sha256 = make_tables.ORIGINALS[name]
    content = Path(folder, file).read_bytes()
    assert hashlib.sha256(content).hexdigest() == sha256
    return content


@pytest.mark.parametrize("name", make_tables.ORIGINALS)
def test_a_table_holds_what_its_original_holds(name):
    content = originals(name)
    table = pd.read_csv(ROOT / "data" / f"{name}.csv.gz")
    if name == "gajewski2025_wine_tree":
        (nodes,) = json.loads(content)["learner"]["gradient_booster"]["model"]["trees"]
        inner = table["left"] >= 0
        assert table["left"].tolist() == nodes["left_children"]
        assert table["right"].tolist() == nodes["right_children"]
        assert table["cover"].tolist() == nodes["sum_hessian"]
        conditions = table["threshold"].where(inner, table["value"])
        assert conditions.tolist() == nodes["split_conditions"]
        return
    separator = ";" if name == "red_wine" else ","
    pd.testing.assert_frame_equal(table, pd.read_csv(io.BytesIO(content), sep=separator))


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_the_shape_and_checksum_that_its_loader_declares(name):
    assert TABLES[name].read().shape == TABLES[name].shape


def test_a_damaged_table_is_refused_by_name(monkeypatch, tmp_path):
    table = red_wine.TABLE
    content = bytearray(table.path.read_bytes())
    monkeypatch.setattr(_tables, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"red_wine.csv.gz cannot be read .* restore the file"):
        table.read()
    table.path.write_bytes(bytes(content[:1000]))
    with pytest.raises(ValueError, match=r"red_wine.csv.gz cannot be read"):
        table.read()
    one_cell = gzip.decompress(bytes(content)).replace(b"7.4,0.7,", b"7.4,0.8,", 1)
    table.path.write_bytes(gzip.compress(one_cell))
    with pytest.raises(ValueError, match=r"red_wine.csv.gz has the SHA-256 .*, not d22f4f"):
        datasets.load({"dataset": "red_wine"})
    table.path.write_bytes(content)
    with pytest.raises(ValueError, match="has the shape"):
        replace(table, shape=(1, 1)).read()


# A CSV of one's own.


@pytest.fixture
def mine(monkeypatch, tmp_path):
    """A function that writes mine.csv and returns its recipe."""
    monkeypatch.chdir(tmp_path)

    def write(text, **parameters):
        (tmp_path / "mine.csv").write_text(text)
        return {"dataset": "csv_file", "path": "mine.csv", "target": "y", **parameters}

    return write


@pytest.mark.parametrize(
    "changed", [{"X": np.zeros(5)}, {"y": np.zeros(4)}, {"feature_names": ("a",)}]
)
def test_a_loader_whose_arrays_do_not_fit_each_other_is_named(monkeypatch, changed):
    """The fit failed, with a message that did not say of which data set."""
    right = {"X": np.zeros((5, 2)), "y": np.zeros(5), "feature_names": ("a", "b")}
    monkeypatch.setattr(
        datasets, "loader", lambda name: lambda: datasets.Dataset(**right | changed)
    )
    with pytest.raises(
        ValueError, match=r"^data set mine: X has the shape \(.*; expected \(n_samples"
    ):
        datasets.load({"dataset": "mine"})


@pytest.mark.parametrize("text", ["a,color,y\n1,red,0\n", "a,color,y\n1,,0\n2,3,1\n"])
def test_a_job_on_a_table_that_cannot_be_used_ends_in_one_line(mine, text, monkeypatch, capsys):
    """A traceback of forty lines stood before it, and the line once more."""
    recipe = mine(text)
    monkeypatch.setattr(check, "add_arguments", lambda parser: None)
    monkeypatch.setattr(check, "run", lambda arguments: datasets.load(recipe))
    assert __main__.main(["check"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert re.match("check: mine.csv: (not numeric: color|blanks in color).*; (turn|fill)", line)


def test_csv_of_a_user(mine):
    text = "a,y,b\n1,0.5,2\n3,1.5,4\n"
    data = datasets.load(mine(text))
    assert data.X.tolist() == [[1, 2], [3, 4]] and data.y.tolist() == [0.5, 1.5]
    assert data.feature_names == ("a", "b") and data.class_names == ()
    assert datasets.load(mine(text, features=["b"])).X.tolist() == [[2], [4]]


def test_csv_of_a_user_with_classes_and_another_separator(mine):
    data = datasets.load(mine("a;y\n1;sick\n2;well\n3;sick\n", classes=True, separator=";"))
    assert (data.class_names, data.y.tolist()) == (("sick", "well"), [0, 1, 0])


def test_labels_that_are_equal_as_numbers_are_different_classes(mine):
    data = datasets.load(mine("a,y,b\n1,01,2\n2,1,3\n3,01,4\n", classes=True))
    assert (data.class_names, data.y.tolist()) == (("01", "1"), [0, 1, 0])
    assert data.X.tolist() == [[1, 2], [2, 3], [3, 4]]


@pytest.mark.parametrize(
    ("text", "parameters", "message"),
    [
        ("a,b\n1,2\n", {}, r"mine.csv has no column y; it has a, b"),
        ("a,y\n1,2\n", {"features": ["c"]}, r"mine.csv has no column c; it has a, y"),
        ("a,b,y\nx,1,2\n", {}, r"mine.csv: not numeric: a; turn text into .* the other columns by"),
        ("a,y\n1,sick\n", {}, r"mine.csv: not numeric: y; .* or set classes: true"),
        ("a,b,y\n,1,2\n,3,\n4,5,6\n", {}, r"mine.csv: blanks in a \(2\), y \(1\); fill them or"),
        ("a,y\n1,2\n", {"features": ["a", "y"]}, r"y is the target, take it out of features"),
        # pandas takes 1 and 4 for names of the rows, and 2 and 5 for a.
        ("a,y\n1,2,3\n4,5,6\n", {}, r"mine.csv: rows have more cells than the first line has"),
        # It calls the second a, or y, by another name: y would be a feature then.
        ("a,a,y\n1,2,3\n", {}, r"mine.csv: there twice: a; give one a new name"),
        ("a,y,y\n1,2,3\n", {}, r"mine.csv: there twice: y; give one a new name"),
        ("a,y\n1,2\n", {"features": ["a", "a"]}, r"mine.csv: there twice: a; give one"),
        (",a,y\n0,1,2\n", {}, r"mine.csv: column 1 has no name; name it, or say by features"),
        (
            "a,y\ninf,1\n",
            {},
            r"mine.csv: infinite values, or numbers above .*, in a; replace them or drop",
        ),
        (
            "a,y\n1,inf\n",
            {},
            r"mine.csv: infinite values, or numbers above .*, in y; replace them or drop",
        ),
        ("a,y\n", {}, r"mine.csv has no row"),
        ("y\n1\n", {}, r"mine.csv has no feature"),
        ("a,y\n1,2\n", {"features": []}, r"mine.csv has no feature"),
        ("", {}, r"mine.csv is empty: its first line must name the columns"),
        ("a,y\n1,2\n1,2,3\n", {}, r"mine.csv cannot be read as CSV \(.* line 3.*\); save it"),
        ("a,y\n1,NA\n2,x\n", {"classes": True}, r"mine.csv: blanks in y \(1\); fill them or"),
        ("=cmd(),y\n1,2\n", {}, r"mine.csv: a spreadsheet would run =cmd\(\) as a formula"),
        ("a,y\n1,@x\n2,-1\n", {"classes": True}, r"mine.csv: a spreadsheet would run @x as a"),
        (f"a,y\n{2**53 + 1},1\n", {}, r"mine.csv: integers beyond 2\*\*53 in a, which would be"),
        # The decimal commas would be separators.
        ("a;y\n1,5;2\n", {}, r"mine.csv: the first line has ';' .* set separator: \";\"$"),
        ("a\ty\n1\t2\n", {}, r"mine.csv: the first line has .* set separator: \"\\t\"$"),
        ("a,y\n1,2\n", {"separator": ";"}, r"first line has ',' .* and no ';'; set separator: \","),
    ],
)
def test_errors_of_a_csv_name_file_column_and_remedy(mine, text, parameters, message):
    with pytest.raises(ValueError, match=message):
        datasets.load(mine(text, **parameters))


def test_a_csv_in_another_encoding_is_named(mine, tmp_path):
    recipe = mine("")
    (tmp_path / "mine.csv").write_bytes("\xe4,y\n1,2\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"^mine.csv cannot be read as CSV \(.*utf-8.*save it as"):
        datasets.load(recipe)


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("\ufeffa,b,y\n1,2,3\n", {}),
        # What ends every line is no cell.
        ("a,b,y\n1,2,3,\n", {}),
        ("a::b::y\n1::2::3\n", {"separator": "::"}),
        # A column that is left out need not have a name of its own.
        (",a,b,y,z,z\n0,1,2,3,4,5\n", {"features": ["a", "b"]}),
    ],
)
def test_columns_of_a_csv_have_the_names_of_the_first_line(mine, text, parameters):
    data = datasets.load(mine(text, **parameters))
    assert data.feature_names == ("a", "b")
    assert data.X.tolist() == [[1, 2]] and data.y.tolist() == [3]


def test_a_csv_that_is_not_there_or_has_another_checksum(mine, tmp_path):
    recipe = mine("a,y\n1,2\n")
    with pytest.raises(ValueError, match=r"mine.csv: its SHA-256 is .*, not 00"):
        datasets.load({**recipe, "sha256": "00"})
    with pytest.raises(ValueError, match=r"other.csv cannot be read \(No such file"):
        datasets.load({**recipe, "path": "other.csv"})
    assert datasets.load({**recipe, "path": str(tmp_path / "mine.csv")}).X.tolist() == [[1]]
    with pytest.raises(ValueError, match="needs a path"):
        csv_file.files()


def test_parquet_of_a_user_is_read_as_a_csv_is(mine, tmp_path, monkeypatch):
    recipe = {**mine("a,y,b\n1,0.5,2\n3,1.5,4\n"), "dataset": "parquet_file"}
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"mine.csv: Parquet needs pyarrow: pip install pyarrow"):
        datasets.load(recipe)
    # The reader of pandas, without the package behind it.
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    monkeypatch.setattr("pandas.read_parquet", pd.read_csv)
    data = datasets.load(recipe)
    assert data.X.tolist() == [[1, 2], [3, 4]] and data.feature_names == ("a", "b")
    with pytest.raises(ValueError, match=r"blanks in a \(1\)"):
        datasets.load({**mine("a,y\n,1\n2,3\n"), "dataset": "parquet_file"})
    with pytest.raises(ValueError, match=r"^mine.csv cannot be read as Parquet \(No columns"):
        datasets.load({**mine(""), "dataset": "parquet_file"})
    with pytest.raises(ValueError, match="needs a path"):
        parquet_file.files()


def test_an_index_with_a_name_is_a_column_of_a_parquet_table(mine, tmp_path, monkeypatch):
    """Pandas makes it the index of the table again, and it was left out without a word."""
    recipe = {**mine("a,y,b\n1,0.5,2\n3,1.5,4\n"), "dataset": "parquet_file"}
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)

    def read(index):
        monkeypatch.setattr("pandas.read_parquet", lambda raw: pd.read_csv(raw).set_index(index))
        return datasets.load

    data = read("a")(recipe)
    assert data.feature_names == ("a", "b") and data.X.tolist() == [[1, 2], [3, 4]]
    assert read("y")(recipe).y.tolist() == [0.5, 1.5]
    assert read(["b", "a"])(recipe).feature_names == ("b", "a")
    assert read("a")({**recipe, "features": ["b"]}).feature_names == ("b",)
    # Without a name it counts the rows.
    assert read(pd.Index([7, 9]))(recipe).feature_names == ("a", "b")
    with pytest.raises(ValueError, match=r"^mine.csv: a is a column and the name of the index; gi"):
        read(pd.Index([7, 9], name="a"))(recipe)


def test_noisy_features_may_be_relevant_wherever_they_are_and_noise_of_one_cardinality():
    default_data = load("noisy_features", n_samples=400, random_state=5)
    # The first two draws of the generator, in this order, whatever parameters came later.
    random = np.random.default_rng(5)
    assert np.array_equal(default_data.X, random.integers(0, np.arange(2, 52), (400, 50)))
    assert default_data.relevant == tuple(sorted(random.choice(10, 5, replace=False)))
    everywhere = {"dataset": "noisy_features", "n_samples": 400, "n_candidates": 50}
    relevant_sets = [datasets.load(everywhere, repeat).relevant for repeat in range(60)]
    counts = np.bincount(np.concatenate(relevant_sets), minlength=50)
    assert counts.reshape(5, 10).sum(axis=1).min() > 0.6 * counts.sum() / 5
    seeded = {**everywhere, "random_state": 5}
    ordinary, binary = datasets.load(seeded), datasets.load({**seeded, "noise_values": 2})
    assert binary.relevant == ordinary.relevant and np.array_equal(binary.y, ordinary.y)
    relevant = list(binary.relevant)
    assert np.array_equal(binary.X[:, relevant], ordinary.X[:, relevant])
    noise = np.delete(binary.X, relevant, axis=1)
    assert set(np.unique(noise)) == {0, 1} and 0.4 < noise.mean() < 0.6


def test_five_features_of_friedman_tell_y_however_many_there_are():
    five_features, twenty_features = (
        datasets.load({"dataset": "friedman", "n_features": d, "noise": 0.0, "n_samples": 300})
        for d in (5, 20)
    )
    for data in (five_features, twenty_features):
        u = data.X / np.sqrt(12) + 0.5
        y = 10 * np.sin(np.pi * u[:, 0] * u[:, 1]) + 20 * (u[:, 2] - 0.5) ** 2
        assert np.allclose(data.y, y + 10 * u[:, 3] + 5 * u[:, 4])
        assert data.relevant == (0, 1, 2, 3, 4) and len(data.training.X) == 300
    assert np.abs(twenty_features.X.std(axis=0) - 1).max() < 0.1


# What authors left behind.


def test_a_recorded_tree_is_read_and_not_fitted():
    """Walked by hand over the rows of its table, by the names of the features."""
    name = "gajewski2025_wine_tree"
    recipe = {"estimator": "XGBRegressor", "recorded": name, "random_state": 42}
    wine = datasets.load({"dataset": "standardized_split", "of": "red_wine", "split": "authors"})
    names = [feature.replace(" ", "_") for feature in wine.feature_names]
    assert recorded.TREES[name][1] == tuple(names)
    nodes = pd.read_csv(ROOT / "data" / f"{name}.csv.gz").set_index("node")
    forest, leaves = models.fit(recipe, wine.X, wine.y), []
    for row in wine.X[:200].astype(np.float32):
        k = 0
        while nodes.loc[k, "left"] >= 0:
            node = nodes.loc[k]
            left = row[names.index(node["feature"])] < np.float32(node["threshold"])
            k = node["left" if left else "right"]
        leaves.append(np.float32(nodes.loc[k, "value"]))
    base = np.float32(5.6379986)
    assert forest.predict(wine.X[:200])[:, 0].tolist() == [float(v) + float(base) for v in leaves]
    with pytest.raises(ValueError, match="gajewski2025_wine_tree has 11 features, X 10"):
        models.fit(recipe, wine.X[:, 1:], wine.y)
    with pytest.raises(ValueError, match="no recorded tree 'other': there are gajewski2025_wine"):
        recorded.forest("other")


def test_a_recorded_order_of_ties_is_one_of_the_features_for_every_place():
    names = ("Jitter(%)", "Jitter(Abs)", "Jitter:RAP")
    with pytest.raises(ValueError, match="no order 'single' is recorded for Jitter"):
        recorded.tie_order("single", names)
    recipe = {"dataset": "standardized_split", "of": "parkinson"}
    names = datasets.load(recipe).feature_names
    of_single, of_bigger = (recorded.tie_order(kind, names) for kind in ("single", "bigger"))
    for order in (of_single, of_bigger):
        assert (np.sort(order, axis=1) == np.arange(17)).all()
        # The program's set of names was built anew after the eighth place.
        assert (order[:8] == order[0]).all() and (order[8:] == order[8]).all()
        assert (order[7] != order[8]).any()
    assert [names[j] for j in of_single[0, :3]] == ["Jitter(%)", "Jitter:PPQ5", "Shimmer:APQ5"]
    assert [names[j] for j in of_bigger[16, :2]] == ["Jitter(%)", "Shimmer:DDA"]


@pytest.mark.parametrize("recipe", [{"dataset": "iris"}, {"dataset": "gene_modules"}])
def test_permuted_outcomes_are_the_same_outcomes_beside_other_rows(recipe):
    """Same features, same outcomes, each at a row of chance, anew in each repeat."""
    observed = datasets.load({**recipe, "outcome": "observed"}, 1)
    permuted, same_repeat, next_repeat = (
        datasets.load({**recipe, "outcome": "permuted"}, repeat) for repeat in (1, 1, 2)
    )
    assert np.array_equal(observed.X, datasets.load(recipe, 1).X)
    assert np.array_equal(observed.y, datasets.load(recipe, 1).y)
    assert np.array_equal(permuted.X, observed.X)
    assert np.array_equal(np.sort(permuted.y), np.sort(observed.y))
    # Of 150 rows in three classes a third agree by chance.
    assert np.mean(permuted.y == observed.y) < 0.5
    assert np.array_equal(permuted.y, same_repeat.y)
    assert not np.array_equal(permuted.y, next_repeat.y)


def test_an_explicit_seed_permutes_anew_in_each_repeat_and_unlike_the_draw():
    recipe = {"dataset": "gene_modules", "random_state": 5, "outcome": "permuted"}
    first, second = (datasets.load(recipe, repeat) for repeat in (0, 1))
    assert np.array_equal(first.X, second.X) and not np.array_equal(first.y, second.y)


def test_a_split_that_does_not_name_every_row_once_is_refused():
    with pytest.raises(ValueError, match="the authors' split"):
        standardized_split._authors_rows("red_wine", 1598)
