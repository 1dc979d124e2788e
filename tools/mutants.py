"""Change one place of a module at a time, and see whether its tests turn red: `make mutants`.

    python tools/mutants.py [--number N] [--seed SEED] [--all] [PLACE ...]

A comparison, an operator, a number or a condition is changed, or a statement dropped. The seed
draws the places, as many in each folder. The tests of a package run in a copy of the project, those
of the folder first. A change is seen, too, if they crash or take `PATIENCE` times as long as
without it, and `COMPILING` seconds more. What stays unseen is printed; whether it changes a value
is for the reader to judge: `mutants_without_effect.txt` lists those that do not, with the reason.
Exit status 1 if less than 95 % of the others are seen.

Tools for this do not fit: mutmut 3 leaves out decorated functions, which all kernels are, and
cosmic-ray has one list of tests for all modules and draws no sample.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from project_copy import ROOT, copied
from reproduction.cache_folder import digest

SOURCES = ROOT / "src"
PLACES = [f"splitcredit/{name}" for name in ("kernels", "models", "prediction_gap", "measures")]
PLACES += ["reproduction/metrics"]
LEFT_OUT = ("__init__.py",)
PATIENCE, COMPILING, MEMORY = 3, 300, 8 << 30
EACH_OTHER = "Lt LtE, Gt GtE, Eq NotEq, Is IsNot, In NotIn, Add Sub, Div Mult, And Or, BitAnd BitOr"
FLIPPED = {ast.FloorDiv: ast.Mult}
for names in EACH_OTHER.split(", "):
    one, other = (getattr(ast, name) for name in names.split())
    FLIPPED |= {one: other, other: one}


def main() -> int:
    """Run the mutants and print the table; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--number", type=int, default=300, help="of mutants, over all places")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--all", action="store_true", help="name what is seen, too")
    parser.add_argument("places", nargs="*", default=PLACES, help=f"in {', '.join(PLACES)}")
    arguments = parser.parse_args()
    # A change may ask for any memory.
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    os.umask(0o077)  # as of folders for compiled code
    table, listed = [], (ROOT / "tools/mutants_without_effect.txt").read_text().splitlines()
    with tempfile.TemporaryDirectory(prefix="mutants ") as scratch:
        project = Project(Path(scratch))
        for place in arguments.places:
            made = drawn(place, -(-arguments.number // len(arguments.places)), arguments.seed)
            seen = equal = 0
            for mutant in made:
                name, is_seen = named(*mutant), project.sees(*mutant)
                # The number of the line changes with every edit above it.
                is_equal = not is_seen and re.sub(r":\d+:", ":", name, count=1) in listed
                seen, equal = seen + is_seen, equal + is_equal
                if arguments.all or not (is_seen or is_equal):
                    print("seen:  " if is_seen else "unseen:", name, flush=True)
            table.append((place, len(made), seen, equal))
    table.append(("all", *(sum(row[k] for row in table) for k in (1, 2, 3))))
    print(f"{'place':34}{'mutants':>8}{'killed':>8}{'no value':>9}{'unseen':>8}")
    for place, n, seen, equal in table:
        print(f"{place:34}{n:8}{seen:8}{equal:9}{n - seen - equal:8}")
    return int(seen < 0.95 * (n - equal))


def drawn(place, number, seed):
    """Mutants of a folder or file, none of them twice: path, begin, end, the new text."""
    paths = [SOURCES / place] if place.endswith(".py") else sorted((SOURCES / place).rglob("*.py"))
    paths = [path for path in paths if path.name not in LEFT_OUT]
    every = [(path, *change) for path in paths for change in changes(path.read_bytes())]
    return random.Random(seed).sample(every, min(number, len(every)))


def changes(source):
    """Every place of a source that can be changed: begin and end in bytes, and the new text."""
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    for node in executed(ast.parse(source)):
        for place, changed in changed_forms(node):
            begin = lines[place.lineno - 1] + place.col_offset
            end = lines[place.end_lineno - 1] + place.end_col_offset
            text = ast.unparse(changed)
            yield begin, end, text if isinstance(place, ast.stmt) else f"({text})"


def executed(node):
    """Nodes that compute: no import, type or decorator, no message of an error."""
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.JoinedStr, ast.Raise)):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name not in ("decorator_list", "annotation", "returns"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from executed(child)


def changed_forms(node):
    """Places within a node, and what may stand there instead."""
    other = copy.copy(node)
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            flipped = [*node.ops[:i], FLIPPED[type(operator)](), *node.ops[i + 1 :]]
            yield node, ast.Compare(node.left, flipped, node.comparators)
    elif isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in FLIPPED:
        other.op = FLIPPED[type(node.op)]()
        yield node, other
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        other.value = node.value + 1
        yield node, other
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield node, node.operand
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
        yield node.test, ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, (ast.AugAssign, ast.Continue, ast.Break)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield node, ast.Pass()


def named(path, begin, end, text):
    """A mutant in words: file, line, what stood there, and the line as it is now."""
    source = path.read_bytes()
    old = " ".join(source[begin:end].decode().split())
    before, after = source[:begin].decode(), source[end:].decode()
    line = before.rpartition("\n")[2] + text + after.partition("\n")[0]
    return f"{path.relative_to(ROOT)}:{before.count(chr(10)) + 1}: {old} -> {line.strip()}"


class Project:
    """A copy of the project, in which one file at a time is changed."""

    def __init__(self, scratch):
        self.scratch, self.seconds = scratch, {}
        self.root = copied(scratch / "project")
        (self.root / "results").mkdir()
        self.kernels = self.root / "src/splitcredit/kernels"

    def sees(self, path, begin, end, text):
        """Whether the tests of a module turn red if its bytes from begin to end are these."""
        package, folder = path.relative_to(SOURCES).parts[:2]
        tests = f"tests/{package}/{folder}", f"tests/{package}"
        if tests not in self.seconds:
            start = time.monotonic()
            if not self.passes(tests, "whole"):
                sys.exit(f"red without a change: {tests}\n{self.output[-2000:]}")
            self.seconds[tests] = time.monotonic() - start
        whole, changed, source = digest(self.kernels), self.users(path), path.read_bytes()
        try:
            for file in changed[1:]:  # numba compiles anew what has another content
                file.write_bytes(file.read_bytes() + b"\n")
            changed[0].write_bytes(source[:begin] + text.encode() + source[end:])
            of_change = self.scratch / "changed" / digest(self.kernels)
            # Links will do: numba replaces its files and writes into none.
            shutil.copytree(self.scratch / "whole" / whole, of_change, copy_function=os.link)
            return not self.passes(tests, "changed", PATIENCE * self.seconds[tests] + COMPILING)
        finally:
            for file in changed:
                shutil.copy2(ROOT / file.relative_to(self.root), file)
            shutil.rmtree(self.scratch / "changed")

    def users(self, path):
        """A file of the copy, and of a kernel all that call it, as their machine code holds it."""
        found = [self.root / path.relative_to(ROOT)]
        for file in found if self.kernels in found[0].parents else ():
            *package, name = file.relative_to(self.root / "src").with_suffix("").parts
            its = rf"{'.'.join(package)}(\.{name} import| import .*\b{name}\b)"
            files = (f for f in self.kernels.rglob("*.py") if re.search(its, f.read_text()))
            found += [f for f in files if f not in found]
        return found

    def passes(self, tests, compiled, seconds=None):
        """Whether tests are green; the machine code lies in a folder."""
        options = ["-xq", "-n", "auto", "-p", "no:cacheprovider", "-m", "not long"]
        places = {"PYTHONPATH": self.root / "src", "NUMBA_CACHE_DIR": self.scratch / compiled}
        try:
            done = subprocess.run(
                [sys.executable, "-m", "pytest", *options, *tests],
                cwd=self.root,
                env=os.environ | places | {"PYTHONDONTWRITEBYTECODE": "1"},
                capture_output=True,
                text=True,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            return False
        self.output = done.stdout
        return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
