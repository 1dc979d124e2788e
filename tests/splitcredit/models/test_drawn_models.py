"""Models of every kind, fitted to drawn data: a converted model predicts as its library does."""

from dataclasses import replace

import drawn_models
from reproduction import marked
from splitcredit import to_forest

PAGE = drawn_models.PAGE.read_text(encoding="utf-8")


def first_cells(lines):
    return [line.split("|")[1].strip() for line in lines]


def test_every_kind_on_the_page_of_models_is_converted_exactly(capsys):
    assert drawn_models.main(["--models", "2"]) == 0, capsys.readouterr().out
    on_page = marked.between(PAGE, "checks").splitlines()[2:]
    assert first_cells(capsys.readouterr().out.splitlines()) == first_cells(on_page)


def test_a_model_that_is_converted_wrongly_is_named(monkeypatch, capsys):
    name = "sklearn, trees and forests"

    def moved(model):
        forest = to_forest(model)
        return replace(forest, value=forest.value + 1e-9)

    monkeypatch.setattr(drawn_models, "to_forest", moved)
    assert drawn_models.main(["--models", "2", "--only", name]) == 1
    printed = capsys.readouterr().out
    assert all(f"above its bound: {name}, number {number}: " in printed for number in (0, 1))


def test_the_page_shows_every_release():
    on_page = marked.between(PAGE, "releases").splitlines()[2:]
    assert first_cells(drawn_models.releases()) == first_cells(on_page)
