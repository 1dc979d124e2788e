"""What the pages say of the papers' results are numbers of the reference run."""

import re
from pathlib import Path

import pytest

from reproduction.report.numbers import Numbers

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
AREA = (
    'cell("lundberg2017/figure4", mode="in_sample", labels="permuted", linkage="average", '
    'outcome="label", statistic="area", versus="", dataset="{}", clustered="{}") | digits(2)'
)
ERROR = (
    '("gajewski2025/equal_time", part="nmae", model="bigger", method="{}", '
    'comparison="our clock, {}") | digits({})'
)
CHANGED = (
    '("gajewski2025/arithmetic", model="single", arithmetic="single", sigma="0.1", '
    'quantity="order", k={}) | percent'
)
LOST = 'cell("lundberg2017/algorithms", part="lost", method="shap", rows="{}") | digits'
TABLE1 = 'cell("loecher2022/table1", variant="described", score="pg_hat_oob(1,0)") | digits(2)'
NULL_CASE = (
    'cell("loecher2022/figure6", variant="published", coding="numbers", case="null case", '
    'feature="x1", importance="{}") | digits(2)'
)
AGE = 'cell("loecher2022/depth", quantity="mean |{0}|", feature="Age", other="Pclass", depth="{1}")'
BELOW_CLASS = (
    "(" + AGE.replace("{1}", "1.0") + " / " + AGE.replace("{1}", "0.0") + ") | digits({1})"
)
SHARE = (
    'mean("sutera2021/disagreement", by="n", part="class", dataset="{}", fit="plain", '
    'versus="tree_shap", reference="{}") | digits(1)'
)
AREA_IN_PERCENT = AREA.replace("digits(2)", "percent")
OUT_OF_FOLD = [
    AREA.replace("in_sample", "out_of_fold").format(name, "tree_shap")
    for name in ("gene_modules", "ad_data")
]
SETS = ("digits", "wine", "iris", "breast_cancer")
PERMUTED = (
    SHARE.replace('fit="plain"', 'fit="permuted"')
    .replace('dataset="{}"', 'dataset="iris"')
    .replace('versus="tree_shap"', 'versus="{}"')
)
OBSERVED = AREA.replace("in_sample", "out_of_fold").replace("permuted", "observed")
CLUSTERED = ("tree_shap", "saabas", "unsupervised", "random_features")


EQUAL_TIME, SHARED = "closest of the 13 counts, fresh noise", "any count, shared noise"
# Sentence with the least and the largest error -> method, comparison, digits behind the point.
ERRORS_ON_THE_PAGE = {
    "its error is then {} to {} (Monte Carlo)": ("mc", EQUAL_TIME, 2),
    "and {} to {} (quasi-Monte Carlo)": ("halton", EQUAL_TIME, 2),
    "shared by all pairs, it is {} to {} and": ("mc", SHARED, 2),
    "and {} to {} on an AMD EPYC": ("halton", SHARED, 3),
}


def numbers_of_the_reference_run():
    files = [p for place in ("", "timing/") for p in REFERENCE.glob(f"{place}tables/*/*.csv")]
    return Numbers({f"{p.parent.name}/{p.stem}": p for p in files}, [], {})


def areas(dataset):
    return [AREA.format(dataset, clustered) for clustered in CLUSTERED]


def errors(method, comparison, after_point):
    numbers = ERROR.format(method, comparison, after_point)
    return [f"least{numbers}", f"most{numbers}"]


def last_places():
    """Shares of the last places of a ranking are those of whole rankings."""
    return [f"{function}{CHANGED.format(['8', '11', '17'])}" for function in ("least", "most")]


NEEDED = 'cell("gajewski2025/arithmetic", dataset="all", arithmetic="{}") | digits'


def of_worst_rows(column):
    """The least of a share of single rows, over noises, of greedy rankings for the same noise."""
    where = (
        f'least("gajewski2025/table3", column="{column}", variant="saved_models", '
        f'sigma_metric="{sigma}", ranking="greedy_sigma{sigma}")'
        for sigma in (0.1, 0.3, 1.0)
    )
    return f"[{', '.join(where)}] | min | percent"


