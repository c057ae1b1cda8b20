import pytest

from navarena.core.errors import SceneError
from navarena.scenes.houses.appearance.finishes import STYLES, Look
from navarena.scenes.houses.furniture.families import split_entries
from navarena.scenes.houses.furniture.room_style import RoomStyle
from navarena.scenes.houses.furniture.rows import Body, split_fields
from navarena.scenes.houses.random_draws import Draws
from navarena.scenes.houses.solids.models import Model


def room(*name: str | int) -> RoomStyle:
    return RoomStyle(Draws(*name), STYLES["scandinavian"], Look("wood", "oak"), "navy", "red", "steel", 3000)


def evaluate(source: str, seed: int = 0, **names: object) -> object:
    scope = {**room("value", seed).names, "given": frozenset(names)}
    exec(Body("", (f"value = {source}",), {}).code, scope, names)
    return names["value"]


def draw(*rows: str, seed: int = 0, **given: int) -> Model:
    bodies: dict[str, Body] = {}
    for name, body in (("plate", ("look = steel; shape = 'flat'", "box look width 10 width")), ("own", rows)):
        bodies[name] = Body(name, body, bodies)
    return bodies["own"].draw(room("draw", seed), False, given)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("7/2", 3),
        ("-7/2", -4),
        ("width/2-30", 170),
        ("min(width,300)", 300),
        ('"{width/4} parts"', "100 parts"),
        ("metal:steel", Look("metal", "steel")),
        ("paper_dots:sky_blue", Look("paper dots", "sky blue")),
        ("fabric:textile", Look("fabric", "navy")),
        ("metal", Look("metal", "steel")),
        ("120 if width > 300 else 40", 120),
    ],
)
def test_expressions_without_draws(source, value):
    assert evaluate(source, width=400) == value


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("260..320/20", {260, 280, 300, 320}),
        ("2..4", {2, 3, 4}),
        ("each-10..20/10", {80, 90}),
        ("40%", {True, False}),
        ('"slats" | "panel" | "padded"', {"slats", "panel", "padded"}),
        ("glass/metal:white", {Look("glass", "white"), Look("metal", "white")}),
        (
            "steel | plastic:black/red",
            {Look("metal", "steel"), Look("plastic", "black"), Look("plastic", "red")},
        ),
    ],
)
def test_expressions_with_draws(source, values):
    assert {evaluate(source, seed, each=100) for seed in range(60)} == values


def test_unknown_finishes_and_colors_are_errors():
    with pytest.raises(SceneError, match=r"metall.*metal"):
        evaluate("metall:red")
    with pytest.raises(SceneError, match=r"sky blu.*sky blue"):
        evaluate("metal:sky_blu")


def test_rows_place_parts_in_their_order():
    model = draw(
        "look = steel; shape = 'row'",
        "for k in 2: box look 10 20 30 100*k 0 5",
        "rod look 8 40 8 ±50 20 0",
        "if width > 3:",
        "    box look width 2 2",
        "else: box look 1 1 1",
        width=4,
    )
    assert [part.at for part in model.parts] == [(0, 0, 5), (100, 0, 5), (-50, 20, 0), (50, 20, 0), (0, 0, 0)]
    assert model.parts[-1].size == (4, 2, 2)
    assert model.attributes["shape"] == "row" and model.attributes["material"] == "metal"


def test_names_that_are_given_are_not_drawn():
    rows = ("width = 100..900", "as plate")
    assert draw(*rows, width=60).parts[0].size == (60, 10, 60)
    assert 100 <= draw(*rows).parts[0].size[0] <= 900
    again = draw("look = wood; width = 70; as plate")
    assert again.parts[0].size == (70, 10, 70) and again.parts[0].look == Look("wood", "oak")


def test_fields_are_split_at_blanks_outside_of_brackets():
    assert split_fields('box  (a | b)  1 f(2, 3) "x y"') == ["box", "(a | b)", "1", "f(2, 3)", '"x y"']


@pytest.mark.parametrize("row", ["box look 1 2", "else: box look 1 2 3", "look = ", "look = (", "as nothing"])
def test_rows_that_cannot_be_read_name_their_place(row):
    body = Body("mine.txt, line 7", [row], {})
    with pytest.raises(SceneError, match=r"mine\.txt, line 7"):
        body.code  # noqa: B018


def test_entries_know_their_lines():
    entries = list(split_entries("a.txt", ["# first", "one: floor", "    x = 1", "", "two: top"]))
    assert entries == [("a.txt, line 2", "one: floor", ["x = 1"]), ("a.txt, line 5", "two: top", [])]
