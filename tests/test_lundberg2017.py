"""lundberg2017: what depends on the clock, without a clock."""

import pandas as pd
import pytest

from reproduction import claims, papers

speed = papers.artefact("lundberg2017/speed")


@pytest.mark.parametrize(("seconds", "verdict"), [(0.01, "within"), (3.0, "differs")])
def test_s05_is_judged_by_the_artefact_that_has_a_clock(seconds, verdict):
    row = {"part": "rows", "model": "xgboost", "method": "splitcredit, TreeSHAP", "rows": 1}
    peer = {**row, "method": "xgboost, pred_contribs", "value": 100.0}
    (found,) = speed.statements(pd.DataFrame([{**row, "value": seconds}, peer]))
    assert found["statement"] == "s05" and found["variant"] == "xgboost, 1 row(s)"
    assert claims.statement_verdict(found["value"], found["limit"], found["kind"]) == verdict


def test_speed_times_every_method_on_one_row_and_on_a_batch():
    table = speed.compute({}, trees=2, features=8, rows=20, repeats=1)
    rows = table[table["part"] == "rows"]
    assert set(rows["rows"]) == {1, 20} and (rows["value"] > 0).all()
    assert set(rows["method"].str.partition(",")[0]) == {
        "splitcredit",
        "xgboost",
        "lightgbm",
        "shap",
    }
    assert set(table[table["part"] == "exponent"]["sweep"]) == {"T", "D", "L"}