@pytest.mark.parametrize(
    ("page", "sentence", "numbers"),
    [
        (
            "README.md",
            "SHAP values explain {} % of the variance on simulated data, and random groups {} %",
            [AREA_IN_PERCENT.format("gene_modules", name) for name in (CLUSTERED[0], CLUSTERED[3])],
        ),
        (
            "docs/results.md",
            "SHAP {}, path {}, unsupervised {} and random {}",
            areas("gene_modules"),
        ),
        ("docs/results.md", "and {}, {}, {} and {} on real proteins", areas("ad_data")),
        ("docs/results.md", "have not seen the row, SHAP has {} and {}", OUT_OF_FOLD),
        (
            "docs/results.md",
            "SHAP clusters then have {} and {}, and unsupervised ones {} and {}",
            [
                OBSERVED.format(dataset, clustered)
                for clustered in (CLUSTERED[0], CLUSTERED[2])
                for dataset in ("gene_modules", "ad_data")
            ],
        ),
        (
            "README.md",
            "SHAP clusters still explain {} % on real proteins, and unsupervised ones {} %",
            [
                OBSERVED.replace("digits(2)", "percent").format("ad_data", CLUSTERED[k])
                for k in (0, 2)
            ],
        ),
        *(
            ("docs/results.md", sentence, errors(*sampled))
            for sentence, sampled in ERRORS_ON_THE_PAGE.items()
        ),
        (
            "docs/results.md",
            "the worst has {} %, the 5 % quantile is at least {} %, and at least {} % of the rows",
            [of_worst_rows(column) for column in ("least", "quantile5", "optimal")],
        ),
        (
            "docs/results.md",
            "and {} others do so in double precision with ties in the order of the columns; {} "
            "need the authors' single precision, and {} also their order",
            [NEEDED.format(name) for name in ("double", "single", "single, recorded order")],
        ),
        ("README.md", "double precision changes {} to {} % of", last_places()),
        ("docs/results.md", "double precision changes {} to {} % of", last_places()),
        (
            "docs/results.md",
            "has {}, {}, {} and {} % below a correlation of .75 (digits, wine, iris, breast "
            "cancer). The predicted class's own term of the entropy, −p log p along the same "
            "paths, has {}, {}, {} and {} %. Its entropy against the rest has {}, {} and {} %",
            [
                *(SHARE.format(name, "local_mdi") for name in SETS),
                *(SHARE.format(name, "own_term") for name in SETS),
                *(SHARE.format(name, "class_entropy") for name in SETS[:3]),
            ],
        ),
        (
            "docs/results.md",
            "on wine the first term leaves none, the second {} %, and all classes {} %",
            [SHARE.format("wine", name) for name in ("gini_product", "gini")],
        ),
        (
            "docs/results.md",
            "on permuted labels as well (iris {} to {} %)",
            [PERMUTED.format("tree_shap", name) for name in ("local_mdi", "log_loss")],
        ),
        (
            "docs/results.md",
            "against Saabas ({} to {} %) and not against TreeSHAP ({} to {} %)",
            [
                PERMUTED.format(versus, name)
                for versus in ("saabas", "tree_shap")
                for name in ("local_mdi", "unfolded_entropy")
            ],
        ),
        (
            "docs/results.md",
            "into a fall {}, {}, {} and 0 % are left",
            [SHARE.format(name, "unfolded_entropy") for name in ("digits", "wine", "iris")],
        ),
        (
            "README.md",
            "local MDI has {} % of the wine samples below a correlation of .75, the predicted "
            "class's own term of the entropy {} %, and its entropy against the rest {} %.",
            [SHARE.format("wine", name) for name in ("local_mdi", "own_term", "class_entropy")],
        ),
        (
            "docs/results.md",
            "gone at depth {} in the row that takes the whole chain and at {} in rows that pass "
            "nine of ten tests",
            [LOST.format("whole chain"), LOST.format("passes 9 of 10 tests")],
        ),
        (
            "docs/results.md",
            "in table 1 an area under the ROC curve of {} where .66 is printed",
            [TABLE1],
        ),
        (
            "docs/results.md",
            "a mean of {} for the continuous feature of the null case, in place of {}",
            [NULL_CASE.format(name) for name in ("pg_hat_10_all_splits", "pg_hat_10")],
        ),
        (
            "docs/measures/saabas.md",
            "gives it {} times as much as the other; by TreeSHAP it gets {} times as much",
            [BELOW_CLASS.format("CFC", 0), BELOW_CLASS.format("SHAP", 1)],
        ),
    ],
)
def test_findings_of_a_page_are_numbers_of_the_reference_run(page, sentence, numbers):
    run = numbers_of_the_reference_run()
    filled = [run.fill(f"{{{{ {number} }}}}").removesuffix(" %") for number in numbers]
    said = sentence.format(*(re.sub(r"^0\.", ".", number) for number in filled))
    assert said in " ".join((ROOT / page).read_text().split())
