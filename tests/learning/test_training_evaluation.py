"""Evaluation during training: held-out houses, the best and earlier checkpoints, the same after a resume."""

import errno
import json
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from navarena.core.errors import InputError, StorageError, UnknownNameError  # noqa: E402
from navarena.learning.checkpoints.files import INFO, MODEL  # noqa: E402
from navarena.learning.checkpoints.policies import BEST, earlier_folders, load_policy, read_info  # noqa: E402
from navarena.learning.checkpoints.selection import (  # noqa: E402
    CurvePoint,
    Score,
    TrainingEvaluationSettings,
    choose_best,
)
from navarena.learning.recipes.catalog import RECIPES  # noqa: E402
from navarena.learning.trainings.evaluation import split_houses  # noqa: E402
from navarena.learning.trainings.log import LOG  # noqa: E402
from navarena.learning.trainings.training import Training  # noqa: E402

from .rooms import WATCHED, train_in_rooms  # noqa: E402
from .test_recipes import mini  # noqa: E402

pytestmark = pytest.mark.learn


def point(frames, success, spl=0.0):
    scores = {"success": Score(success, None, None), "spl": Score(spl, None, None)}
    return CurvePoint(frames, frames // 64, 1.0, 3, scores)


def test_best_is_the_largest_and_of_equals_the_later():
    curve = [point(64, 0.5, 0.4), point(128, 0.7, 0.1), point(192, 0.7, 0.2), point(256, 0.6)]
    assert choose_best(curve, "success").frames == 192 and choose_best(curve, "spl").frames == 64
    with pytest.raises(UnknownNameError, match="success"):
        choose_best(curve, "succes")
    with pytest.raises(InputError, match="evaluation.updates"):
        choose_best([], "success")


def test_at_most_a_quarter_of_the_houses_is_held_out():
    houses = tuple("abcdefgh")
    assert split_houses(houses, 1) == (tuple("abcdefg"), ("h",))
    assert split_houses(houses, 5) == (tuple("abcdef"), tuple("gh"))
    assert split_houses(houses[:3], 5) == (tuple("abc"), ())
    assert split_houses(houses, 0) == (houses, ())


@pytest.mark.parametrize("wrong", [{"updates": -1}, {"houses": 0}, {"episodes": 0}, {"keep": -1}])
def test_settings_are_checked(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        TrainingEvaluationSettings(**wrong)


def test_held_out_houses_are_evaluated_and_not_learned_in(tmp_path):
    training = train_in_rooms(tmp_path)
    seen = set()
    start = training._batch.start

    def note(slots, episodes):
        seen.update(one.scene_id for one in episodes)
        return start(slots, episodes)

    training._batch.start = note
    training.run()
    assert seen and seen <= {f"room-{room}" for room in range(6)}
    played = {one.scene_id for one in training._evaluation._episodes}
    assert played == {"room-6", "room-7"} and len(training._evaluation._episodes) == 3
    rows = [json.loads(line) for line in (tmp_path / LOG).read_text().splitlines()]
    assert [row["kind"] for row in rows] == ["training", "evaluation"] * 4
    watched = rows[1::2]
    assert [row["frames"] for row in watched] == [64, 128, 192, 256] and watched[0]["n"] == 3
    assert all(row["success_low"] <= row["success"] <= row["success_high"] for row in watched)
    assert rows[2]["share_evaluation"] > 0
    info = read_info(tmp_path)
    assert [one.row() for one in info.curve] == watched
    assert info.seeds == {"training": 0} and info.cpu_seconds > 0 and info.selection == "train"
    assert list(earlier_folders(tmp_path)) == [192, 256]
    best = choose_best(info.curve, "success")
    assert load_policy(tmp_path / BEST)[0].frames == best.frames
    for frames, folder in earlier_folders(tmp_path).items():
        assert load_policy(folder)[0].curve[-1].frames == frames
    same = (tmp_path / "earlier" / "256" / MODEL).read_bytes()
    assert same == (tmp_path / MODEL).read_bytes(), "the last one was evaluated, too"


def test_a_resumed_training_is_evaluated_alike(tmp_path):
    def curve(folder):
        return [(one.frames, one.scores) for one in read_info(folder).curve]

    train_in_rooms(tmp_path / "whole").run()
    stopped, rows = train_in_rooms(tmp_path / "stopped"), []

    def stop(row):
        rows.append(row)
        if len(rows) == 5:  # after the third update, whose evaluation has not begun
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped.run(stop)
    train_in_rooms(tmp_path / "stopped").run()
    assert curve(tmp_path / "stopped") == curve(tmp_path / "whole")
    for name in ("", BEST, "earlier/192", "earlier/256"):
        ours, theirs = (tmp_path / one / name / MODEL for one in ("stopped", "whole"))
        assert ours.read_bytes() == theirs.read_bytes()


def test_evaluations_do_not_change_what_is_learned(tmp_path):
    quiet = replace(WATCHED, evaluation=replace(WATCHED.evaluation, updates=4, episodes=1))
    train_in_rooms(tmp_path / "often").run()
    train_in_rooms(tmp_path / "once", quiet).run()
    assert (tmp_path / "often" / MODEL).read_bytes() == (tmp_path / "once" / MODEL).read_bytes()


def test_few_houses_are_all_learned_in(tmp_path, caplog):
    train_in_rooms(tmp_path, rooms=3).run()
    assert "nothing is evaluated: 3 houses" in caplog.text and not (tmp_path / BEST).exists()


def test_metrics_that_are_no_scores_do_not_select(tmp_path):
    with pytest.raises(UnknownNameError, match="metric of evaluations"):
        train_in_rooms(tmp_path, by="distance_to_goal")


def test_a_full_disk_leaves_the_last_good_checkpoint(tmp_path, monkeypatch):
    """Whichever file does not fit any more: what was there loads, and the training goes on from it."""
    recipe = replace(WATCHED, save_updates=1, frames=64 * 2)
    train_in_rooms(tmp_path / "whole", recipe, updates=2).run()
    write = Path.write_bytes
    for name in ("resume.pt", MODEL, INFO):
        training = train_in_rooms(tmp_path / name, recipe, updates=2)
        training.advance()
        training._save()
        before = {one.name: one.read_bytes() for one in (tmp_path / name).iterdir() if one.is_file()}
        training.advance()

        def refuse(self, data, name=name):
            if self.name.startswith(f".{name}."):
                raise OSError(errno.ENOSPC, "No space left on device")
            return write(self, data)

        monkeypatch.setattr(Path, "write_bytes", refuse)
        with pytest.raises(StorageError, match="free some space"):
            training._save()
        monkeypatch.undo()
        assert before == {one.name: one.read_bytes() for one in (tmp_path / name).iterdir() if one.is_file()}
        assert load_policy(tmp_path / name)[0].frames == 64
        train_in_rooms(tmp_path / name, recipe, updates=2).run()
        assert (tmp_path / name / MODEL).read_bytes() == (tmp_path / "whole" / MODEL).read_bytes()


def test_selection_as_in_papers_needs_val_before_anything_is_learned(tmp_path):
    """Routes have val_seen and val_unseen instead."""
    watch = TrainingEvaluationSettings(updates=200, selection="paper")
    with pytest.raises(InputError, match="unknown split of r2r-houses-v1 'val'"):
        Training(replace(mini(RECIPES.get("tour-cma-small"), slots=2), evaluation=watch), tmp_path)


def test_selection_as_in_papers_plays_val_and_says_so(tmp_path):
    training = train_in_rooms(tmp_path, selection="paper", updates=4, episodes=2)
    training.run()
    played = [one.scene_id for one in training._evaluation._episodes]
    assert len(played) == 2 and all(one.startswith("houses-v1/val/") for one in played)
    info = read_info(tmp_path / BEST)
    assert info.selection == "paper" and info.trained_with == ("selection on val",)
    assert set(training._samplers[0].houses) == {f"room-{room}" for room in range(8)}, "none is held out"
