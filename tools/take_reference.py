"""Copy the outcome of a full run into docs/reference, and its summaries into docs.

Run by `make reference`. The reference is what tests, pages and `make verify` hold on to; results/
itself is not committed. Of the figures it has those that a page shows; `make reference-archive`
puts all of them into a file beside the repository.
"""

import gzip
import hashlib
import re
import shutil
import sys
from pathlib import Path
from statistics import median

import yaml

from reproduction import marked, storage
from reproduction.claims_summary import reduced_preset, summary, totals
from reproduction.report.manifest import seconds_by_rule
from reproduction.report.numbers import Numbers

ROOT = Path(__file__).resolve().parents[1]
RESULTS, REFERENCE = ROOT / "results", ROOT / "docs" / "reference"
# What depends on the clock is a table of its own.
CLAIMS = ("claims.csv", "claims_timing.csv")
# Tables above this size are the points of figures; only their SHA-256 is kept.
LARGEST = 200_000
# Sentences that hold numbers of the reference, by their pages.
SENTENCES = "docs/numbers_in_pages.yaml"
# A large table that is kept whole, compressed: the scores of the study trust.
COMPRESSED = "tables/trust/scores.csv"
# The ratios that pages show, by their columns: on one thread, by CPU time.
SHOWN = {"kernel": ("kernel", "1", "cpu"), "end to end": ("end to end", "1", "cpu")}
# Of the models that were drawn, those at which ours does worst.
MOST_DRAWN = 5
# What stands in the place of a peer, and is no package that took its turn with ours.
NO_PEERS = ("our target", "ours on one thread", "printed by")


def main():
    """Copy, or say what is missing."""
    rows = judged()
    tables = sorted(
        path for place in ("", "timing/") for path in RESULTS.glob(f"{place}tables/*/*.csv")
    )
    large = [path for path in tables if path.stat().st_size > LARGEST]
    figures = [RESULTS / name for name in shown()]
    missing = [path for path in figures if not path.exists()]
    if missing:
        sys.exit(f"{missing[0]} is shown by a page, and this run did not make it")
    shutil.rmtree(REFERENCE, ignore_errors=True)
    kept = [path for path in tables if path not in large]
    for path in [*(RESULTS / name for name in CLAIMS), *kept, *figures]:
        target = REFERENCE / path.relative_to(RESULTS)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    storage.write_text(REFERENCE / "tables.sha256", digests(large))
    scores = gzip.compress((RESULTS / COMPRESSED).read_bytes(), mtime=0)
    (REFERENCE / f"{COMPRESSED}.gz").write_bytes(scores)
    storage.write_text(ROOT / "docs" / "trust.md", trust_page())
    marked.write(ROOT / "docs" / "results.md", "claims", summary(rows))
    marked.write(ROOT / "docs" / "reproduce.md", "rules", time_table())
    for page, text in pages_with_numbers().items():
        storage.write_text(page, text)
    bench = RESULTS / "timing" / "bench.csv"
    if bench.exists():
        shutil.copy(bench, REFERENCE)
        for mark, table in bench_tables(storage.read_rows(bench)).items():
            marked.write(ROOT / bench_page(mark), mark, table)


def bench_page(mark) -> str:
    """The page that shows a table of the benchmarks."""
    return "docs/benchmarks.md" if mark == "first" else "benchmarks/README.md"


def bench_tables(rows) -> dict[str, str]:
    """The tables of the pages of benchmarks, by their marks."""
    drawn = [row for row in rows if row["family"]]
    rows = [row for row in rows if not row["family"]]
    tables = {"summary": bench_summary(rows), "first": first_table(rows)}
    return tables | ({"family": family_table(drawn)} if drawn else {})


def judged() -> list[dict[str, str]]:
    """All claims of the run; the end if there are none, or if the run is not a full one."""
    rows = []
    for name in CLAIMS:
        if not (RESULTS / name).exists():
            sys.exit(f"results/{name} is missing: run make reproduce first")
        rows += storage.read_rows(RESULTS / name)
    reduced = reduced_preset(rows)
    if reduced is not None:
        sys.exit(f"the results are those of the preset {reduced}: run make reproduce first")
    return rows


def time_table() -> str:
    """Markdown table of the processor time of the run by rule."""
    rows = sorted(seconds_by_rule(RESULTS), key=lambda row: -row["cpu"])
    total = sum(row["cpu"] for row in rows)
    lines = ["| rule | jobs | processor time | share |", "|---|--:|--:|--:|"]
    for row in rows:
        cells = row["rule"], row["jobs"], f"{row['cpu']:.0f} s", f"{row['cpu'] / total:.0%}"
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def trust_page() -> str:
    """The page of the study trust: its text with the numbers of the reference."""
    tables = (REFERENCE / "tables" / "trust").glob("*.csv")
    numbers = Numbers({f"trust/{table.stem}": table for table in tables}, [], {})
    page = ROOT / "src" / "reproduction" / "papers" / "trust" / "page.md"
    return numbers.fill(page.read_text(encoding="utf-8")) + "\n"


