"""What is compiled when, what is kept, and what is said about it."""

import importlib
import logging
import os
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from pkgutil import walk_packages

import numpy as np
import pytest

from reproduction import cache_folder
from splitcredit import kernels
from splitcredit.kernels import compiled
from splitcredit.kernels.compiled import in_portions, kernel, threads
from splitcredit.views import warm_up

PREFIX = "splitcredit.kernels."
SRC = Path(__file__).resolve().parents[3] / "src"
PREDICT = """
import logging
import numpy as np
from splitcredit.kernels import compiled
from splitcredit.models.forest import Forest
from splitcredit.kernels.walks import predict
forest = Forest(feature=[0, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
                value=[[0.5], [1.5], [0.25]], cover=[2, 1, 1], tree_offsets=[0, 3],
                feature_names=("x",), output_names=("y",))
compiled._seconds_left[0] = 1e-9
said = []
logging.getLogger("splitcredit").addFilter(said.append)
print(forest.predict(np.array([[0.0], [1.0]])).tolist())
print(sum(predict._predict.dispatcher.stats.cache_hits.values()))
print(len(said))
"""


def printed(code, **environment):
    """What another process prints, by lines."""
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | environment
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines()


def test_a_second_process_loads_what_the_first_has_compiled(tmp_path):
    """Red also if the notice that compiling takes long comes while code is loaded."""
    first, second = (printed(PREDICT, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert first == ["[[1.5], [0.25]]", "0", "1"] and second == ["[[1.5], [0.25]]", "1", "0"]


def test_a_warm_up_compiles_every_kernel():
    """Red if a kernel is called in no way, or if one that is tested only is left in the library."""
    for part in warm_up.CALLS:
        warm_up.compile_part(part)
    modules = [importlib.import_module(m.name) for m in walk_packages(kernels.__path__, PREFIX)]
    of_all = {(m.__name__, name): k for m in modules for name, k in vars(m).items()}
    of_all = {name: k for name, k in of_all.items() if isinstance(k, compiled._Kernel)}
    assert len(of_all) > 50
    assert not [name for name, k in of_all.items() if not k.is_compiled]


def test_without_a_folder_to_write_to_kernels_work_all_the_same(tmp_path):
    """As in a container with files of another user and no home, where numba refuses to cache."""
    library = shutil.copytree(SRC / "splitcredit", tmp_path / "splitcredit")
    for place in {tmp_path, *(path.parent for path in library.rglob("*.py"))}:
        shutil.rmtree(place / "__pycache__", ignore_errors=True)
        (place / "__pycache__").write_text("no folder can be made here")
    nowhere = str(tmp_path / "__pycache__")
    places = {"NUMBA_CACHE_DIR": nowhere, "XDG_CACHE_HOME": nowhere, "HOME": nowhere}
    output = printed(PREDICT, PYTHONPATH=str(tmp_path), **places)
    assert output[:2] == ["[[1.5], [0.25]]", "0"]


def test_an_edit_of_any_kernel_takes_another_folder_of_machine_code(tmp_path, monkeypatch):
    """Red if a job may load machine code of an earlier state of a function in another file."""
    package = shutil.copytree(SRC / "splitcredit", tmp_path / "splitcredit")
    spec = type("Spec", (), {"origin": str(package / "__init__.py")})
    monkeypatch.setattr(cache_folder, "find_spec", lambda name: spec)
    folders = []
    for text in ("", "", "# an edit"):
        with (package / "kernels" / "nodes.py").open("a") as file:
            file.write(text)
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "base"))
        for _ in range(2):  # a job that a job starts
            cache_folder.choose()
        folders.append(Path(os.environ["NUMBA_CACHE_DIR"]))
    assert folders[0] == folders[1] != folders[2]
    assert {folder.parent for folder in folders} == {tmp_path / "base"}
    assert {folder.stat().st_mode & 0o777 for folder in folders} == {0o700}


