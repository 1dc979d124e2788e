#!/usr/bin/env bash
# Build or refresh the virtual environment from the hashed locks, then install this package into it.
#
#   workflow/environment.sh [DIRECTORY]        default: .venv
#
# PYTHON     interpreter to use (default: the first of python3.11 ... python3.13, python3 that fits)
# INSTALLER  auto (uv, or pip where uv does not get through), uv or pip
# PROFILE    folder of workflow/profiles; what it needs beyond the rest is in requirements-PROFILE.lock
#
# A stamp holds the checksum of everything the environment depends on, so a second call does nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
# setuptools writes the path of this folder in the encoding of the locale, and fails where it has a
# letter that ASCII does not have.
case $(locale charmap 2>/dev/null) in ANSI_X3.4-1968 | US-ASCII) export LC_ALL=C.UTF-8 ;; esac
venv=${1:-.venv}
venv=${venv%/} # or a link would look like a folder
installer=${INSTALLER:-auto}
case $installer in auto | uv | pip) ;; *)
    echo "INSTALLER=$installer is not known: use auto, uv or pip" >&2
    exit 2
    ;;
esac

# Prints the version where it fits, with "bare" behind it where venv would fail. It imports
# ensurepip too: Debian keeps it apart, and without it `import venv` works and `python -m venv` does
# not.
# A name in PATH that cannot be run (a shim of pyenv with no version behind it) prints nothing.
probe='
import sys
if (3, 11) <= sys.version_info[:2] <= (3, 13):
    bare = ""
    try:
        import ensurepip, venv
    except ImportError:
        bare = " bare"
    print("%d.%d%s" % (sys.version_info[0], sys.version_info[1], bare))
'
python=
bare=
candidates=(python3.11 python3.12 python3.13 python3)
[ -z "${PYTHON:-}" ] || candidates=("$PYTHON")
for candidate in "${candidates[@]}"; do
    version=$("$candidate" -c "$probe" 2>/dev/null) || continue
    case $version in
    *bare) bare=${bare:-$candidate ${version% bare}} ;;
    3.*) python=$candidate && break ;;
    esac
done
if [ -z "$python" ]; then
    if [ -n "$bare" ]; then
        echo "${bare% *} has no venv or no ensurepip: install them (on Debian and Ubuntu: apt install python${bare##* }-venv)" >&2
    elif [ -n "${PYTHON:-}" ]; then
        echo "PYTHON=$PYTHON is not a Python 3.11 to 3.13" >&2
    else
        echo "no Python 3.11 to 3.13 found: install one, or name it with PYTHON=/path/to/python" >&2
    fi
    exit 1
fi

settings=workflow/uv_settings.py
stamp=$({ cat requirements.lock requirements-tools.lock pyproject.toml "$0" "$settings" &&
    "$python" -VV && pwd; } | cksum)
extra=requirements-${PROFILE:-default}.lock
[ -f "$extra" ] || extra=
extra_stamp=${extra:+$(cksum <"$extra")}
has_extra() { [ -z "$extra" ] || [ "$(cat "$venv/.$PROFILE" 2>/dev/null)" = "$extra_stamp" ]; }
complete() { [ "$(cat "$venv/.complete" 2>/dev/null)" = "$stamp" ]; }
complete && has_extra && exit 0

bin=$venv/bin
pip() { "$bin/python" -m pip --disable-pip-version-check "$@"; }
add_extra() {
    has_extra && return
    # Kept from then on: other calls of make neither need it nor take it away.
    pip install --quiet --no-build-isolation --require-hashes -r "$extra"
    echo "$extra_stamp" >"$venv/.$PROFILE"
}
if complete; then
    add_extra
    exit 0
fi

# The folder is emptied. So it must be one of ours, finished or begun, or have nothing but what venv makes.
if [ -L "$venv" ]; then
    echo "$venv is a link, and venv would empty what is behind it: name the folder itself by VENV=FOLDER" >&2
    exit 1
fi
has() { (cd "$venv" 2>/dev/null && compgen -G "$1"); }
packages=$(has 'lib/python*/site-packages/*.dist-info' | grep -v '/\(pip\|setuptools\)-[^/]*$' || true)
content=$(has '*' || has '.[!.]*' || true)
if [ -n "$content" ] && [ -z "$(has .complete || has tools.lock)" ] && { [ ! -e "$venv/pyvenv.cfg" ] || [ -n "$packages" ]; }; then
    echo "$venv is no environment of this project and would be emptied: name another folder by VENV=FOLDER, or delete it" >&2
    exit 1
fi

echo "building $venv with $("$python" -V) (installer: $installer)"
# A half-built environment is worse than none: start afresh whenever the stamp differs.
"$python" -m venv --clear "$venv"
# setuptools comes from the lock too, so that the source distributions among the packages
# and this package itself are built without fetching anything outside the locks.
lock_of() { awk -v name="$1" '/^[^ #]/ { keep = index($0, name "==") == 1 } keep' requirements-tools.lock; }
tools() {
    for tool; do lock_of "$tool"; done >"$venv/tools.lock"
    pip install --quiet --require-hashes -r "$venv/tools.lock"
}

# Nothing is fetched for the package itself.
by_uv() {
    tools setuptools uv || return
    # In a shell of its own, so that what is set for uv is not set for anything else.
    (
        eval "$(pip config list | "$bin/python" "$settings")" || exit
        # With byte code, as pip does: where Python may write none, or the folder is read-only,
        # every process would compile pandas and its like anew.
        uv() {
            "$bin/uv" pip install --quiet --compile-bytecode --python "$bin/python" \
                --no-build-isolation "$@"
        }
        uv --require-hashes -r requirements.lock && uv --no-deps --offline --editable .
    )
}
by_pip() {
    tools setuptools
    pip install --quiet --no-build-isolation --require-hashes -r requirements.lock
    pip install --quiet --no-build-isolation --no-deps --no-index --editable .
}
if [ "$installer" = pip ]; then
    by_pip
elif ! by_uv; then
    if [ "$installer" = uv ]; then
        echo "uv cannot be installed, or does not get the packages; run again with INSTALLER=pip" >&2
        exit 1
    fi
    echo "uv cannot be installed here, or does not get the packages: going on with pip"
    by_pip
fi
# Python reads this file in the encoding of the locale, and does not start if it cannot. So an
# environment within this folder finds the package without the folder's name.
"$bin/python" - <<'end'
import os, pathlib, sysconfig
site = pathlib.Path(sysconfig.get_path("purelib"))
if site.is_relative_to(os.getcwd()):
    (path,) = site.glob("__editable__*.pth")
    path.write_text(os.path.relpath("src", site) + "\n")
end
# The one library that no package brings along: wheels of LightGBM take it from the system.
if ! "$bin/python" -c 'import lightgbm' 2>"$venv/lightgbm.log"; then
    if grep -q libgomp "$venv/lightgbm.log"; then
        echo "LightGBM needs libgomp: install it (on Debian and Ubuntu: apt install libgomp1)" >&2
    else
        cat "$venv/lightgbm.log" >&2
    fi
    exit 1
fi
echo "$stamp" >"$venv/.complete"
add_extra
