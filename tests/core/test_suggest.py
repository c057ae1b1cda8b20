"""Unknown names: nearest choice, list, literal messages."""

import pytest

from navarena.core.errors import UnknownNameError
from navarena.core.suggest import MAX_LISTED, describe_choices, require_name, unknown_name


@pytest.mark.parametrize(
    ("name", "known", "message"),
    [
        ("goto-v2", ["goto-v1"], "unknown protocol 'goto-v2'. Did you mean 'goto-v1'? Known: goto-v1."),
        ("xyz", ["b", "a"], "unknown protocol 'xyz'. Known: a, b."),
        ("a", [], "unknown protocol 'a'. Known: none is registered."),
    ],
)
def test_messages(name: str, known: list[str], message: str) -> None:
    assert str(unknown_name("protocol", name, known)) == message


def test_long_lists_are_cut() -> None:
    names = [f"n{i:02d}" for i in range(MAX_LISTED + 8)]
    text = describe_choices(names)
    assert text.startswith("n00, n01") and text.endswith("n11, ... (20 in all)")


def test_require_name() -> None:
    assert require_name("agent", "expert", ["expert"]) == "expert"
    with pytest.raises(UnknownNameError, match="Did you mean 'expert'"):
        require_name("agent", "exprt", iter(["expert", "random"]))
