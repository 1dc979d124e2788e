#!/usr/bin/env bash
# Build or refresh the virtual environment from the hashed locks, then install this package into it.
#
#   workflow/environment.sh [DIRECTORY]        default: .venv
#
# PYTHON     interpreter to use (default: the first of python3.11 ... python3.13, python3 that fits)
# INSTALLER  auto (uv, or pip where uv cannot be installed), uv or pip
#
# A stamp holds the checksum of everything the environment depends on, so a second call does nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${1:-.venv}
installer=${INSTALLER:-auto}
case $installer in auto | uv | pip) ;; *)
    echo "INSTALLER=$installer is not known: use auto, uv or pip" >&2
    exit 2
    ;;
esac

fits() { "$1" -c 'import sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; }
find_python() {
    if [ -n "${PYTHON:-}" ]; then
        fits "$PYTHON" && echo "$PYTHON" && return
        echo "PYTHON=$PYTHON is not a Python 3.11 to 3.13 with the venv module" >&2
        return 1
    fi
    for candidate in python3.11 python3.12 python3.13 python3; do
        fits "$candidate" && echo "$candidate" && return
    done
    echo "no Python 3.11 to 3.13 with the venv module found: install one, or name it with PYTHON=/path/to/python" >&2
    return 1
}
python=$(find_python)
stamp=$({ cat requirements.lock requirements-tools.lock pyproject.toml "$0" && "$python" -VV && pwd; } | cksum)
[ "$(cat "$venv/.complete" 2>/dev/null)" = "$stamp" ] && exit 0

echo "building $venv with $("$python" -V) (installer: $installer)"
# A half-built environment is worse than none: start afresh whenever the stamp differs.
"$python" -m venv --clear "$venv"
bin=$venv/bin
pip() { "$bin/python" -m pip --disable-pip-version-check "$@"; }
# setuptools comes from the lock too, so that the one source distribution among the packages
# and this package itself are built without fetching anything outside the locks.
lock_of() { awk -v name="$1" '/^[^ #]/ { keep = index($0, name "==") == 1 } keep' requirements-tools.lock; }
lock_of setuptools >"$venv/setuptools.lock"
pip install --quiet --require-hashes -r "$venv/setuptools.lock"
if [ "$installer" != pip ]; then
    lock_of uv >"$venv/uv.lock"
    if pip install --quiet --require-hashes -r "$venv/uv.lock"; then
        installer=uv
    elif [ "$installer" = uv ]; then
        echo "uv cannot be installed; run again with INSTALLER=pip" >&2
        exit 1
    else
        echo "uv cannot be installed here: going on with pip"
        installer=pip
    fi
fi
if [ "$installer" = uv ]; then
    install() { "$bin/uv" pip install --quiet --python "$bin/python" --no-build-isolation "$@"; }
else
    install() { pip install --quiet --no-build-isolation "$@"; }
fi
install --require-hashes -r requirements.lock
install --no-deps --editable .
echo "$stamp" >"$venv/.complete"
