"""Turn the settings of pip into those of uv, which reads none of pip's.

Reads what ``pip config list`` prints, from standard input; prints lines for a shell. Settings that
uv has already stay as they are. Only the standard library: it runs before anything is installed.
"""

import ast
import os
import shlex
import sys

# pip's name: uv's name, and what stands between several values.
NAMES = {
    "index-url": ("UV_DEFAULT_INDEX", None),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    # There is no variable for --no-index; offline, files of find-links are still found.
    "no-index": ("UV_OFFLINE", None),
    "cert": ("SSL_CERT_FILE", None),
    "proxy": ("ALL_PROXY", None),
    "default-timeout": ("UV_HTTP_TIMEOUT", None),
    "timeout": ("UV_HTTP_TIMEOUT", None),
}
# What pip lets win comes later.
SECTIONS = ["global", "install", ":env:"]


def uv_settings(lines):
    """Environment variables for uv from the lines of ``pip config list``."""
    settings = {}
    for section in SECTIONS:
        for line in lines:
            name, _, value = line.strip().partition("=")
            place, _, key = name.rpartition(".")
            if place == section and key in NAMES:
                variable, separator = NAMES[key]
                value = ast.literal_eval(value)
                settings[variable] = separator.join(value.split()) if separator else value
    # As pip does: the best version of all indexes. The hashes of the lock decide what is accepted.
    settings["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    return settings


if __name__ == "__main__":
    for variable, value in uv_settings(sys.stdin.readlines()).items():
        if variable not in os.environ:
            print(f"export {variable}={shlex.quote(value)}")
