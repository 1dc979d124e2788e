"""Real data sets: known facts, features aligned with the target, and a user's own CSV.

Where no data directory has a file, its tests are skipped; see `real_data`.
"""

from pathlib import Path

import numpy as np
import pytest

from real_data import load, look_here
from splitcredit import datasets
from splitcredit.datasets import Dataset, _places, _routes, csv_file, parkinsons, titanic

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def settings(monkeypatch):
    """The default directories, of this checkout; settings as they were, afterwards."""
    look_here(monkeypatch)


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
    table, _ = _routes.read_table(*datasets.originals({"dataset": "california_housing"}), [], 20640)
    prices = table["median_house_value"]
    assert (round(prices.mean(), 1), (prices >= 500001).sum()) == (206855.8, 965)
    blanks = table.index[table["total_bedrooms"].isna()]
    assert tuple(blanks) == datasets.california_housing.BLANKS
    # Income decides prices: features beside another row's price, as after rows were dropped without
    # care, have no correlation.
    assert round(np.corrcoef(column(data, "median_income"), data.y)[0, 1], 3) == 0.688
    kept = table.drop(index=blanks)
    assert np.array_equal(data.y, kept["median_house_value"])
    assert np.array_equal(column(data, "households"), kept["households"])


def test_parkinsons():
    data = load("parkinsons")
    assert data.X.shape == (5875, 17) and data.feature_names[0] == "test_time"
    assert not {"age", "sex", "subject#", "total_UPDRS"} & set(data.feature_names)
    assert data.source["target"] == "motor_UPDRS"
    total = load("parkinsons", target="total_UPDRS")
    assert np.array_equal(total.X, data.X)
    assert round(np.corrcoef(total.y, data.y)[0, 1], 3) == 0.947
    assert (column(data, "test_time") < 0).sum() == 12
    table, _ = _routes.read_table(parkinsons.ORIGINAL, ["subject#"], 5875)
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
    whole, half = load("ad_data"), load("ad_data", share=0.5, random_state=1)
    rows = {row.tobytes(): (i, y) for i, (row, y) in enumerate(zip(whole.X, whole.y, strict=True))}
    found = [rows[row.tobytes()] for row in half.X]
    places = [i for i, _ in found]
    assert len(set(places)) == len(half.y) == round(333 / 2)
    assert places == sorted(places)
    assert [y for _, y in found] == half.y.tolist()
    assert np.array_equal(half.X, load("ad_data", share=0.5, random_state=1).X)
    assert not np.array_equal(half.X, load("ad_data", share=0.5, random_state=2).X)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("ad_data", {"target": "Ab_42"}, "no target 'Ab_42': expected one of Class, tau"),
        ("ad_data", {"share": 0}, "share is 0: expected a number above 0 and at most 1"),
        ("standardised_split", {"of": "wine", "split": "half"}, "expected one of authors, random"),
        ("standardised_split", {"of": "wine", "split": "authors"}, "no split of the authors for"),
        ("standardised_split", {"of": "beer"}, "unknown data set 'beer'"),
        ("standardised_split", {"of": "wine", "test_share": 1}, "test_share is 1"),
        ("parkinsons", {"target": "age"}, "no target 'age': expected motor_UPDRS or total_UPDRS"),
    ],
)
def test_bad_parameters_are_named(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        datasets.load({"dataset": name, **parameters})


def test_the_source_travels_with_the_data():
    data = Dataset(np.zeros((1, 1)), np.zeros(1), ("a",), source={"route": "wheel x 1"})
    assert Dataset.from_arrays(data.to_arrays()).source == {"route": "wheel x 1"}
    assert Dataset.from_arrays(datasets.load({"dataset": "led"}).to_arrays()).source == {}


SPLITS = {"red_wine": 1279, "california_housing": 16346, "parkinsons": 4700}


@pytest.mark.parametrize(("name", "n_training"), SPLITS.items())
def test_rows_of_the_authors_split_keep_features_and_target_together(name, n_training):
    """In the authors' newest files, 431 of 20433 rows of housing have a target of their own."""
    whole = load(name)
    split = load("standardised_split", of=name, split="authors")
    assert split.X.shape == whole.X.shape and split.n_training == n_training
    assert len(split.training.X) == n_training
    assert len(split.explained.X) == len(whole.X) - n_training
    standardised = (whole.X - whole.X.mean(axis=0)) / whole.X.std(axis=0)
    pairs, known = (
        sorted((row.tobytes(), value) for row, value in zip(X, y, strict=True))
        for X, y in ((split.X, split.y), (standardised, whole.y))
    )
    assert pairs == known


def test_a_split_of_ones_own_is_drawn_by_the_seed(monkeypatch, tmp_path):
    recipe = {"of": "wine", "test_share": 0.25}
    split = load("standardised_split", **recipe, random_state=1)
    assert (len(split.explained.X), len(split.training.X)) == (45, 133)
    assert np.allclose(split.X.mean(axis=0), 0) and np.allclose(split.X.std(axis=0), 1)
    assert np.array_equal(split.X, load("standardised_split", **recipe, random_state=1).X)
    assert not np.array_equal(split.X, load("standardised_split", **recipe, random_state=2).X)
    few = load("standardised_split", **recipe, random_state=1, n_test=3)
    assert np.array_equal(few.explained.X, split.explained.X[:3])
    assert np.array_equal(few.training.X, split.training.X)
    assert Dataset.from_arrays(few.to_arrays()).n_training == 133


# Files made on the spot: what the loaders do where the original is not there.


def accept(monkeypatch, tmp_path, module, form, text):
    """Let a made file of that name be what the data set is."""
    content = text.encode()
    (tmp_path / form.name).write_bytes(content)
    made = _routes.Form(form.name, _routes.sha256(content), form.note)
    monkeypatch.setattr(module, "ORIGINAL", _routes.Original(made))
    monkeypatch.setattr(_places.settings, "directories", (str(tmp_path),))


def test_parkinsons_without_motor_updrs_says_so(monkeypatch, tmp_path):
    form = parkinsons.ORIGINAL.ways[-1].form
    header = ",".join([*parkinsons.FEATURES, "total_UPDRS"])
    rows = [",".join(str(i + j) for j in range(18)) for i in range(5875)]
    accept(monkeypatch, tmp_path, parkinsons, form, "\n".join([header, *rows, ""]))
    data = datasets.load({"dataset": "parkinsons"})
    assert data.source["target"] == "total_UPDRS"
    assert "motor_UPDRS cannot be had" in data.source["note"]
    assert np.array_equal(data.y, data.X[:, 0] + 17)


def test_ten_digits_takes_the_noise_of_the_last_place_away():
    content = b"a,b\r\n72,3.379999999999999e-05\r\n0.004010000000000001,-1.5\r\n"
    assert parkinsons.ten_digits(content) == b"a,b\n72,3.38e-05\n0.00401,-1.5\n"


def test_titanic_drops_unknown_ages_and_keeps_rows_together(monkeypatch, tmp_path):
    lines = ["PassengerId,Survived,Pclass,Sex,Age"]
    lines += [f"{i},{i % 2},{1 + i % 3},{'male' if i % 5 else 'female'}," for i in range(890)]
    lines += ["1000,1,2,female,31"]
    form = _routes.Form("titanic_train.csv", None)
    accept(monkeypatch, tmp_path, titanic, form, "\n".join([*lines, ""]))
    data = titanic.load()
    assert (data.X.tolist(), data.y.tolist()) == ([[31, 0, 2, 1000]], [1])


@pytest.fixture
def mine(monkeypatch, tmp_path):
    """A function that writes mine.csv and returns its recipe."""
    monkeypatch.setattr(_places.settings, "directories", (str(tmp_path),))

    def write(text, **parameters):
        (tmp_path / "mine.csv").write_text(text)
        return {"dataset": "csv_file", "path": "mine.csv", "target": "y", **parameters}

    return write


def test_csv_of_a_user(mine):
    text = "a,y,b\n1,0.5,2\n3,1.5,4\n"
    data = datasets.load(mine(text))
    assert data.X.tolist() == [[1, 2], [3, 4]] and data.y.tolist() == [0.5, 1.5]
    assert data.feature_names == ("a", "b") and data.class_names == ()
    assert (data.source["target"], data.source["file"]) == ("y", "mine.csv")
    assert datasets.load(mine(text, features=["b"])).X.tolist() == [[2], [4]]


def test_csv_of_a_user_with_classes_and_another_separator(mine):
    data = datasets.load(mine("a;y\n1;sick\n2;well\n3;sick\n", classes=True, separator=";"))
    assert (data.class_names, data.y.tolist()) == (("sick", "well"), [0, 1, 0])


@pytest.mark.parametrize(
    ("text", "parameters", "message"),
    [
        ("a,b\n1,2\n", {}, r"mine.csv has no column y; it has a, b"),
        ("a,y\n1,2\n", {"features": ["c"]}, r"mine.csv has no column c; it has a, y"),
        ("a,b,y\nx,1,2\n", {}, r"mine.csv: not numeric: a; turn them into numbers, leave"),
        ("a,y\n1,sick\n", {}, r"mine.csv: not numeric: y; .* or set classes: true"),
        ("a,b,y\n,1,2\n,3,\n4,5,6\n", {}, r"mine.csv: blanks in a \(2\), y \(1\); fill them or"),
        ("a,y\n1,2\n", {"features": ["a", "y"]}, r"y is the target, take it out of features"),
    ],
)
def test_errors_of_a_csv_name_file_column_and_remedy(mine, text, parameters, message):
    with pytest.raises(ValueError, match=message):
        datasets.load(mine(text, **parameters))


def test_a_csv_that_is_not_there_or_has_another_checksum(mine, tmp_path):
    recipe = mine("a,y\n1,2\n")
    with pytest.raises(_routes.NotAvailableError, match=r"directory .*: SHA-256 is .*, not 00"):
        datasets.load({**recipe, "sha256": "00"})
    with pytest.raises(_routes.NotAvailableError, match=r"Put other.csv into"):
        datasets.load({**recipe, "path": "other.csv"})
    assert datasets.load({**recipe, "path": str(tmp_path / "mine.csv")}).X.tolist() == [[1]]
    with pytest.raises(ValueError, match="csv_file needs a path"):
        csv_file.originals()
