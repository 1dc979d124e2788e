"""Start jobs with the libraries of others loaded: one process loads them, and forks for each job.

Most jobs take longer to start Python and to load numpy and numba than to do their work. A run of
many jobs on one machine therefore has a launcher, a process beside Snakemake. Snakemake starts a
client for each job. The client sends its command line, its environment and its standard streams to
the launcher, which forks, and waits until the forked process has done the job. The launcher loads
packages of others only, so a job reads our own sources when it starts, as it does without a
launcher. The forked process ends if its client ends, and the launcher ends with Snakemake.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import struct
import sys
import threading

# Environment variable with the path of the launcher's socket.
SOCKET = "SPLITCREDIT_LAUNCHER"
# The stages that load libraries; the others take less time than a call of the launcher.
STAGES = {"kernels", "data", "models", "importances", "metrics", "tables", "figures", "judgments"}
# Libraries that are loaded at the start; those that few jobs need, such as shap, are not.
LIBRARIES = (
    "numpy",
    "pandas",
    "numba",
    # numba loads these two when it reads or compiles machine code.
    "numba.cpython.charseq",
    "numba.np.arrayobj",
    "scipy.stats",
    "sklearn.datasets",
    "sklearn.ensemble",
    "xgboost",
    "yaml",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "matplotlib.backends.backend_pdf",
    "matplotlib.pyplot",
)
# Libraries read these variables when they are loaded; without them they start a thread a core.
ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
# Bytes that Linux allows for the path of a socket.
LONGEST_PATH = 107
# Runs of fewer jobs end before the launcher has paid for its own start.
FEW_JOBS = 20
_LENGTH = struct.Struct("<Q")
_STANDARD = (0, 1, 2)
_TAKEN = b"+"
# At the end of the path of a socket that takes no jobs yet.
_UNNAMED = "~"
# Signals that end a run from outside, and all processes of its group with it.
_ENDS = (signal.SIGTERM, signal.SIGHUP)


def start(n_jobs: int) -> int | None:
    """Start a launcher for the jobs that this process and its children start.

    Parameters
    ----------
    n_jobs : int
        How many there are.

    Returns
    -------
    int or None
        File descriptor: the launcher ends when it is closed, at the latest with this process. None
        if there are too few jobs, the path of the folder for temporary files is too long for a
        socket, or this is not Linux: elsewhere libraries may not be forked.
    """
    # Imports are here and below, so that a client of the launcher loads only what it uses.
    import subprocess
    import tempfile
    from pathlib import Path

    if n_jobs < FEW_JOBS or sys.platform != "linux":
        return None
    path = os.path.join(tempfile.mkdtemp(prefix="splitcredit-"), "launcher")
    if len(os.fsencode(path + _UNNAMED)) > LONGEST_PATH:
        os.rmdir(os.path.dirname(path))
        return None
    ends, alive = os.pipe()
    source = str(Path(__file__).resolve().parents[1])
    code = f"import sys; sys.path.insert(0, {source!r}); "
    code += f"from reproduction.launcher import serve; serve({path!r}, {ends})"
    subprocess.Popen([sys.executable, "-c", code], pass_fds=[ends], stdin=subprocess.DEVNULL)
    os.close(ends)
    os.environ[SOCKET] = path
    return alive


def run(arguments: list[str]) -> int | None:
    """Run a job through the launcher.

    Parameters
    ----------
    arguments : list of str
        Of ``python -m reproduction``.

    Returns
    -------
    int or None
        Exit status; None if there is no launcher, or the job needs none or more than one thread.
    """
    path = os.environ.get(SOCKET)
    one_thread = arguments[:2] == ["--threads", "1"]
    if not path or not one_thread or len(arguments) < 3 or arguments[2] not in STAGES:
        return None
    if any(os.environ.get(name, value) != value for name, value in ONE_THREAD.items()):
        return None
    job = {"arguments": arguments, "directory": os.getcwd(), "path": sys.path}
    job |= {"environment": dict(os.environ), "packages": _packages()}
    message = json.dumps(job).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(path)
            socket.send_fds(connection, [_LENGTH.pack(len(message))], _STANDARD)
            connection.sendall(message)
            if connection.recv(1) != _TAKEN:
                return None
        except OSError:
            return None
        try:
            status = connection.recv(1)
        except ConnectionError:
            status = b""
    if not status:
        print(f"{arguments[2]}: the process of the job was killed", file=sys.stderr)
    return status[0] if status else 1


def _packages():
    """The environment that Python runs in: jobs of another have other packages."""
    return os.path.realpath(sys.prefix)


def serve(path: str, alive: int) -> None:
    """Be the launcher, until the other end of a pipe is closed or a signal ends it.

    Parameters
    ----------
    path : str
        Of the socket, in a folder of its own, which is removed at the end.
    alive : int
        File descriptor: the end of the pipe that is read.

    Raises
    ------
    RuntimeError
        If a library has started a thread, which a forked process would be without.
    """
    from pathlib import Path

    from reproduction import cache_folder

    os.environ |= ONE_THREAD
    cache_folder.choose()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The system removes forked processes that have ended: only their clients wait for them.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            for number in _ENDS:
                if signal.getsignal(number) != signal.SIG_IGN:  # As nohup leaves one.
                    signal.signal(number, _end)
            # Under its name there is a socket only when it takes jobs.
            listener.bind(path + _UNNAMED)
            listener.listen(64)
            os.rename(path + _UNNAMED, path)
            for name in LIBRARIES:
                with contextlib.suppress(ImportError):
                    importlib.import_module(name)
            _prepare_numba()
            for thread in threading.enumerate()[1:]:
                thread.join(1)
            if len(os.listdir("/proc/self/task")) > 1:
                raise RuntimeError("a library has started a thread: no process can be forked")
            # The objects of the libraries stay, and few jobs leave cycles: 700 is the default.
            gc.freeze()
            gc.set_threshold(10_000)
            while alive not in (ready := select.select([listener, alive], [], [])[0]):
                if ready:
                    _fork(listener, alive)
        finally:
            for name in (path + _UNNAMED, path):
                Path(name).unlink(missing_ok=True)
            Path(path).parent.rmdir()


def _end(number, frame):
    """End like a process that a signal ended, but clean up before."""
    sys.exit(128 + number)


def _prepare_numba():
    """Initialize numba as it does before the first kernel of a process; most jobs have one."""
    names = ("entrypoints", "registry", "runtime")
    entrypoints, registry, runtime = (importlib.import_module(f"numba.core.{n}") for n in names)
    entrypoints.init_all()
    runtime.rtsys.initialize(registry.cpu_target.target_context)


def _fork(listener, alive):
    import traceback

    connection, _ = listener.accept()
    with connection:
        if os.fork():
            return
        status = 1
        try:
            listener.close()
            os.close(alive)
            ends = [number for number in _ENDS if signal.getsignal(number) == _end]
            for number in (signal.SIGINT, signal.SIGCHLD, *ends):
                signal.signal(number, signal.SIG_DFL)
            status = _job(connection)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            with contextlib.suppress(OSError):
                connection.sendall(bytes([status & 255]))
            os._exit(status & 255)


def _job(connection):
    """Take the place of the process that asks, and run its job."""
    head, files, _, _ = socket.recv_fds(connection, _LENGTH.size, len(_STANDARD))
    job = json.loads(_exactly(connection, _LENGTH.unpack(head)[0]))
    if job["packages"] != _packages():  # It has an environment of its own.
        return 1
    connection.sendall(_TAKEN)
    for file, standard in zip(files, _STANDARD, strict=True):
        os.dup2(file, standard)
        os.close(file)
    threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
    os.chdir(job["directory"])
    os.environ.clear()
    os.environ.update(job["environment"])
    sys.path[:] = job["path"]
    sys.argv = ["reproduction", *job["arguments"]]
    # The job's own sources may lie elsewhere than those of the launcher.
    for name in [name for name in sys.modules if name.partition(".")[0] == __package__]:
        del sys.modules[name]
    from reproduction.__main__ import main

    try:
        return main(job["arguments"])
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)


def _exactly(connection, length):
    chunks = []
    while length:
        chunk = connection.recv(min(length, 1 << 20))
        if not chunk:
            raise ConnectionError("the client of this job has ended")
        chunks.append(chunk)
        length -= len(chunk)
    return b"".join(chunks)


def _end_with(connection):
    """End this process when its client ends.

    If the client was killed before it had read that its job is taken, the connection is reset.
    """
    with contextlib.suppress(OSError):
        connection.recv(1)
    os.kill(os.getpid(), signal.SIGTERM)
