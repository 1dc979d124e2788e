"""The command line: the functions' own numbers from files, one line where something is wrong."""

import importlib.util
import json
import pickle
import re
import shlex
import typing
import zipfile
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import lightgbm
import matplotlib
import numpy as np
import pandas as pd
import pytest
import xgboost
from click.testing import CliRunner
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import splitcredit
from splitcredit.views import command_files as files
from splitcredit.views.cli import _hints, _typed, cli

matplotlib.use("Agg")
PAGE = (Path(__file__).resolve().parents[3] / "docs" / "command_line.md").read_text()
EXAMPLES = [command.epilog.split("splitcredit ")[1] for command in cli.commands.values()]
LINES = dict.fromkeys([*re.findall(r"^splitcredit (.*)$", PAGE, re.M), *EXAMPLES])


def run(*arguments, **options):
    return CliRunner().invoke(cli, [str(a) for a in arguments], **options)


def read(result):
    assert result.exit_code == 0, result.output
    return pd.read_csv(StringIO(result.stdout))


@pytest.fixture(scope="module")
def data():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(90, 3)), columns=["dose", "age", "size"])
    return X, (X["dose"] + X["age"] > 0).astype(int)


@pytest.fixture
def rows(data, tmp_path):
    X, y = data
    X.assign(y=y, id="a").to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


