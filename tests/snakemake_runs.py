"""Runs of Snakemake in processes forked from one that has loaded it, which takes its time."""

import contextlib
import json
import subprocess
import sys
from types import SimpleNamespace

# A line of input is a run; the line of output is its exit status. The parser of the command line
# loads Snakemake's plugins, and every run that reads a workflow loads the two packages.
SERVE = """
import json, os, sys
import jsonschema, smart_open
from snakemake import cli
cli.get_argument_parser()
for line in sys.stdin:
    run = json.loads(line)
    if not os.fork():
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        output = os.open(run["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(run["folder"])
        os.environ.clear()
        os.environ.update(run["environment"])
        sys.argv = ["snakemake", *run["arguments"]]
        sys.exit(cli.main())
    print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
"""


@contextlib.contextmanager
def snakemake_runs(output):
    """Give ``run(folder, arguments, environment)``, whose result has the status and all printed."""
    # Without the working directory on the path, as in the script that is called ``snakemake``.
    command = [sys.executable, "-P", "-c", SERVE]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as server:

        def run(folder, arguments, environment):
            request = {"folder": str(folder), "arguments": arguments, "environment": environment}
            print(json.dumps(request | {"output": str(output)}), file=server.stdin, flush=True)
            status = int(server.stdout.readline())
            return SimpleNamespace(returncode=status, stdout=output.read_text())

        yield run
        server.stdin.close()
