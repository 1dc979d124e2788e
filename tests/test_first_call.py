"""What is compiled when, what is kept, and what is said about it."""

import gc
import importlib.util
import inspect
import logging
import os
import pkgutil
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.errors import TypingError
from numba.core.types.functions import BaseFunction
from numba.core.typing.templates import _OverloadFunctionTemplate as Overloads

import splitcredit.kernels
from splitcredit.kernels import inner, machine_code, notice
from splitcredit.kernels.closures import digest_of
from splitcredit.kernels.compiled import cache_directory, kernel, threads
from splitcredit.kernels.portions import in_portions

MODULE = '''
"""Kernels of a test."""
from typing import NamedTuple

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from splitcredit.kernels.compiled import kernel

FACTOR = 2.0
RECORD = np.dtype([("a", "f8"), ("b", "f8")])


class Pair(NamedTuple):
    a: float
    b: float


@kernel(inner=True)
def scaled(x):
    """Scale."""
    # Why it is scaled.
    return FACTOR * x


@kernel()
def total(x):
    """Sum of scaled numbers."""
    out = 0.0
    for i in range(len(x)):
        out += scaled(x[i])
    return out


@kernel()
def difference(pair):
    return pair.a - pair.b


def constant(context):
    return context.get_constant(types.float64, 1.0)


@intrinsic
def written(typing):
    def lowered(context, builder, signature, arguments):
        return constant(context)

    return types.float64(), lowered


@kernel()
def one():
    return np.zeros(1, RECORD)[0].a + written()


@kernel()
def twice(n):
    return scaled(1) + scaled(n)


@kernel(parallel=True)
def fill(first, last, value, out):
    for i in range(first, last):
        out[i] = value


@kernel()
def largest(n):
    out = np.full((n, n), 2.0)
    return out[0].max() + np.zeros(n).sum()
'''
COUNT = iter(range(10**9))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache of machine code of its own."""
    monkeypatch.setattr(machine_code, "cache_directory", lambda: tmp_path / "code")
    return tmp_path / "code"


@pytest.fixture
def load(tmp_path, monkeypatch):
    """The module with some texts replaced, read from a new file."""

    def loaded(*replacements):
        text = MODULE
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / f"kernels_{next(COUNT)}.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location("kernels_of_a_test", path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "kernels_of_a_test", module)
        spec.loader.exec_module(module)
        return module

    return loaded


def digests(module):
    return {name: digest_of(getattr(module, name)) for name in ("total", "difference", "one")}


@pytest.mark.parametrize(
    "replacement",
    [
        ("    # Why it is scaled.\n", ""),
        ("# Why", "# This is why"),
        ('"""Scale."""', '"""Multiply by a constant."""'),
        ("FACTOR = 2.0", "\n\n\nFACTOR = 2.0"),
        ("return FACTOR * x", "return (\n        FACTOR * x\n    )"),
    ],
)
def test_comments_docstrings_and_places_are_no_part_of_a_digest(load, replacement):
    assert digests(load(replacement)) == digests(load())


@pytest.mark.parametrize(
    ("replacement", "changed"),
    [
        (("FACTOR * x", "x * FACTOR + 1.0"), {"total"}),
        (("FACTOR = 2.0", "FACTOR = 3.0"), {"total"}),
        (("inner=True", "inline=True"), {"total"}),
        (("out = 0.0", "out = 1.0"), {"total"}),
        (("pair.a - pair.b", "pair.b - pair.a"), {"difference"}),
        (('("a", "f8"), ("b", "f8")', '("b", "f8"), ("a", "f8")'), {"one"}),
        (("types.float64, 1.0", "types.float64, 3.0"), {"one"}),
    ],
)
def test_an_edit_changes_the_digests_of_those_who_use_it_and_no_others(load, replacement, changed):
    before, after = digests(load()), digests(load(replacement))
    assert {name for name in before if before[name] != after[name]} == changed


@pytest.mark.parametrize("module", ["compiled", "inner", "references"])
def test_code_of_another_compiler_is_not_loaded(module, tmp_path):
    """Red if machine code outlives a change of what made it, which may be why it is quicker."""
    for path in Path(machine_code.__file__).parent.glob("*.py"):
        shutil.copy(path, tmp_path)
    before = machine_code._compilers(tmp_path)
    with open(tmp_path / f"{module}.py", "a") as file:
        file.write("# a change\n")
    assert machine_code._compilers(tmp_path) != before
    assert before == machine_code._compilers(Path(machine_code.__file__).parent)


def test_fields_in_another_order_are_another_file(load):
    files = []
    for module in (load(), load(("    a: float\n    b: float\n", "    b: float\n    a: float\n"))):
        argument = numba.typeof(module.Pair(1.0, 2.0))
        files.append(machine_code.MachineCode(module.difference).path((argument,)).name)
    assert files[0] != files[1]


def test_a_global_that_no_digest_can_hold_is_an_error(load):
    module = load(("FACTOR = 2.0", "FACTOR = object()"))
    with pytest.raises(TypeError, match="reads FACTOR, a object"):
        digest_of(module.total)


def every_kernel():
    for module_info in pkgutil.walk_packages(splitcredit.kernels.__path__, "splitcredit.kernels."):
        module = import_module(module_info.name)
        for name, value in vars(module).items():
            function = getattr(value, "py_func", None)
            if function is not None and function.__module__ == module_info.name:
                yield f"{module_info.name}.{name}", value


def test_every_kernel_has_a_digest_of_its_own():
    of_name = {name: digest_of(value) for name, value in every_kernel()}
    assert len(of_name) > 60
    assert len(set(of_name.values())) == len(of_name)


def test_a_second_process_loads_what_the_first_has_compiled(load, folder):
    x = np.arange(5.0)
    cold, warm = load().total, load(("# Why", "# An edited comment, why")).total
    assert cold(x) == 20.0 and not cold.stats.cache_hits
    assert warm(x) == 20.0 and warm.stats.cache_hits and not warm.stats.cache_misses
    edited = load(("FACTOR * x", "FACTOR * x * 10")).total
    assert edited(x) == 200.0 and not edited.stats.cache_hits
    assert len(list(folder.iterdir())) == 2


def test_a_damaged_file_is_compiled_anew(load, folder):
    x = np.arange(5.0)
    load().total(x)
    (file,) = folder.iterdir()
    content = file.read_bytes()
    for damaged in (content[:-100], b"", content[:200] + b"?" + content[201:]):
        file.write_bytes(damaged)
        recompiled, from_file = load().total, load().total
        assert recompiled(x) == 20.0 and not recompiled.stats.cache_hits
        assert from_file(x) == 20.0 and from_file.stats.cache_hits


def test_a_kernel_is_ready_if_it_is_compiled_in_memory_or_in_a_file(load, folder):
    first, second, array = load().fill, load().fill, np.zeros(2)
    assert not first.is_ready(1.0, array)
    first(2, 1.0, array)
    assert first.is_ready(1.0, array)
    assert not second.is_ready(1.0, array.astype(np.float32))
    assert second.is_ready(1.0, array) and not second.dispatcher.overloads
    for file in folder.iterdir():
        file.unlink()
    assert first.is_ready(1.0, array) and not second.is_ready(1.0, array)


def test_whether_a_compiled_kernel_is_ready_takes_no_look_at_its_arguments(load, folder):
    """To find out their types takes a third of the time of a small model."""
    fill = load().fill
    fill(2, 1.0, np.zeros(2))
    assert fill.is_ready(object())


def test_without_a_folder_to_write_to_a_kernel_works_and_the_remedy_is_named(
    load, tmp_path, monkeypatch
):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setattr(machine_code, "cache_directory", lambda: tmp_path / "file" / "code")
    machine_code._warn_once.cache_clear()
    with pytest.warns(UserWarning, match="set NUMBA_CACHE_DIR to a folder that can be written"):
        assert load().total(np.arange(5.0)) == 20.0
    machine_code._warn_once.cache_clear()


@pytest.mark.filterwarnings("error")
def test_a_file_that_cannot_be_written_whole_is_removed_also_where_warnings_are_errors(
    load, folder, monkeypatch
):
    def fails(source, target):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fails)
    machine_code._warn_once.cache_clear()
    with pytest.raises(UserWarning, match="no space left"):
        load().total(np.arange(5.0))
    machine_code._warn_once.cache_clear()
    assert not list(folder.iterdir())


def test_without_a_home_folder_no_code_is_kept_in_the_current_folder(load, tmp_path, monkeypatch):
    """As for a user of a container whom the list of users lacks: ``~`` stands for nothing then."""
    (tmp_path / "current").mkdir()
    monkeypatch.chdir(tmp_path / "current")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.setattr(machine_code, "cache_directory", cache(cache_directory.__wrapped__))
    machine_code._warn_once.cache_clear()
    with pytest.warns(UserWarning, match="set NUMBA_CACHE_DIR to a folder that can be written"):
        assert load().total(np.arange(5.0)) == 20.0
    machine_code._warn_once.cache_clear()
    assert not list(Path().iterdir())


def test_the_error_with_NUMBA_DISABLE_JIT_set_says_to_unset_it():
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    code = "import splitcredit.kernels.compiled"
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    error = run.stderr.splitlines()[-1]
    assert error.startswith("RuntimeError: NUMBA_DISABLE_JIT is set") and "unset it" in error


def test_python_can_call_an_inner_function(load, folder):
    assert load().scaled(1.5) == 3.0
    assert len(list(folder.iterdir())) == 1


def test_a_literal_number_is_no_type_of_its_own(load, folder):
    module = load()
    assert module.twice(3) == 8.0
    assert len(module.scaled.dispatcher.overloads) == 1


def test_only_the_kernel_becomes_machine_code_and_not_what_it_uses_of_numba(
    load, folder, monkeypatch
):
    library_names, original = [], JITCodeLibrary._finalize_specific
    monkeypatch.setattr(
        JITCodeLibrary,
        "_finalize_specific",
        lambda library: library_names.append(library.name) or original(library),
    )
    assert load().largest(3) == 2.0
    assert library_names[-1] == "largest"
    # Numba's functions have names such as "impl_np_full.<locals>.full".
    assert not any("<locals>" in name for name in library_names)


def test_loops_use_the_widest_vectors_of_the_processor(load, folder):
    """LLVM by itself would take vectors of half the width on processors of Intel."""
    module = load()
    module.fill(1, 1.0, np.zeros(100))
    (assembly,) = module.fill.dispatcher.inspect_asm().values()
    features = module.fill.dispatcher.targetctx.codegen()._tm_features.split(",")
    assert ("zmm" in assembly) == (inner.WITH_WIDE_VECTORS in features)


def test_numba_looks_for_the_signature_of_an_operation_on_numbers_once(load, folder, monkeypatch):
    looked_for, call_type = [], inner._CALL_TYPE

    def noted(function, context, args, kws):
        if args and all(isinstance(kind, types.Number) for kind in args):
            looked_for.append((function, tuple(args)))
        return call_type(function, context, args, kws)

    monkeypatch.setattr(inner, "_CALL_TYPE", noted)
    # What is put back after a kernel is compiled, and after this test.
    monkeypatch.setattr(BaseFunction, "get_call_type", noted)
    monkeypatch.setattr(inner, "_SIGNATURES", {})
    replacement = ("return FACTOR * x", "return FACTOR * x + FACTOR * x + x * FACTOR")
    assert load(replacement).total(np.ones(2)) == 12.0
    assert looked_for and len(looked_for) == len(set(looked_for))


def test_compiling_leaves_numba_and_the_garbage_collector_as_they_were(load, folder):
    def state():
        steps = Overloads._get_impl, Overloads._get_jit_decorator, BaseFunction.get_call_type
        return gc.isenabled(), steps

    before = state()
    assert before[0]
    module = load(("out[0].max()", "out.no_such_attribute"))
    with pytest.raises(TypingError, match="no_such_attribute"):
        module.largest(3)
    assert state() == before
    # A function of another library gets its own copies of what the kernel uses, with their errors.
    assert load().largest(3) == 2.0
    largest = numba.njit(load().largest.py_func)
    assert largest(3) == 2.0
    with pytest.raises(ValueError, match="negative dimensions"):
        largest(-1)


WARM = """
import sys
import numpy as np
from splitcredit.forest import Forest
forest = Forest(feature=[0, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
                value=[[0.5], [1.5], [0.25]], cover=[2, 1, 1], tree_offsets=[0, 3],
                feature_names=("x",), output_names=("y",))
print(forest.predict(np.array([[0.0], [1.0]])).tobytes().hex(), "numba.np.linalg" in sys.modules)
"""


def test_loading_machine_code_does_not_load_the_compiler_and_gives_the_same_bytes(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    cold, warm = (printed(WARM).split() for _ in range(2))
    assert cold == [warm[0], "True"]
    assert warm[1] == "False"


def test_importing_the_package_loads_no_numpy():
    code = "import sys, splitcredit; print('numpy' in sys.modules or 'numba' in sys.modules)"
    assert printed(code).strip() == "False"


def printed(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


def event_of(module):
    function = SimpleNamespace(__module__=module)
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})


class Clock:
    """A clock that is set by hand, and timers that go off when it is set past their time."""

    def __init__(self):
        self.seconds, self.timers = 0.0, []

    def monotonic(self):
        return self.seconds

    def timer(self, delay, function):
        timer = SimpleNamespace(due=self.seconds + delay, function=function)
        timer.start = lambda: self.timers.append(timer)
        timer.cancel = lambda: self.timers.remove(timer) if timer in self.timers else None
        return timer

    def advance(self, seconds):
        self.seconds += seconds
        for timer in [timer for timer in self.timers if timer.due <= self.seconds]:
            self.timers.remove(timer)
            timer.function()


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(notice, "time", clock)
    monkeypatch.setattr(notice, "Timer", clock.timer)
    return clock


def compiling(clock, listener, seconds, module="splitcredit.kernels.walks.predict"):
    """What numba tells a listener of a function that takes so long to compile."""
    listener.on_start(event_of(module))
    listener.on_start(event_of("numba.np.arrayobj"))
    clock.advance(seconds)
    listener.on_end(event_of("numba.np.arrayobj"))
    listener.on_end(event_of(module))


def test_what_takes_long_to_compile_says_so_once(clock, caplog):
    caplog.set_level(logging.WARNING, logger="splitcredit")
    listener = notice.Notice(long=2.0)
    for _ in range(3):
        compiling(clock, listener, 8.0)
    (record,) = caplog.records
    assert "compiles what this call needs for this processor, once" in record.getMessage()
    assert str(machine_code.cache_directory()) in record.getMessage()


def test_nothing_is_said_of_short_compilations_and_of_other_libraries(clock, caplog):
    compiling(clock, notice.Notice(long=2.0), 1.5)
    compiling(clock, notice.Notice(long=2.0), 8.0, "another.library")
    clock.advance(60.0)
    assert not caplog.records


def test_short_compilations_add_up(clock, caplog):
    listener = notice.Notice(long=2.0)
    for n_records in (0, 0, 1, 1):
        compiling(clock, listener, 0.75)
        assert len(caplog.records) == n_records


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("n_pieces", [0, 1, 2, 7, 100])
def test_portions_are_all_pieces_once(n_pieces, n_threads):
    pieces = []
    with threads(n_threads):
        in_portions(lambda first, last, out: out.extend(range(first, last)), n_pieces, (pieces,))
    assert sorted(pieces) == list(range(n_pieces))


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
from splitcredit.kernels.compiled import threads
from splitcredit.kernels.portions import in_portions
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


@pytest.mark.skipif(
    not hasattr(os, "fork"),
    reason="This system has no os.fork; run the test on Linux or macOS.",
)
def test_kernels_run_in_a_forked_process():
    assert printed(FORK).strip() == "0"


def test_kernels_have_no_default_arguments():
    """A digest would not see them."""
    for name, value in every_kernel():
        parameters = inspect.signature(value.py_func).parameters.values()
        assert all(p.default is p.empty for p in parameters), name


def test_a_parallel_kernel_begins_with_the_pieces_that_it_is_to_do(folder):
    @kernel(parallel=True)
    def squares(first, last, out):
        for i in range(first, last):
            out[i] = i * i

    out = np.zeros(10)
    squares(10, out)
    assert out.tolist() == [i * i for i in range(10)]
    assert len(list(folder.iterdir())) == 1
