"""Models of every kind, fitted to drawn data: a converted model predicts as its library does."""

import drawn_models


def test_every_kind_is_converted_exactly(capsys):
    assert drawn_models.main(["--models", "2"]) == 0, capsys.readouterr().out
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("|")[1].strip() for line in lines] == [k.name for k in drawn_models.KINDS]