def pages_with_numbers() -> dict[Path, str]:
    """Pages and their texts, with the numbers of the reference in their sentences."""
    files = [p for place in ("", "timing/") for p in REFERENCE.glob(f"{place}tables/*/*.csv")]
    claims = [row for name in CLAIMS for row in storage.read_rows(REFERENCE / name)]
    run, counts = Numbers({f"{p.parent.name}/{p.stem}": p for p in files}, [], {}), totals(claims)
    pages = {}
    for name, sentences in yaml.safe_load((ROOT / SENTENCES).read_text(encoding="utf-8")).items():
        text = (ROOT / name).read_text(encoding="utf-8")
        for sentence in sentences:
            words = re.split("{{.*?}}", sentence)
            # The page may break its lines anywhere.
            patterns = [r"\s+".join(map(re.escape, part.split(" "))) for part in words]
            found = re.search(r"(−?\d*\.?\d+)".join(patterns), text)
            if found is None:
                sys.exit(f"{name} has no sentence like: {sentence}")
            found_numbers = re.findall("{{.*?}}", sentence)
            filled = [run.fill(number, totals=counts) for number in found_numbers]
            for place, number in reversed([*enumerate(filled, start=1)]):
                shown = re.sub(r"^0\.", ".", number.removesuffix(" %"))
                text = text[: found.start(place)] + shown + text[found.end(place) :]
        pages[ROOT / name] = text
    return pages


def shown() -> list[str]:
    """Figures of the reference that a page shows, by their places in results."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    texts = (page.read_text(encoding="utf-8") for page in pages)
    return sorted({name for t in texts for name in re.findall(r"\breference/(\S+\.png)\)", t)})


def digests(tables) -> str:
    """Text of SHA-256 sums, in the form of sha256sum: one line a table."""
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(RESULTS).as_posix()}\n"
        for path in tables
    )


def bench_summary(rows) -> str:
    """Markdown table with one line a work, and the peers that could not be timed.

    A line has the least ratio, and the peer that it was against. Works that are timed from the
    model to the values as well come first: most readers look for them. `TreeExplainer`, and works
    without a peer that took turns with ours, have no line.
    """
    whole = {(row["benchmark"], row["scope"]) for row in rows if row["mode"] == "end to end"}
    rows = sorted(rows, key=lambda row: (row["benchmark"], row["scope"]) not in whole)
    lines = [f"| | work | {' | '.join(SHOWN)} |", "|---|---|--:|--:|"]
    for name, scope, *fastest in _works(rows):
        cells = [f"{_rounded(row['ratio'])}x {row['peer']}" if row else "" for row in fastest]
        if any(cells) and name != "TreeExplainer":
            lines.append(f"| {name} | {scope} | {' | '.join(cells)} |")
    return "\n".join(lines) + f"\n{_not_timed(rows)}"


def _fastest(rows, benchmark, scope, how):
    """The row of the peer with the least ratio, of those that took turns with ours; or None."""
    wanted = (benchmark, scope, *how)
    raced = [
        row
        for row in rows
        if tuple(row[name] for name in ("benchmark", "scope", "mode", "threads", "clock")) == wanted
        if row["ratio"] and not row["peer"].startswith(NO_PEERS) and "recorded" not in row["note"]
    ]
    return min(raced, key=lambda row: float(row["ratio"]), default=None)


def _rounded(number):
    """A number to three digits; a large one has no power of ten."""
    return f"{float(f'{float(number):.3g}'):g}"


def first_table(rows) -> str:
    """Markdown table of TreeSHAP on one thread, against the peer that is fastest end to end."""
    lines = [
        "| model | rows | splitcredit | fastest other | | times as fast | converted |",
        "|---|--:|--:|--:|---|--:|--:|",
    ]
    for name, scope, kernel, whole in _works(rows):
        if name == "TreeSHAP" and whole:
            model, n_rows = scope.split(": ")[-1].rsplit(", ", 1)
            times = (f"{_rounded(whole[column])} s" for column in ("ours_s", "peer_s"))
            ratios = (f"{_rounded(row['ratio'])}x" for row in (whole, kernel))
            cells = model, n_rows.split()[0], *times, whole["peer"], *ratios
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def family_table(rows) -> str:
    """Markdown table of the models that were drawn at which ours does worst, end to end.

    Ratios are those against the fastest peer that is right. The last line is the median of all.
    """
    lines = ["| work | rows | ours | kernel | end to end | against |", "|---|--:|--:|--:|--:|---|"]
    right = [row for row in rows if "not right" not in row["note"]]
    timed = [work for work in _works(right) if work[-1]]
    timed = sorted(timed, key=lambda work: float(work[-1]["ratio"]))
    for _, scope, kernel, whole in timed[:MOST_DRAWN]:
        name, n_rows = scope.rsplit(", ", 1)
        ratios = (f"{_rounded(row['ratio'])}x" for row in (kernel, whole))
        cells = name, n_rows.split()[0], f"{_rounded(whole['ours_s'])} s", *ratios, whole["peer"]
        lines.append(f"| {' | '.join(cells)} |")
    medians = (_rounded(median(float(work[i]["ratio"]) for work in timed)) for i in (2, 3))
    lines.append(f"| median of all {len(timed)} | | | {'x | '.join(medians)}x | |")
    return "\n".join(lines) + "\n"


def _works(rows):
    """Each work with the row of its fastest peer on one thread, by kernel and end to end."""
    for name, scope in dict.fromkeys((row["benchmark"], row["scope"]) for row in rows):
        yield name, scope, *(_fastest(rows, name, scope, how) for how in SHOWN.values())


def _not_timed(rows) -> str:
    """Peers that could not be timed, and why."""
    missing = [row for row in rows if not row["ratio"]]
    lines = {f"- {r['benchmark']}, {r['scope']}: {r['peer']}: {r['note']}\n" for r in missing}
    return "\nNot timed:\n\n" + "".join(sorted(lines)) if lines else ""


if __name__ == "__main__":
    main()
