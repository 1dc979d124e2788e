"""Damaged model files: what the readers make of them, and what the libraries that wrote them do.

    python tests/damaged.py --number 50000 --compared 400 [FORMAT ...]

damages models of every format, each file in one way, and prints counts of files that are taken and
refused with the name of the file; everything else is a fault. Of those that are taken some are
compared with the predictions of the library, which runs in a process of its own, as it may crash.
"""

import argparse
import importlib.util
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import tracemalloc
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import lightgbm
import numpy as np
import skops.io
import xgboost
from sklearn.tree import DecisionTreeClassifier

from forests import STORED
from splitcredit import to_forest
from splitcredit.views import command_files

# Memory that reading a file may take: so many bytes, so many times the file, and for each feature.
MEMORY = 1 << 20, 100, 200
# Seconds of the processor.
SECONDS = 1.0
# Seconds in which a library reads a file; one that never ends is killed.
PATIENCE = 3
# What is no fault.
FINE = ("taken", "refused", "alike", "not read by the library, and damaged where no tree is")
# Fields in XGBoost's JSON, in which it reads 0.0 and refuses 0.
DECIMALS = ("split_conditions", "base_weights", "loss_changes", "sum_hessian", "weight_drop")
# Format -> ending of its files, and the library that predicts with them; a Forest has none.
FORMATS = {
    "xgboost-json": (".json", "xgboost"),
    "xgboost-ubj": (".ubj", "xgboost"),
    "lightgbm": (".txt", "lightgbm"),
    "catboost": (".json", "catboost"),
    "skops": (".skops", "skops"),
    "npz": (".npz", None),
}
ODD = [0, -1, 1, 2, 7, 1.7, 0.5, 2**31, 2**63, 10**30, 1e300, "nan", "Infinity", "", "x", None]
ODD += [True, [], {}, [1], [[0.5]], {"a": 1}]


def originals(kind) -> list[bytes]:
    """Models of a format, as their library has saved them."""
    if kind in ("skops", "npz"):
        return [_of_sklearn(kind)]
    release = {"lightgbm": "lightgbm-4.7.0", "catboost": "catboost-1.2.10"}
    key = {"lightgbm": "text", "catboost": "json"}.get(kind, kind.rpartition("-")[2])
    begin = f"former/{release.get(kind, 'xgboost-2.0.3')}"
    files = [stored.files for name, stored in STORED.items() if name.startswith(begin)]
    files = [of_model[key] for of_model in files if key in of_model]
    if kind in ("xgboost-json", "xgboost-ubj"):
        files += [_of_installed_xgboost(categories, key) for categories in (False, True)]
    return files


def _of_installed_xgboost(categories, key):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (200, 3)), rng.integers(0, 3, 200)
    kinds = ["q", "q", "c" if categories else "q"]
    matrix = xgboost.DMatrix(X, y, feature_types=kinds, enable_categorical=True)
    options = {"max_depth": 2, "nthread": 1, "max_cat_to_onehot": 1}
    options |= {} if categories else {"objective": "multi:softprob", "num_class": 3}
    return bytes(xgboost.train(options, matrix, 2).save_raw(key))


def _of_sklearn(kind):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), rng.integers(0, 3, 100)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    if kind == "skops":
        return skops.io.dumps(model)
    file = io.BytesIO()
    np.savez(file, **to_forest(model).to_arrays())
    return file.getvalue()


def library_is_here(kind) -> bool:
    """Whether there is a library that predicts with files of a format, and it is installed."""
    library = FORMATS[kind][1]
    return library is not None and importlib.util.find_spec(library) is not None


def damaged(kind, raw, rng) -> bytes:
    """A file with one damage; of documents the half is damaged as a document, and not as bytes."""
    if rng.random() < 0.5:
        if kind in ("skops", "npz"):
            return _repacked(raw, rng)
        if raw.startswith(b'{"'):
            return json.dumps(_changed(json.loads(raw), rng)).encode()
    return _cut_up(raw, rng)


def _cut_up(raw, rng):
    at, length = int(rng.integers(len(raw))), int(rng.integers(1, 60))
    before, part, after = raw[:at], raw[at : at + length], raw[at + length :]
    way = rng.integers(7)
    if way == 0:
        return before
    if way == 1:
        return before + after
    if way == 2:
        return before + part * int(rng.integers(2, 4)) + after
    if way == 3:  # a length or a number in a binary file
        sizes = [m.start() + 1 for m in re.finditer(b"L", raw)] or [at]
        at = int(rng.choice([at, rng.choice(sizes)]))
        number = int(rng.choice([0, 1, 2, 5, 2**20, 2**31, 2**62, -1, -20]))
        order = str(rng.choice(["big", "little"]))
        coded = (number % 2**64).to_bytes(8, order)
        coded = coded if rng.random() < 0.7 else coded[-4:] if order == "big" else coded[:4]
        return raw[:at] + coded + raw[at + len(coded) :]
    if way == 4:
        return before + rng.bytes(len(part)) + after
    numbers = list(re.finditer(rb"-?\d+(\.\d+)?(e-?\d+)?", raw))
    if way == 5 and numbers:
        found = numbers[rng.integers(len(numbers))]
        odd = str(ODD[rng.integers(15)]).encode()
        return raw[: found.start()] + odd + raw[found.end() :]
    flipped = bytearray(raw)
    flipped[at] ^= 1 << int(rng.integers(8))
    return bytes(flipped)


