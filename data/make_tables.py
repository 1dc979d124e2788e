"""Make the tables of this folder from the original files, and print their checksums.

    python data/make_tables.py ORIGINALS

ORIGINALS is a folder with the files named in README.md; each is checked before it is read. Cells
keep the text of the original: a table differs from it in separators, line ends and quotes alone.
"""

import csv
import gzip
import hashlib
import io
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ORIGINALS = {
    "red_wine": (
        "winequality-red.csv",
        "4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e",
    ),
    "parkinson": (
        "parkinsons_updrs.data",
        "f2c7d5025dec4e92e7feae367a5f7ccf58789a10ac6b54bdf15976c599f9dd39",
    ),
    "california_housing": (
        "housing.csv",
        "8a3727f4cf54ac1a327f69b1d5b4db54c5834ea81c6e4efc0d163300022a685e",
    ),
    "titanic": (
        "titanic_train.csv",
        "7d118fef8b6ccf7f81111877bc388536f7b1e498a655e3d649d19aaa010e9f6f",
    ),
    "ad_data": (
        "ad_data.csv",
        "8bba79759f074048edea2d40ca00746b301b1356286d2c96f73cca5f03d2fd10",
    ),
    "gajewski2025_rows_red_wine": (
        "authors_split_winequality-red.csv",
        "b63e5c41e85d4dce6f899a09697b49b323049fb37e2223eab980fd0d05771972",
    ),
    "gajewski2025_rows_california_housing": (
        "authors_split_housing.csv",
        "c18df14f11ab725fd52736366154bb7d0ec1688bdc8bb34b10e6d6c08d2db281",
    ),
    "gajewski2025_rows_parkinson": (
        "authors_split_parkinsons_updrs.csv",
        "666d51afc7127f9fc37c51f02c75ab046051c7b1d925e4a5e4514511548caa0b",
    ),
    "gajewski2025_tie_orders": (
        "authors_tie_orders.csv",
        "62a6acccb7d7fcecc13ee456d813e1407b44ddb2d1c7877b9dc78bb4ee3f47d4",
    ),
    "gajewski2025_wine_tree": (
        "authors_winequality_red_single.json",
        "792a506f07a7290f9a888431306f8591cb6329a27c14eff2d1e487a5be67b3b8",
    ),
}


def table(name: str, content: bytes) -> str:
    """The table of that name as CSV, from the bytes of its original."""
    text = content.decode("utf-8")
    if name == "gajewski2025_wine_tree":
        return tree_nodes(json.loads(text))
    separator = ";" if name == "red_wine" else ","
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    return as_csv(rows)


def tree_nodes(model: dict) -> str:
    """The nodes of a single XGBoost tree, one a row; child -1 marks a leaf."""
    (tree,) = model["learner"]["gradient_booster"]["model"]["trees"]
    names = model["learner"]["feature_names"]
    base_score = model["learner"]["learner_model_param"]["base_score"]
    header = ("node", "left", "right", "feature", "threshold", "value", "cover", "base_score")
    rows = [
        (
            node,
            left,
            tree["right_children"][node],
            names[tree["split_indices"][node]] if left >= 0 else "",
            tree["split_conditions"][node] if left >= 0 else "",
            tree["base_weights"][node],
            tree["sum_hessian"][node],
            base_score,
        )
        for node, left in enumerate(tree["left_children"])
    ]
    return as_csv([header, *rows])


def as_csv(rows) -> str:
    """Rows with commas, quotes only where needed, and plain line ends."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def main(folder):
    """Write every table, compressed without a date, so that equal content is equal bytes."""
    for name, (file, sha256) in ORIGINALS.items():
        content = Path(folder, file).read_bytes()
        if hashlib.sha256(content).hexdigest() != sha256:
            sys.exit(f"{file} is not the original: its SHA-256 differs from the one in README.md")
        made = table(name, content).encode()
        (HERE / f"{name}.csv.gz").write_bytes(gzip.compress(made, 9, mtime=0))
        print(f"{hashlib.sha256(made).hexdigest()}  {name}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