@pytest.fixture(scope="module")
def booster(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.json"
    xgboost.XGBClassifier(n_estimators=5).fit(*data).save_model(path)
    return path


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A folder with the files that the page writes."""
    pytest.importorskip("skops")
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)[0], {})
    return folder


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(x, marks=pytest.mark.long if x.startswith(("audit", "warm-up")) else ())
        for x in LINES
    ],
)
def test_examples_of_the_page_and_of_every_help_run(line, page, monkeypatch):
    if line.startswith("audit"):
        pytest.importorskip("matplotlib")
    monkeypatch.chdir(page)
    line, _, source = line.partition(" < ")
    arguments = shlex.split(line)
    result = run(*arguments, input=Path(source).read_text() if source else None)
    assert result.exit_code == 0, result.output
    out = arguments[arguments.index("--out") + 1] if "--out" in arguments else None
    if not line.startswith("warm-up"):
        assert result.stdout if out is None else Path(out).stat().st_size > 0
    assert not list(page.glob("*.part"))


def test_models_of_every_library_give_the_numbers_of_the_functions(data, rows, tmp_path):
    """Also the target and a column that the model does not know were given to the trees."""
    X, y = data
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    grown = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(X, y)
    boosted = xgboost.XGBClassifier(n_estimators=5).fit(X, y)
    steps = make_pipeline(StandardScaler(), RandomForestClassifier(5)).fit(X, y)
    grown.booster_.save_model(tmp_path / "model.txt")
    boosted.save_model(tmp_path / "model.ubj")
    np.savez(tmp_path / "model.npz", **splitcredit.to_forest(forest).to_arrays())
    models = {"model.txt": grown, "model.ubj": boosted, "model.npz": forest}
    if importlib.util.find_spec("skops"):
        import skops.io

        for number, model in enumerate((forest, grown, steps, boosted)):
            skops.io.dump(model, tmp_path / f"{number}.skops")
            models[f"{number}.skops"] = model
    for name, model in models.items():
        frame = read(run("explain", tmp_path / name, rows, "--target", "y"))
        own = splitcredit.explain(model, X)
        np.testing.assert_array_equal(frame[list(X)], own.to_frame()[list(X)], name)
        totals = frame["baseline"] + frame[list(X)].sum(axis=1)
        np.testing.assert_allclose(totals, own.totals().ravel(), rtol=0, atol=1e-12)


def test_parts_of_a_table_have_the_bytes_of_the_whole(data, rows, booster, monkeypatch):
    """Rows were numbered anew in each part, or the header was repeated."""
    whole = run("explain", booster, rows)
    monkeypatch.setattr(files, "PART", 40)
    assert run("explain", booster, rows).stdout == whole.stdout
    assert run("explain", booster, "-", input=rows.read_text()).stdout == whole.stdout
    assert list(read(run("explain", booster, rows, "--rows", 50))["sample"]) == list(range(50))
    records = json.loads(run("explain", booster, rows, "--format", "json").stdout)
    assert [record["dose"] for record in records] == list(read(whole)["dose"])
    pytest.importorskip("pyarrow")
    table, values = rows.with_suffix(".parquet"), rows.with_name("values.parquet")
    data[0].to_parquet(table)
    assert run("explain", booster, table, "--out", values).exit_code == 0
    written = pd.read_parquet(values)
    assert written.to_csv(index=False) == whole.stdout


LABELS = {
    "missing": ["NA", "None", "DE"],
    "digits": ["01", "1", "2"],
    "truth as text": ["True", "true", "no"],
    "whole": [10, 20, 30],
    "truth": [False, True, True],
}


def totals(*arguments):
    frame = read(run("explain", *arguments, "--format", "csv"))
    return frame.iloc[:, 2:].sum(axis=1)


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_categories_of_a_table_are_the_labels_of_the_model(labels, tmp_path, monkeypatch):
    """Red if pandas decides part by part what is missing, a number or text."""
    monkeypatch.setattr(files, "PART", 40)
    rng, known = np.random.default_rng(0), pd.Index(labels).unique()
    codes = rng.integers(0, len(known), (2, 90))
    codes[0].sort()
    X = pd.DataFrame({"x": rng.normal(size=90)})
    X["k"], X["unused"] = (pd.Categorical.from_codes(own, known) for own in codes)
    X.loc[40:60, "k"] = None
    y = X["x"] + 5 * X["k"].cat.codes
    X.to_csv(tmp_path / "rows.csv", index=False, sep=";", decimal=",")
    grown = lightgbm.LGBMRegressor(n_estimators=9, verbose=-1, min_child_samples=2).fit(X, y)
    grown.booster_.save_model(tmp_path / "model.txt")
    np.savez(tmp_path / "model.npz", **splitcredit.to_forest(grown).to_arrays())
    models = {"model.txt": grown, "model.npz": grown}
    if bool not in map(type, labels):  # which XGBoost does not take
        models["model.json"] = xgboost.XGBRegressor(n_estimators=9, enable_categorical=True)
        models["model.json"].fit(X, y).save_model(tmp_path / "model.json")
    if importlib.util.find_spec("skops"):
        import skops.io

        by_type = HistGradientBoostingRegressor(categorical_features="from_dtype", max_iter=9)
        models["model.skops"] = by_type.fit(X, y)
        skops.io.dump(by_type, tmp_path / "model.skops")
    for name, model in models.items():
        own = totals(tmp_path / name, tmp_path / "rows.csv")
        np.testing.assert_allclose(own, model.predict(X), atol=1e-5, err_msg=name)


def test_catboost_is_asked_whether_it_knows_text_or_a_number(tmp_path):
    """Red if True, which it keeps as 1, or 01 is text that it does not know."""
    catboost, rng = pytest.importorskip("catboost"), np.random.default_rng(0)
    for labels in ([False, True], ["False", "True"], [1, 2], ["01", "02"], ["NA", "nan"]):
        X = pd.DataFrame({"k": np.array(labels, object)[rng.integers(0, 2, 90)]})
        model = catboost.CatBoostRegressor(5, verbose=0, allow_writing_files=False)
        model.fit(X, X["k"] == labels[0], cat_features=["k"]).save_model(str(tmp_path / "m.cbm"))
        written = X["k"].map("{:02d}".format) if labels == [1, 2] else X["k"]
        written.to_csv(tmp_path / "rows.csv", index=False)
        own = totals(tmp_path / "m.cbm", tmp_path / "rows.csv")
        np.testing.assert_allclose(own, model.predict(X), atol=1e-9)


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_columns_of_a_pipeline_have_the_labels_of_its_encoders(labels, tmp_path):
    io, rng = pytest.importorskip("skops.io"), np.random.default_rng(0)
    X = pd.DataFrame({"k": np.array(labels, object)[rng.integers(0, 3, 90)], "x": range(90)})
    imputed = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    for encoder in (OrdinalEncoder(), imputed):
        columns = make_column_transformer((encoder, ["k"]), remainder="passthrough")
        model = make_pipeline(columns, RandomForestRegressor(5))
        model.fit(X, X["k"].astype("category").cat.codes)
        io.dump(model, tmp_path / "model.skops")
        X.to_csv(tmp_path / "rows.csv", index=False)
        own = totals(tmp_path / "model.skops", tmp_path / "rows.csv")
        np.testing.assert_allclose(own, model.predict(X), atol=1e-9)


def test_categories_whose_columns_nothing_tells_are_refused(tmp_path):
    """LightGBM keeps the order of its labels, and not the columns of those that it does not use."""
    X = pd.DataFrame({"a": [1, 2, 3] * 30, "b": [3, 2, 1] * 30, "x": range(90)})
    X.to_csv(tmp_path / "rows.csv", index=False)
    X["b"] = pd.Categorical(X["b"], ordered=True)
    model = lightgbm.LGBMRegressor(n_estimators=3, verbose=-1).fit(X, X["x"])
    model.booster_.save_model(tmp_path / "model.txt")
    refused = run("explain", tmp_path / "model.txt", tmp_path / "rows.csv")
    assert refused.exit_code == 1 and "pass a parquet file" in refused.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"dose,age,age,size\n1,2,3,4\n", r"several columns of the same name, \['age'\]"),
        ("dose,age,size,stra\xdfe\n".encode("latin1"), "rows.csv is not text in UTF-8.*LATIN1"),
        ("dose,age,size\n".encode("utf-16"), "rows.csv is not text in UTF-8.*UTF-16"),
        (b"PK\x03\x04\x00\x00", "rows.csv is a workbook"),
        (b"", "rows.csv is empty"),
        (b"dose,age,size\n1,2,forty\n", "column 'size': .*'forty'"),
        (b"dose,age,size\n1,2,3,\n", "separator at the end of each row"),
        # Red if 85,210 is read as 85.21.
        (b"dose;age;size\n85,210;7;1\n", "has 85,210: write numbers without separators"),
        (b"dose;age;size\n85.210;7,5;1\n", "has 85.210: write numbers without separators"),
    ],
)
def test_tables_of_spreadsheets_are_refused_by_what_is_wrong(content, message, booster, tmp_path):
    (tmp_path / "rows.csv").write_bytes(content)
    refused = run("explain", booster, tmp_path / "rows.csv")
    assert refused.exit_code == 1 and re.search(message, refused.stderr), refused.stderr


def test_a_first_row_of_numbers_names_no_columns(tmp_path):
    model = RandomForestRegressor(2).fit(np.eye(4, 2), np.arange(4.0))
    np.savez(tmp_path / "model.npz", **splitcredit.to_forest(model).to_arrays())
    (tmp_path / "rows.csv").write_text("0.5,1.5\n2.5,3.5\n")
    refused = run("explain", tmp_path / "model.npz", tmp_path / "rows.csv")
    assert refused.exit_code == 1 and "write names of columns above them" in refused.stderr


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_and_decimal_commas_are_read(separator, data, rows, booster):
    whole, path = totals(booster, rows), rows.with_name("other.csv")
    other = {"sep": separator, "decimal": "." if separator == "," else ","}
    table = data[0].assign(**{"with, comma": 1})
    table.to_csv(path, index=False, encoding="utf-8-sig", **other)
    np.testing.assert_array_equal(totals(booster, path), whole)


def test_features_with_the_names_of_columns_keep_their_values(tmp_path):
    """Red if JSON keeps the last of two columns of one name."""
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(9, 4)))
    X.columns = ["sample", "output", "baseline", "sample_"]
    model = xgboost.XGBRegressor(n_estimators=3).fit(X, X.sum(axis=1))
    model.save_model(tmp_path / "model.json")
    X.to_csv(tmp_path / "rows.csv", index=False)
    paths = (tmp_path / "model.json", tmp_path / "rows.csv", "--format", "json")
    names = ["sample__", "output_", "baseline_", *X]
    assert list(json.loads(run("explain", *paths).stdout)[0]) == names
    sets = list(json.loads(run("interactions", *paths).stdout)[0])
    assert sets[:2] == ["sample__", "output_"] and len(set(sets)) == 12
    ranked = splitcredit.rank(model, X.rename_axis(index="feature"), "saabas").to_frame()
    assert list(ranked.reset_index()) == ["feature", "sample", "place", "feature_"]


def test_other_commands_give_the_numbers_of_the_functions(data, rows, booster):
    X, scale = data[0][:20], 0.3 * data[0].std()
    few, set_scale = (booster, rows, "--rows", 20), ("--scale", "0.3std")
    pairs = splitcredit.interactions(booster, X).to_frame()
    frame = read(run("interactions", *few))
    np.testing.assert_array_equal(frame["dose x age"], pairs["dose x age"])
    for options, given in ((set_scale, {"scale": scale}), ((), {"background": data[0]})):
        ranked = splitcredit.rank(booster, X, **given).to_frame()
        assert list(read(run("rank", *few, *options))["feature"]) == list(ranked["feature"])
    for ranking, given in (("age,dose,size", ["age", "dose", "size"]), ("saabas", "saabas")):
        gaps = read(run("faithfulness", *few, *set_scale, "--ranking", ranking))
        own = splitcredit.faithfulness(booster, X, given, scale=scale)
        np.testing.assert_allclose(gaps["pgi2"], own, rtol=1e-6, atol=1e-9)
    curve = read(run("partial-dependence", *few, "--feature", "dose", "-p", "grid=thresholds"))
    own = splitcredit.partial_dependence(booster, X, "dose", grid="thresholds").to_frame()
    np.testing.assert_array_equal(curve["value"], own["value"])
    weighed, weights = (booster, rows, "--weights", "y"), data[1]
    found = read(run("importance", *weighed, "--method", "tree_shap")).set_index("feature")["value"]
    own = splitcredit.importance(booster, data[0], method="tree_shap", sample_weight=weights)
    np.testing.assert_array_equal(found[list(own.feature_names)], own.values)
    curve = read(run("partial-dependence", *weighed, "--feature", "dose"))
    own = splitcredit.partial_dependence(booster, data[0], "dose", sample_weight=weights).to_frame()
    np.testing.assert_array_equal(curve["value"], own["value"])
    gains = read(run("importance", booster, "--method", "splits", "-p", "kind=total_cover"))
    own = splitcredit.splits(booster, kind="total_cover").values
    np.testing.assert_array_equal(gains["value"], np.sort(own)[::-1])


def test_an_audit_gets_the_rows_and_writes_its_page(rows, booster, tmp_path, monkeypatch):
    def stub(model, X, y, X_test, y_test, sample_weight, sample_weight_test):
        assert list(X) == ["dose", "age", "size"] and len(y) == 90 and len(X_test) == 90
        assert len(sample_weight) == len(sample_weight_test) == 90
        return SimpleNamespace(
            to_html=lambda path: Path(path).write_text("a page"), to_json=lambda: "[]"
        )

    monkeypatch.setattr(splitcredit, "audit", stub, raising=False)
    pd.read_csv(rows).assign(w=2).to_csv(rows, index=False)
    call = ("audit", booster, rows, "--target", "y", "--test", rows, "--weights", "w")
    for name, content in (("report.html", "a page"), ("report.json", "[]")):
        out = tmp_path / name
        assert run(*call, "--out", out).exit_code == 0 and out.read_text().strip() == content
    assert json.loads(run(*call, "--format", "json").stdout) == []


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ("explain MODEL none.csv", 1, "none.csv: No such file"),
        ("explain model.pkl ROWS", 1, "is a pickle.*skops.io.dump"),
        ("explain ROWS ROWS", 1, "is not a known model file"),
        ("explain MODEL ROWS --target outcome", 1, "--target: no column is called 'outcome'"),
        ("explain MODEL ROWS --method shaply", 1, "unknown method 'shaply'.*available are"),
        ("explain MODEL ROWS -p depth=3", 1, "has no parameter 'depth'"),
        ("explain MODEL ROWS --output 7", 1, "output=7 is not one of"),
        ("explain MODEL ROWS --out x.txt", 2, "the ending of x.txt is not in"),
        ("explain MODEL ROWS --format png", 2, "--format png needs a file"),
        ("explain MODEL ROWS --method tree_shap_interventional", 2, "--background FILE"),
        ("importance MODEL --method ufi", 2, "ufi needs rows: name a TABLE"),
        ("rank MODEL ROWS --scale high", 2, "--scale high: expected a number"),
        ("importance MODEL ROWS --target y --method sage -p threshold=x", 2, "expected float"),
        ("importance MODEL ROWS --target y --method mda -p scaled=no", 2, "expected bool"),
        ("explian MODEL ROWS", 2, "No such command"),
        ("explain MODEL", 2, "Missing argument 'TABLE'"),
    ],
)
def test_errors_are_one_line_and_leave_no_file(
    arguments, status, message, rows, booster, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("model.pkl").write_bytes(pickle.dumps([1]))
    paths = {"MODEL": booster, "ROWS": rows}
    before = set(tmp_path.iterdir())
    result = run(*(paths.get(word, word) for word in arguments.split()))
    assert result.exit_code == status and result.stdout == ""
    assert len(result.stderr.splitlines()) == 1 and re.search(message, result.stderr)
    assert set(tmp_path.iterdir()) == before


def test_a_run_that_fails_in_a_later_part_leaves_the_former_file(rows, booster, monkeypatch):
    """Half a file of CSV looks like a whole one."""
    monkeypatch.setattr(files, "PART", 40)
    out = rows.with_name("values.csv")
    out.write_text("former")
    rows.write_text(rows.read_text() + "many,2,3,0,a\n")
    result = run("explain", booster, rows, "--out", out)
    assert result.exit_code == 1 and out.read_text() == "former"
    assert not list(rows.parent.glob("*.part"))


def test_an_array_of_skops_that_claims_more_than_its_part_is_refused(data, tmp_path):
    """Red if memory is taken for a size that a damaged file names: 16 GiB of a file of 14 kB."""
    io = pytest.importorskip("skops.io")
    whole, path = tmp_path / "whole.skops", tmp_path / "model.skops"
    io.dump(RandomForestRegressor(2).fit(*data), whole)
    with zipfile.ZipFile(whole) as given, zipfile.ZipFile(path, "w") as changed:
        for name in given.namelist():
            content = given.read(name)
            if name.endswith(".npy"):
                content = re.sub(rb"\((\d+),\)( *)", rb"(\g<1>000000000,)", content, count=1)
            changed.writestr(name, content)
    with pytest.raises(ValueError, match=r"model.skops.* ends before the .* numbers"):
        files.model_of(str(path))


@pytest.mark.parametrize("command", ["explain", "importance --method tree_shap", "interactions"])
def test_rows_are_compared_with_the_model_itself(command, data, rows, tmp_path, monkeypatch):
    class Doubled(RandomForestRegressor):
        def predict(self, X):
            return 2 * super().predict(X)

    model = Doubled(3).fit(*data)
    monkeypatch.setattr(files, "model_of", lambda *_: model)
    (tmp_path / "model").write_text("")
    call = [*command.split(), tmp_path / "model", rows]
    result = run(*call)
    assert result.exit_code == 1 and "Doubled.predict gives" in result.stderr
    assert len(result.stderr.splitlines()) == 1 and "(--no-check)" in result.stderr
    assert run(*call, "--no-check").exit_code == 0


def test_types_of_skops_that_may_run_code_are_refused_by_name(data, rows, tmp_path):
    io = pytest.importorskip("skops.io")
    model = RandomForestRegressor(2).fit(*data)
    model.extra = Path
    io.dump(model, tmp_path / "model.skops")
    refused = run("explain", tmp_path / "model.skops", rows)
    assert refused.exit_code == 1 and "pathlib.Path" in refused.stderr
    assert "--trust TYPE" in refused.stderr
    taken = run("explain", tmp_path / "model.skops", rows, "--trust", "pathlib.Path")
    assert taken.exit_code == 0, taken.stderr


def test_parameters_have_the_types_of_every_signature():
    """A hint that cannot be read, or a number as text, ended in an error of the method."""
    for method in splitcredit.methods():
        for of in method.functions:
            assert _hints(method.function(of))
    assert _typed("loss", "none", typing.Literal["none", "1"]) == "none"
    assert _typed("scoring", "1", str | None) == "1"
    assert _typed("n", "3", int) == 3 and _typed("threshold", "1", float | None) == 1.0
    assert _typed("scaled", "True", bool) is True and _typed("n", "null", int | None) is None
    assert _typed("groups", '{"a": [0, 1]}', dict | None) == {"a": [0, 1]}
    assert _typed("output", "red", None) == "red"