def _changed(content, rng):
    """A document with one value dropped, doubled, put deeper, or replaced."""
    holder, key = _place(content, rng)
    way, value = rng.integers(6), holder[key]
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(holder, list):
        holder.insert(key, value)
    elif way == 2:
        for _ in range(int(rng.choice([1, 2, 300]))):
            value = [value] if rng.random() < 0.5 else {"a": value}
        holder[key] = value
    elif way == 3:
        other_holder, other = _place(content, rng)
        holder[key] = json.loads(json.dumps(other_holder[other]))
    elif way == 4 and isinstance(value, str) and re.fullmatch(r"\[?[-\d.E]+\]?", value):
        holder[key] = str(ODD[rng.integers(15)])
    else:
        holder[key] = ODD[rng.integers(len(ODD))]
    return content


def _place(content, rng):
    """A holder in a document, and one of its keys."""
    while True:
        keys = list(content) if isinstance(content, dict) else range(len(content))
        key = keys[rng.integers(len(keys))]
        inside = content[key]
        if not isinstance(inside, (dict, list)) or not inside or rng.random() < 0.15:
            return content, key
        content = inside


def _repacked(raw, rng):
    """An archive with one member damaged, or left out."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = str(rng.choice(list(members)))
    if name.endswith(".json") and rng.random() < 0.7:
        members[name] = json.dumps(_changed(json.loads(members[name]), rng)).encode()
    else:
        members[name] = _cut_up(members[name], rng)
    if rng.random() < 0.1:
        del members[name]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def outcome(path):
    """What reading a file ends in, in words, and the forest if it is taken; tracemalloc traces.

    "taken", "refused", or a fault.
    """
    forest = model = None
    before, start = tracemalloc.get_traced_memory()[0], time.process_time()
    if tracemalloc.is_tracing():
        tracemalloc.reset_peak()
    try:
        model = command_files.model_of(str(path))
        forest = to_forest(model)
        words = "taken"
    except (TypeError, ValueError) as error:
        lines = str(error).splitlines()
        # What skops has made of a file is a model of scikit-learn, which knows no file.
        is_named = path.name in str(error) or hasattr(model, "fit")
        words = "refused" if len(lines) == 1 and is_named else f"no name: {error!r}"
    except Exception as error:
        words = f"from inside: {error!r}"
    seconds = time.process_time() - start
    memory = tracemalloc.get_traced_memory()[1] - before
    fixed, times, a_feature = MEMORY
    n_features = 0 if forest is None else forest.n_features
    if memory > fixed + times * path.stat().st_size + a_feature * n_features:
        words = f"{memory >> 10} KiB for a file of {path.stat().st_size} bytes, {words}"
    return words, forest, seconds, memory >> 10


def table(n_features):
    """Rows with a NaN, whole numbers in every third column."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(16, 6)).round(1) * 3
    X[:, 2::3] = rng.integers(0, 5, (16, 2))
    X[3, 0] = X[5, 1] = np.nan
    return np.resize(X.T, (n_features, 16)).T.copy()


def compared(kind, taken, whole) -> Counter:
    """Counts of what the library does with files that are taken, `path: Forest`.

    Its predictions are "alike", or it does "not" read the file; a reader of trees may take a file
    that is damaged elsewhere if it gets the trees of one of the `whole` forests. All else is a
    fault.
    """
    lines = "".join(f"{path}\t{forest.n_features}\n" for path, forest in taken.items())
    child = subprocess.run(
        [sys.executable, __file__, "--predict", kind], input=lines.encode(), capture_output=True
    )
    said = [line for line in child.stdout.splitlines() if line.startswith(b"answer ")]
    answers = [json.loads(line[len("answer ") :]) for line in said]
    counts, undamaged = Counter(), [_predictions(forest) for forest in whole]
    for (path, forest), answer in zip(taken.items(), answers, strict=True):
        words = _difference(kind, forest, answer)
        if isinstance(answer, str):
            own = _predictions(forest)
            if any(np.array_equal(own, theirs) for theirs in undamaged):
                words = FINE[-1]
        counts[words if words in FINE else f"{words}: {path.name}"] += 1
    return counts


def _predictions(forest):
    return forest.predict(table(forest.n_features))


