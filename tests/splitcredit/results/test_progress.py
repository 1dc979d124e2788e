"""Long work says how long it takes, and an interrupt ends it."""

import subprocess
import sys
from itertools import count
from types import SimpleNamespace

import pytest
from sklearn.ensemble import RandomForestRegressor

import splitcredit
from forests import whole_numbers
from splitcredit.measures import sage
from splitcredit.results import progress_bar


@pytest.mark.parametrize(
    ("seconds", "done", "said"),
    [
        (3.0, (1,), "this takes about 24 seconds more: fewer rows take less"),
        (3.0, (1, 1001), "this takes about 2997 seconds more: fewer rows take less"),
        (1.0, (1,), None),
    ],
)
def test_long_work_says_once_how_long_it_will_take(seconds, done, said, caplog, monkeypatch):
    """Red if the first part counts, in which kernels may be compiled, or every part says it.

    An estimate takes the place of the total.
    """
    ticks = count()
    clock = SimpleNamespace(monotonic=lambda: seconds * next(ticks))
    monkeypatch.setattr(progress_bar, "time", clock)
    with progress_bar.bar(10, None, remedy="fewer rows take less") as tell:
        for _ in range(10):
            tell(*done)
    assert caplog.messages == ([said] if said else [])


@pytest.mark.parametrize("method", ["sage", "permutation", "mda"])
def test_the_bar_of_sampled_methods_moves_and_ends(method, capsys):
    """Red if a method has no bar, or its bar stands still until the end."""
    X, y = whole_numbers("values", 60, 4)
    model = RandomForestRegressor(5, max_depth=3, random_state=0).fit(X, y)
    more = {"n_permutations": 100} if method == "sage" else {}
    getattr(splitcredit, method)(model, X, y, progress=True, **more)
    total = {"sage": 100, "permutation": 21, "mda": 5}[method]
    assert f"{total}/{total}" in capsys.readouterr().err


def test_sage_forecasts_the_permutations_that_it_takes():
    """Red if the estimate forgets that errors fall with the root of their number."""
    X, y = whole_numbers("values", 60, 4)
    model = RandomForestRegressor(5, max_depth=3, random_state=0).fit(X, y)
    taken = splitcredit.sage(model, X, y, threshold=0.01)
    first = splitcredit.sage(model, X, y, n_permutations=sage.ROUND)
    expected = sage._needed(sage.ROUND, first.values, first.standard_error, 0.01)
    assert 0.5 * expected < taken.parameters["n_permutations"] < 2 * expected
    assert expected > 4 * sage.ROUND


INTERRUPTED = """
import os, signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where jobs run in the background
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
import splitcredit
X, y = load_iris(return_X_y=True)
forest = RandomForestClassifier(50, random_state=0).fit(X, y)
boosted = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y)
more = dict(background=X, model_output="probability")
calls = {
    "sage": lambda n: splitcredit.sage(forest, X, y, n_permutations=n**2),
    "permutation": lambda n: splitcredit.permutation(forest, X, y, n_repeats=n),
    "explain": lambda n: splitcredit.tree_shap_interventional(
        boosted, X, n_permutations=n, **more
    ),
}
for name, call in calls.items():
    call(4)  # compiles
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        call(10**5)
    except KeyboardInterrupt:
        print(name)
"""


def test_an_interrupt_ends_every_sampled_method():
    """Each call would take minutes: red if work goes on after an interrupt."""
    command = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    assert done.stdout.split() == ["sage", "permutation", "explain"]
