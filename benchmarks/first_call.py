"""What the first call of each method costs, with nothing compiled and with the code kept.

    python benchmarks/first_call.py --repeats 3 --write

Each call runs in a new process, first with an empty folder for machine code, then with the folder
that this process has filled. The time is processor time of all threads from the call to its return.
It includes the modules that the call imports, except numpy and numba, which have a line of their
own. The forests come from files, so scikit-learn is not loaded for them.

``--write`` puts the table into docs/first_call.md. The machine should do nothing else meanwhile.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from reproduction import marked
from splitcredit import to_forest

ROOT = Path(__file__).resolve().parents[1]
SRC, DOCS = ROOT / "src", ROOT / "docs"
# Every call, as the table shows it. `deep` is a random forest of two classes with 5 trees of depth
# 8, `shallow` one of depth 3, and `added` the sum of the shallow trees, as in boosting. X and y are
# 200 training rows of 10 features in single precision.
CALLS = (
    "deep.predict(X)",
    "splitcredit.saabas(deep, X)",
    "splitcredit.local_mdi(deep, X)",
    "splitcredit.mdi(deep)",
    "explain(deep, X[:3])",
    "explain(deep, X)",
    "explain(deep, np.tile(X, (2000, 1)))",
    "explain(shallow, X)",
    "splitcredit.tree_shap_interventional(deep, X, background=X[:50])",
    "interactions(deep, X)",
    "interactions(deep, X, background=X[:50])",
    "interactions(deep, X, order=3)",
    "rank(shallow, X[:3], scale=0.3)",
    'greedy_ranking(added, X[:3], scale=0.3, arithmetic="single")',
    "faithfulness(shallow, X[:3], range(10), scale=0.3)",
    "pg2_sampled(shallow, X[:3], [0, 1], counts=[100], output=1)",
    "splitcredit.oob_attributions(deep, X)",
    'splitcredit.oob_attributions(deep, X, attribution="saabas")',
    "splitcredit.ufi(deep, X, y)",
    "splitcredit.mdi_oob(deep, X, y)",
    "splitcredit.mda(deep, X, y)",
    "splitcredit.sage(deep, X, y, n_permutations=100)",
    "warm_up()",
)
# Programs of the processes, which print seconds of processor time.
IMPORTS = """
import os
def clock():
    return sum(os.times()[:2])
start = clock()
import {}
print(clock() - start)
"""
CALL = """
import logging, os, sys
import numpy as np
import numba
import splitcredit
from splitcredit import Forest, explain, faithfulness, importance, interactions, rank
from splitcredit.prediction_gap.greedy import greedy_ranking
from splitcredit.prediction_gap.sampling import pg2_sampled
def clock():
    return sum(os.times()[:2])
def read(name):
    with np.load(f"{folder}/{name}.npz", allow_pickle=False) as arrays:
        return Forest.from_arrays(dict(arrays))
logging.getLogger("splitcredit").setLevel(logging.ERROR)
folder = sys.argv[1]
deep, shallow, added = read("deep"), read("shallow"), read("added")
X, y = np.load(f"{folder}/X.npy"), np.load(f"{folder}/y.npy")
start = clock()
%s
print(clock() - start)
"""
WARM_UP = "from splitcredit.views.warm_up import warm_up; warm_up()"


def write_forests(folder) -> None:
    """Make the three forests, and save them with their training data."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 10)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(np.int64)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    deep, shallow = (
        to_forest(RandomForestClassifier(5, max_depth=depth, random_state=0).fit(X, y), X)
        for depth in (8, 3)
    )
    added = dataclasses.replace(shallow, aggregate="sum", strict=True)
    for name, forest in {"deep": deep, "shallow": shallow, "added": added}.items():
        np.savez(folder / f"{name}.npz", **forest.to_arrays())


def seconds(code, folder, cache) -> float:
    """Processor time that a new process prints, with machine code in a given folder."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(SRC)}
    command = [sys.executable, "-c", code, str(folder)]
    process = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return float(process.stdout)


def lines(folder, repeats):
    """Lines of the table, each as soon as it is measured; the median of some times is shown."""
    yield "| call | nothing compiled | code kept |\n|---|--:|--:|"
    for package in ("splitcredit", "numpy, numba"):
        times = [seconds(IMPORTS.format(package), folder, folder) for _ in range(repeats)]
        yield f"| `import {package}` | | {statistics.median(times):.2f} |"
    for call in CALLS:
        code = CALL % (WARM_UP if call == "warm_up()" else call)
        without_code, with_code = [], []
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as cache:
                without_code.append(seconds(code, folder, cache))
                with_code.append(seconds(code, folder, cache))
        medians = statistics.median(without_code), statistics.median(with_code)
        yield "| `{}` | {:.1f} | {:.2f} |".format(call, *medians)


def main(arguments=None) -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=1, help="the median of so many is taken")
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    options = parser.parse_args(arguments)
    table = []
    with tempfile.TemporaryDirectory() as folder:
        write_forests(Path(folder))
        for line in lines(folder, options.repeats):
            print(line, flush=True)
            table.append(line)
    if options.write:
        marked.write(DOCS / "first_call.md", "costs", "\n".join(table))


if __name__ == "__main__":
    main()