def _difference(kind, forest, answer):
    if isinstance(answer, str):
        return f"the library refuses ({answer})"
    theirs, ours = np.array(answer), _predictions(forest)
    if theirs.size != ours.size:
        return f"{theirs.size // len(ours)} outputs, here {ours.shape[1]}"
    theirs = theirs.reshape(ours.shape)
    rounding = 1e-6 if kind.startswith("xgboost") else 1e-12  # XGBoost adds up in float32
    size = np.abs(forest.value).max() * forest.n_trees + np.abs(forest.base).max()
    error = np.abs(ours - theirs).max()
    return "alike" if error <= rounding * size else f"off by {error:.3g}"


def predict(kind):
    """Answer each line of standard input, a path and a number of features, by predictions."""
    for line in sys.stdin:
        path, n_features = line.rstrip("\n").split("\t")
        sys.stdout.flush()
        child = os.fork()  # as the library may crash, or never end
        if not child:
            signal.alarm(PATIENCE)
            try:
                answer = _of_library(kind, path, table(int(n_features))).tolist()
            except Exception as error:
                answer = f"{type(error).__name__}: {' '.join(str(error).split())[:150]}"
            print("\nanswer", json.dumps(answer), flush=True)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            print("\nanswer", json.dumps("it crashed, or did not end"))


def _of_library(kind, path, X):
    if kind.startswith("xgboost"):
        try:
            booster = xgboost.Booster(model_file=path)
        except xgboost.core.XGBoostError as error:
            if "from Integer to Number" not in str(error):
                raise
            booster = xgboost.Booster(model_file=_with_decimals(path))
        kinds = {"feature_types": booster.feature_types, "feature_names": booster.feature_names}
        matrix = xgboost.DMatrix(X, **kinds, enable_categorical=True)
        return booster.predict(matrix, output_margin=True, validate_features=False)
    if kind == "lightgbm":
        booster = lightgbm.Booster(model_file=path)
        scores = booster.predict(X, raw_score=True)
        averaged = "\naverage_output" in Path(path).read_text()
        return scores / (booster.num_trees() / booster.num_model_per_iteration() if averaged else 1)
    if kind == "catboost":
        import catboost

        model = catboost.CatBoost().load_model(path, format="json")
        return model.predict(X, prediction_type="RawFormulaVal")
    return command_files.model_of(path).predict_proba(X)


def _with_decimals(path):
    """The same model with 0.0 in the place of 0."""

    def converted(part):
        return part | {key: list(map(float, part[key])) for key in DECIMALS if key in part}

    return bytearray(json.dumps(json.loads(Path(path).read_text(), object_hook=converted)).encode())


def run(kind, number, n_compared, folder):
    """Counts of outcomes and of comparisons, the most seconds, and the most KiB of memory."""
    files, counts, taken, most, whole = originals(kind), Counter(), {}, (0.0, 0), []
    ending = FORMATS[kind][0]
    for k, file in enumerate(files):  # which also loads and compiles what the first needs
        path = Path(folder) / f"whole-{k}{ending}"
        path.write_bytes(file)
        whole.append(outcome(path)[1])
    tracemalloc.start()
    for k in range(number):
        path = Path(folder) / f"{kind}-{k}{ending}"
        rng = np.random.default_rng(k)  # the damaged file of a number is always the same
        path.write_bytes(damaged(kind, files[rng.integers(len(files))], rng))
        words, forest, seconds, memory = outcome(path)
        counts[words if words in FINE else f"{words}: file {k}"] += 1
        if seconds > SECONDS:
            print(f"{kind}: file {k} takes {seconds:.1f} s")
        most = max(most[0], seconds), max(most[1], memory)
        if words == "taken" and len(taken) < n_compared and forest.n_features < 1000:
            taken[path] = forest
        else:
            path.unlink()
    tracemalloc.stop()
    return counts, Counter() if not n_compared else compared(kind, taken, whole), *most


def main():
    """Print the counts of each format."""
    parser = argparse.ArgumentParser()
    parser.add_argument("formats", nargs="*", default=list(FORMATS))
    parser.add_argument("--number", type=int, default=1000)
    parser.add_argument("--compared", type=int, default=400)
    parser.add_argument("--predict")
    given = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # of scikit-learn, about another version's models
    if given.predict:
        return predict(given.predict)
    warnings.simplefilter("error", RuntimeWarning)
    for kind in given.formats:
        start, is_here = time.perf_counter(), library_is_here(kind)
        with tempfile.TemporaryDirectory() as folder:
            counts, alike, seconds, memory = run(
                kind, given.number, given.compared if is_here else 0, folder
            )
        print(f"{kind}: {given.number} files in {time.perf_counter() - start:.0f} s")
        print(f"  at most {seconds:.2f} s and {memory} KiB of memory")
        if not is_here:
            print("  compared with no library: none is installed that reads it")
        for title, counter in (("read", counts), ("library", alike)):
            for words, n in counter.most_common():
                print(f"  {title}: {n} {words}")


if __name__ == "__main__":
    main()
