"""Models of every kind, fitted to drawn data: a converted model predicts as its library does."""

import drawn_models
from forests import STORED
from reproduction import marked

PAGE = drawn_models.PAGE.read_text(encoding="utf-8")


def first_cells(lines):
    return [line.split("|")[1].strip() for line in lines]


def test_every_kind_on_the_page_of_models_is_converted_exactly(capsys):
    assert drawn_models.main(["--models", "2"]) == 0, capsys.readouterr().out
    on_page = marked.between(PAGE, "checks").splitlines()[2:]
    assert first_cells(capsys.readouterr().out.splitlines()) == first_cells(on_page)


def test_the_page_shows_every_release():
    on_page = marked.between(PAGE, "releases").splitlines()[2:]
    releases = {name.removeprefix("former/").partition(", ")[0] for name in STORED if "/" in name}
    assert set(first_cells(on_page)) == {release.replace("-", " ") for release in releases}
