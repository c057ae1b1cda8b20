"""Challenge files: the ready ones can be served, and what is wrong in one is said in one line."""

import datetime
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")

from navarena.core.errors import InputError
from navarena.scenes.catalog import scene_ids
from navarena.web.challenge.challenge_file import load_challenge
from navarena.web.challenge.example_files import FILE_NAME, list_examples, write_example
from navarena.web.challenge.live.hidden import hidden_scenes
from navarena.web.challenge.settings import PRESETS, Part, hash_rules, hash_settings, read_private_seed

pytestmark = pytest.mark.server

GOOD = """
name = "My Test"
[[phases]]
name = "minival"
protocol = "pointnav-v1"
split = "mini"
"""
PHASE = '\n[[phases]]\nname = "{}"\nprotocol = "pointnav-v1"\nsplit = "{}"\n'


def load(folder: Path, text: str) -> object:
    path = folder / "challenge.toml"
    path.write_text(text)
    return load_challenge(path)


@pytest.mark.parametrize("name", list_examples())
def test_ready_files_can_be_served(tmp_path: Path, name: str) -> None:
    path = write_example(tmp_path / "new", name)
    challenge = load_challenge(path)
    for phase in challenge.phases:
        assert phase.parts and phase.limits != load_challenge(path).phases[0].evaluation(phase.parts[0])
        if phase.is_hidden:
            seed = path.parent / str(phase.private_seed)
            assert seed.stat().st_mode & 0o077 == 0, "others could read the seed"
            assert read_private_seed(challenge, phase) > 10**20
    with pytest.raises(InputError, match="exists; choose another folder"):
        write_example(tmp_path / "new", name)


def test_private_seeds_differ(tmp_path: Path) -> None:
    seeds = set()
    for place in ("one", "two"):
        challenge = load_challenge(write_example(tmp_path / place, "multion"))
        seeds |= {read_private_seed(challenge, one) for one in challenge.phases if one.is_hidden}
    assert len(seeds) == 4


def test_the_apartments_end_on_twins_alone(tmp_path: Path) -> None:
    challenge = load_challenge(write_example(tmp_path, "apartments"))
    dev = [part.dataset for part in challenge.phase("test-dev").parts]
    assert dev == ["robothor-like-v1", "robothor-like-v1-twin"]
    assert challenge.phase("test-challenge").parts == (Part("robothor-like-v1-twin", ()),)


def test_presets(tmp_path: Path) -> None:
    phases = "".join(
        PHASE.format(name, split)
        for name, split in zip(PRESETS["2020"], ("mini", "val", "test"), strict=True)
    )
    limits = {}
    for preset in PRESETS:
        challenge = load(tmp_path, f'name = "x"\npreset = "{preset}"\n{phases}')
        limits[preset] = [
            (one.limits.per_day, one.limits.in_all, one.limits.seconds) for one in challenge.phases
        ]
    day = 24 * 3600.0
    assert limits == {
        "2020": [(30, None, day), (10, None, day), (None, 5, day)],
        "2021": [(100, None, 2 * day), (10, None, 2 * day), (None, 5, 2 * day)],
    }


def test_hashes_of_files(tmp_path: Path) -> None:
    one, again = load(tmp_path, GOOD), load(tmp_path, GOOD + "\n# a comment\n")
    renamed, other = load(tmp_path, GOOD + 'title = "x"\n'), load(tmp_path, GOOD + "episodes = 3\n")
    assert hash_settings(one) == hash_settings(again) != hash_settings(renamed)
    rules = [hash_rules(challenge.phases[0]) for challenge in (one, renamed, other)]
    assert rules[0] == rules[1] != rules[2]


def test_hidden_episodes_lie_in_the_scenes_of_the_protocols_split(tmp_path: Path) -> None:
    """Splits of GOAT-Bench are no splits of houses-v1: val_seen_mini has 4 of its houses."""
    (tmp_path / "1.seed").write_text("1")
    text = GOOD.replace("pointnav-v1", "goat-v1").replace('"mini"', '"val_seen_mini"') + HIDDEN
    text += 'rank_by = "subtask_success"\n'
    (phase,) = load(tmp_path, text).phases
    scenes = hidden_scenes(phase, "houses-v1")
    assert len(scenes) == 4 and set(scenes) < set(scene_ids("houses-v1", "val"))
    assert hidden_scenes(load(tmp_path, GOOD).phases[0], "houses-v1") == scene_ids("houses-v1", "mini")