@pytest.mark.parametrize("whose", ["folder", "parent", "another user's", "file"])
def test_a_folder_of_compiled_code_that_is_not_the_users_alone_is_refused(
    whose, tmp_path, monkeypatch
):
    """Red if code is run that somebody else may have put there."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "base"))
    cache_folder.choose()
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    message = r"others can write to .*: chmod go-w it, or set NUMBA_"
    if whose == "another user's":
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        message = "belongs to another user, whose code would be run"
    elif whose == "file":
        monkeypatch.setenv("NUMBA_CACHE_DIR", __file__)
        message = r"test_first_call.*: set NUMBA_CACHE_DIR to a folder of your own"
    else:
        (folder if whose == "folder" else folder.parent).chmod(0o777)
    with pytest.raises(SystemExit, match=message):
        cache_folder.choose()


def test_a_relative_cache_home_is_ignored(tmp_path, monkeypatch):
    """As its specification says; else the folder lies wherever a job was started."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    monkeypatch.setenv("HOME", str(tmp_path))
    cache_folder.choose()
    assert Path(os.environ["NUMBA_CACHE_DIR"]).is_relative_to(tmp_path / ".cache")


def test_the_error_with_NUMBA_DISABLE_JIT_set_says_to_unset_it():
    with pytest.raises(AssertionError, match=r"NUMBA_DISABLE_JIT is set.* unset it"):
        printed("import splitcredit.kernels.compiled", NUMBA_DISABLE_JIT="1")


def test_importing_the_package_loads_no_numpy():
    code = "import sys, splitcredit; print('numpy' in sys.modules or 'numba' in sys.modules)"
    assert printed(code) == ["False"]


@pytest.mark.parametrize(("seconds", "n_records"), [([8, 8, 8], 1), ([0.7], 0), ([0.4] * 9, 1)])
def test_what_takes_long_to_compile_says_so_once(seconds, n_records, monkeypatch, caplog):
    monkeypatch.setattr(compiled, "_seconds_left", [compiled.LONG])
    caplog.set_level(logging.WARNING, logger="splitcredit")
    for of_kernel in seconds:
        compiled._count(of_kernel)
    assert len(caplog.records) == n_records
    assert all("splitcredit warm-up" in record.getMessage() for record in caplog.records)


def test_a_parallel_kernel_begins_with_the_pieces_that_it_is_to_do():
    @kernel(parallel=True)
    def squares(first, last, out):
        for i in range(first, last):
            out[i] = i * i

    out = np.zeros(10)
    squares(10, out)
    assert out.tolist() == [i * i for i in range(10)]


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("n_pieces", [0, 1, 2, 7, 100])
def test_portions_are_all_pieces_once(n_pieces, n_threads):
    """Red also if the numbers that a progress bar gets do not add up to all pieces."""
    pieces, reported = [], []

    def portion(first, last):
        pieces.extend(range(first, last))

    with threads(n_threads):
        in_portions(portion, n_pieces, (), reported.append)
    assert sorted(pieces) == list(range(n_pieces)) and sum(reported) == n_pieces


def test_an_error_in_a_thread_reaches_the_caller():
    def fails(first, last):
        if last == 100:
            raise ZeroDivisionError("of a piece")

    with threads(2), pytest.raises(ZeroDivisionError, match="of a piece"):
        in_portions(fails, 100, ())


def test_after_an_interrupt_no_thread_begins_another_portion():
    """The other threads went on until all the work was done."""
    caller, begun = threading.get_ident(), []

    def waits_for_the_others():
        frame = sys._current_frames()[caller]
        while frame is not None and frame.f_code is not Future.result.__code__:
            frame = frame.f_back
        return frame is not None

    def portion(first, last):
        if threading.get_ident() == caller:
            raise KeyboardInterrupt
        begun.append(first)
        while not waits_for_the_others():
            time.sleep(0.001)

    with threads(2), pytest.raises(KeyboardInterrupt):
        in_portions(portion, 100, ())
    assert len(begun) <= 1


FORK = """
import os
from splitcredit.kernels.compiled import in_portions, threads
def use():
    done = []
    with threads(2):
        in_portions(lambda first, last: done.extend(range(first, last)), 50, ())
    return sorted(done) == list(range(50))
assert use()
child = os.fork()
if child == 0:
    os._exit(0 if use() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="This system has no os.fork.")
def test_kernels_run_in_a_forked_process():
    assert printed(FORK) == ["0"]
