"""Wrong flags: one line that names what is wrong and the nearest right one."""

import pytest

from navarena.cli.main import main


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate"], "expected PROTOCOL Protocol id, such as pointnav-v1;"),
        (["evaluate", "pointnav-v1", "--agnt", "expert"], "Did you mean '--agent'?"),
        (["evaluate", "pointnav-v1", "--agnt=expert"], "unknown flag of `navarena evaluate` '--agnt'."),
        (["evaluate", "pointnav-v1", "more"], "unexpected more;"),
        (["evaluate", "pointnav-v1", "--workers"], "missing value for argument '--workers'."),
        (["evaluate", "pointnav-v1", "--seed", "two"], "--seed: invalid literal for int()"),
        (["evaluate", "pointnav-v1", "--episodes", "x"], "INT could be instantiated from ['x'];"),
        (["scene", "info", "house.glb", "--scale", "big"], "could not convert string to float: 'big'"),
        (["scene", "info", "house.glb", "--up", "-z"], "--flag=-value"),
        (["list", "agent"], "unknown kind of names 'agent'. Did you mean 'agents'?"),
        (["bench", "sped"], "Expected one of ('render', 'images',"),
    ],
)
def test_wrong_flags(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    assert captured.err.startswith("error: ") and message in captured.err
    assert not set("─│╭╮╰╯") & set(captured.err) and "---" not in captured.err