SEED = 'private_seed = "x.seed"\n'
HIDDEN = 'accepts = ["live"]\nprivate_seed = "1.seed"\nper_scene = 1\n'
BAD = {
    "no TOML": ("name = ", "is no TOML"),
    "no phases": ('name = "x"\nphases = []\n', "expected each phase once and at least one, got none"),
    "a field of nobody": (GOOD + "colour = 1\n", "unknown field of a phase 'colour'"),
    "a quota of nobody": (GOOD + "quota = { per_dy = 1 }\n", "Did you mean 'per_day'"),
    "an unknown preset": ('preset = "2019"\n' + GOOD, "unknown preset '2019'"),
    "an unknown protocol": (GOOD.replace("pointnav-v1", "pointnav-v9"), "unknown protocol 'pointnav-v9'"),
    "an unknown split": (
        GOOD.replace("mini", "maxi", 2).replace("maxival", "minival"),
        "unknown split 'maxi'",
    ),
    "an unknown dataset": (
        GOOD + 'datasets = ["housess-v1"]\n',
        "unknown dataset 'housess-v1'. Did you mean 'houses-v1'?",
    ),
    "an unknown metric": (GOOD + 'rank_by = "spk"\n', "Did you mean 'spl'"),
    "a metric of others": (GOOD + 'rank_by = "ppl"\n', "unknown metric 'ppl'"),
    "a metric of tours": (GOOD + 'rank_by = "t_ndtw"\n', "which has no tours"),
    "a metric without a better end": (
        GOOD + 'rank_by = "num_actions"\n',
        "expected a metric to rank by of which more or less is better, got 'num_actions'",
    ),
    "unseen without a suite": (GOOD + 'rank_by = "unseen_mean:spl"\n', "expected a suite of corruptions"),
    "an unknown suite": (GOOD + 'suite = "x"\n', "unknown suite 'x'"),
    "a suite and more": (
        GOOD + 'suite = "all"\ncorruptions = ["spatter:5"]\n',
        "either suite or corruptions",
    ),
    "an unknown corruption": (GOOD + 'corruptions = ["x:5"]\n', "phase 'minival': unknown corruption"),
    "an unknown sensor": (GOOD + '[[tracks]]\nname = "a"\nsensors = ["rgbd"]\n', "track 'a': unknown sensor"),
    "an unknown kind": (GOOD + 'accepts = ["logs"]\n', "invalid enum value 'logs'"),
    "no kind": (GOOD + "accepts = []\n", "expected accepts to name"),
    "a name with a space": (GOOD.replace('"minival"', '"mini val"'), "small letters, digits and dashes"),
    "a phase twice": (GOOD + PHASE.format("minival", "val"), "expected each phase once"),
    "reversed times": (
        GOOD + "opens = 2026-02-01T00:00:00Z\ncloses = 2026-01-01T00:00:00Z\n",
        "expected it to open before it closes, got 2026-02-01",
    ),
    "a time without a zone": (GOOD + "opens = 2026-02-01T00:00:00\n", "2026-02-01T00:00:00Z for UTC"),
    "shown before it opens": (
        GOOD + 'board = "hidden"\nopens = 2026-02-01T00:00:00Z\nreveals = 2026-01-01T00:00:00Z\n',
        "expected the board to be shown after",
    ),
    "shown already": (GOOD + "reveals = 2026-02-01T00:00:00Z\n", 'expected board = "hidden"'),
    "overlapping phases": (GOOD + PHASE.format("again", "mini"), "'minival' and 'again', which overlap"),
    "overlapping phases by other names": (
        GOOD + PHASE.format("again", "mini") + 'datasets = ["houses-v1"]\n',
        "'minival' and 'again', which overlap",
    ),
    "more episodes of one split": (
        GOOD + PHASE.format("again", "mini") + "episodes = 3\n",
        "'minival' and 'again', which overlap",
    ),
    "one data set of two": (
        GOOD + PHASE.format("again", "mini") + 'datasets = ["houses-v1", "houses-v0"]\n',
        "'minival' and 'again', which overlap",
    ),
    "files of graphs elsewhere": (GOOD + 'scenes = "x"\n', "expected no scenes for pointnav-v1, got 'x'"),
    "hidden episodes by log": (GOOD + SEED + "per_scene = 1\n", "a log can only be made of episodes"),
    "no number of episodes": (GOOD + SEED + 'accepts = ["live"]\n', "with per_scene, got none"),
    "hidden episodes in no scenes": (
        GOOD.replace("pointnav-v1", "robustnav-pointnav-v1").replace('"mini"', '"val_seen"') + HIDDEN,
        "unknown split of robothor-like-v1 'val_seen'",
    ),
    "hidden paths in no scenes": (
        GOOD.replace("pointnav-v1", "r2r-ce-v1") + HIDDEN,
        "a set of scenes to draw",
    ),
    "no seed": (GOOD + SEED + 'accepts = ["live"]\nper_scene = 1\n', "x.seed does not exist"),
    "per_scene of nobody": (GOOD + "per_scene = 1\n", "expected private_seed beside per_scene"),
    "no episodes": (GOOD + "episodes = 0\n", "expected episodes of at least 1, got 0"),
    "endless time": (GOOD + "step_seconds = inf\n", "step_seconds of at most 1,000,000,000, got inf"),
    "a data set twice": (GOOD + 'datasets = ["houses-v1", "houses-v1"]\n', "expected each of datasets once"),
    "no time": (GOOD + "grace_seconds = 0.0\n", "expected positive grace_seconds"),
    "a folder": ('folder = "x"\n' + GOOD, "unknown field of a challenge 'folder'"),
    "a folder of a phase": (GOOD + 'folder = "x"\n', "unknown field of a phase 'folder'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_in_one_line(tmp_path: Path, name: str) -> None:
    text, message = BAD[name]
    (tmp_path / "1.seed").write_text("1")
    with pytest.raises(InputError) as caught:
        load(tmp_path, text)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_a_seed_that_is_none_is_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "x.seed").write_text("secret words")
    with pytest.raises(InputError, match="expected one number") as caught:
        load(tmp_path, GOOD + SEED + 'accepts = ["live"]\nper_scene = 1\n')
    assert "secret" not in str(caught.value)


def test_phases_may_follow_each_other_on_the_same_episodes(tmp_path: Path) -> None:
    first = GOOD + "closes = 2026-02-01T00:00:00Z\n"
    challenge = load(tmp_path, first + PHASE.format("again", "mini") + "opens = 2026-02-01T00:00:00Z\n")
    change = datetime.datetime(2026, 2, 1, tzinfo=datetime.UTC)
    before = change - datetime.timedelta(seconds=1)
    assert [one.is_open(before) for one in challenge.phases] == [True, False]
    assert [one.is_open(change) for one in challenge.phases] == [False, True]


def test_files_that_are_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{FILE_NAME} does not exist"):
        load_challenge(tmp_path / FILE_NAME)
