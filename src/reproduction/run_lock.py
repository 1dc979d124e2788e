"""End the jobs of a run with the run, however it ends, and let the next run wait for them.

Nobody ends the jobs of a Snakemake that is killed, and they would write beside those of the next
run. So a run on one machine keeps a file locked, which the system unlocks when the process is gone.
Each job has a thread that waits for that.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from typing import IO

# Environment variable with the path of the file.
FILE = "SPLITCREDIT_RUN"
# The file is unlocked when it is closed.
_held: list[IO] = []


def hold(path) -> bool:
    """Lock a file for the rest of this process, and tell the jobs that it starts.

    Waits for jobs of an earlier run that have not ended yet.

    Parameters
    ----------
    path : path
        In a folder that exists; the same for all runs that write to the same results.

    Returns
    -------
    bool
        Whether no job of an earlier run is left. False where files cannot be locked.
    """
    # It is imported here and below, because not every system has it.
    import fcntl

    file = open(path, "w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("waiting until the jobs of an earlier run have ended", file=sys.stderr, flush=True)
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError:
        file.close()
        return False
    _held.append(file)
    os.environ[FILE] = os.path.abspath(path)
    return True


def end_with_run() -> None:
    """End this process when the run that started it is gone."""
    path = os.environ.get(FILE)
    if path:
        threading.Thread(target=_wait, args=(path,), daemon=True).start()


def _wait(path):
    import fcntl

    with contextlib.suppress(OSError), open(path) as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        os.kill(os.getpid(), signal.SIGTERM)
        # Other jobs wait for the same; the next run waits until this one has ended.
        threading.Event().wait()
