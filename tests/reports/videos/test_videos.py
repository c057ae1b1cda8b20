"""Which episodes are recorded, and what stands on the frames."""

from dataclasses import replace

import av
import numpy as np
import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.episodes.catalog import load_episodes
from navarena.episodes.episode import Episode, PointGoal
from navarena.episodes.goals import (
    GoalImage,
    InstructionGoal,
    LifelongGoal,
    MultiGoal,
    ObjectGoal,
    ObjectInstance,
    Subtask,
)
from navarena.evaluation.benchmark import TaskSetup
from navarena.evaluation.records.journal import Row
from navarena.metrics.failures import FailureClass
from navarena.metrics.trajectory import Trajectory
from navarena.reports.plan_view import view_walk
from navarena.reports.runs import KINDS, choose_videos
from navarena.reports.videos import VideoSettings
from navarena.reports.videos.frame import (
    FAR,
    GAP,
    NEAR,
    NOTHING,
    GoalCaption,
    Moment,
    compose,
    current_goal,
    fit_image,
    lay_out,
    paint_classes,
    paint_depth,
    show_goals,
)
from navarena.reports.videos.map_panel import BODY, GOAL, HIT, SHORTEST, MapPanel, choose_part
from navarena.reports.videos.video import VideoSetup, add_camera, find_sensors, video_camera
from navarena.reports.videos.video_file import open_video
from navarena.simulation.body import Camera, Embodiment
from reports.corridor_plan import make_plan


def make_row(number, spl, distance):
    return Row(
        identity="p@d/s#0",
        episode_id=f"e{number}",
        scene_id="s",
        status="ok",
        steps=1,
        start_distance=distance,
        actions=[0],
        metrics={"success": float(spl > 0), "spl": spl},
    )


ROWS = [
    make_row(0, 0.9, 3.0),
    make_row(1, 0.0, 9.0),
    make_row(2, 0.5, 1.0),
    make_row(3, 0.0, 2.0),
    make_row(4, 0.0, 5.0),
]
CLASSES = {"e1": FailureClass.STUCK, "e3": FailureClass.STUCK, "e4": FailureClass.FALSE_STOP}


def chosen(count, *kinds, classes=CLASSES):
    return [
        (kind, row.episode_id) for kind, row in choose_videos(ROWS, count, kinds, "success", "spl", classes)
    ]


def test_the_best_and_the_worst():
    assert chosen(9, "best") == [("best", "e0"), ("best", "e2")]
    assert chosen(9, "worst") == [("worst", name) for name in ("e3", "e4", "e1", "e2", "e0")]


def test_failures_of_each_class_in_turn_the_easiest_first():
    stuck, stop = "went to and fro, or against obstacles", "called STOP where the goal was not"
    assert chosen(2, "failures") == [(stop, "e4"), (stuck, "e3")]
    assert chosen(9, "failures") == [(stop, "e4"), (stuck, "e3"), (stuck, "e1")]
    assert chosen(9, "failures", classes=None) == [("failure", name) for name in ("e3", "e4", "e1")]


def test_random_ones_are_the_same_every_time():
    assert chosen(3, "random") == chosen(3, "random")
    assert {name for _, name in chosen(9, "random")} == {row.episode_id for row in ROWS}


def test_kinds_take_turns_and_no_episode_comes_twice():
    assert chosen(3, "best", "worst") == [("best", "e0"), ("worst", "e3"), ("best", "e2")]
    assert sorted(name for _, name in chosen(99, *KINDS)) == [row.episode_id for row in ROWS]
    assert chosen(0, *KINDS) == []
    with pytest.raises(UnknownNameError, match="worst"):
        chosen(1, "wrst")


def make_episode(goal):
    return Episode("e", "s", (0.0, 0.0, 0.0), 0.0, goal, 1.0)


def test_goals_in_words():
    chair = ObjectInstance("1", "chair", (1.0, 0.0, 1.0))
    image = GoalImage((0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0), 1.0, 512, 512)
    lifelong = LifelongGoal(
        (
            Subtask("object", "chair", (chair,)),
            Subtask("description", "chair", (chair,), "the chair by the window"),
            Subtask("image", "chair", (chair,), image=image),
        )
    )
    assert show_goals(make_episode(PointGoal((1.0, 0.0, 1.0)))) == (GoalCaption("the marked point"),)
    assert show_goals(make_episode(ObjectGoal("chair"))) == (GoalCaption("any chair"),)
    assert show_goals(make_episode(InstructionGoal("Go.", ((0.0, 0.0, 0.0),)))) == (GoalCaption("Go."),)
    assert [goal.place for goal in show_goals(make_episode(MultiGoal((chair, chair))))] == [
        "goal 1 of 2",
        "goal 2 of 2",
    ]
    assert show_goals(make_episode(lifelong)) == (
        GoalCaption("any chair", None, "goal 1 of 3"),
        GoalCaption("the chair by the window", None, "goal 2 of 3"),
        GoalCaption("this chair", image, "goal 3 of 3"),
    )


def walk():
    """Three steps east along the corridor, the second against something."""
    return Trajectory(
        positions=np.array([[2.0, 0, 0], [4.0, 0, 0], [4.0, 0, 0], [8.0, 0, 0]]),
        yaws=np.full(4, -np.pi / 2),
        actions=np.array([1, 1, 1]),
        collided=np.array([False, True, False]),
        distance_to_goal=np.array([10.0, 8.0, 8.0, 4.0]),
        start_distance=10.0,
        stopped=False,
        success_distance=0.5,
    )


class Passing(Trajectory):
    """Two goals are done with, after 2 and 5 actions."""

    @property
    def goal_end_steps(self):
        return np.array([2, 5])


def test_the_current_goal_follows_what_was_passed():
    track = Passing(**{name: getattr(walk(), name) for name in walk().__dataclass_fields__})
    assert [current_goal(track, pose, 3) for pose in (0, 1, 2, 4, 5, 9)] == [0, 0, 1, 1, 2, 2]
    assert current_goal(track, 9, 2) == 1
    assert current_goal(walk(), 3, 1) == 0


def count_near(frame, color):
    """Pixels of about a colour."""
    return int((np.abs(frame.astype(int) - color).max(2) < 40).sum())


def test_the_map_grows_with_the_walk():
    episode = make_episode(PointGoal((12.0, 0.0, 0.0)))
    panel = MapPanel(view_walk(make_plan("s"), episode, walk().positions), walk(), 400, 120)
    first, second, last = panel.draw(0), panel.draw(1), panel.draw(3)
    for frame in (first, second, last):
        assert frame.shape == (120, 400, 3) and frame.dtype == np.uint8
        assert count_near(frame, BODY) > 40 and count_near(frame, GOAL) > 20
    assert count_near(first, SHORTEST) > count_near(last, SHORTEST)  # the walk lies on the shortest path
    assert count_near(second, HIT) == 0 and count_near(last, HIT) > 5
    east = [np.argwhere(np.abs(one.astype(int) - BODY).max(2) < 30)[:, 1].mean() for one in (first, second)]
    scale = (east[1] - east[0]) / 2.0
    assert 10 < scale < 40  # pixels for a metre
    assert np.array_equal(panel.draw(3), last)


def test_the_map_is_turned_where_it_then_fills_its_panel():
    """A corridor along x: in an upright panel it runs downwards, as large as across a wide one."""
    episode = make_episode(PointGoal((12.0, 0.0, 0.0)))
    places = []
    for width, height in ((400, 120), (120, 400)):
        panel = MapPanel(view_walk(make_plan("s"), episode, walk().positions), walk(), width, height)
        frames = panel.draw(0), panel.draw(1)
        places.append([np.argwhere(np.abs(one.astype(int) - BODY).max(2) < 30).mean(0) for one in frames])
    (wide_first, wide_second), (tall_first, tall_second) = places
    east, down = wide_second - wide_first, tall_second - tall_first  # rows, columns
    assert east[1] > 20 and abs(east[0]) < 2
    assert down[0] == pytest.approx(-east[1], abs=2) and abs(down[1]) < 2


def test_a_map_shows_the_walk_and_fills_its_panel():
    """A walk of 8 by 1 m in a window of 12 x 10 m, in a panel of 240 x 80: 11 x 4 m with what is near."""
    walked, window = np.array([[2.0, 4.0], [10.0, 5.0]]), np.array([[0.0, 0.0], [12.0, 10.0]])
    scale, corner = choose_part(walked, window, np.array([240.0, 80.0]))
    assert scale == 20.0  # 80 pixels / 4 m would be 20; 240 / 11 more
    assert corner == pytest.approx([0.0, 2.5])  # 12 x 4 m are shown
    scale, corner = choose_part(walked, window, np.array([100.0, 100.0]))
    assert scale == pytest.approx(100 / 11) and corner == pytest.approx([0.5, -0.5])
    scale, corner = choose_part(walked[:1], window, np.array([240.0, 80.0]))
    assert scale == 20.0 and corner == pytest.approx([0.0, 2.0])  # not larger than fills one side


def test_depth_runs_from_light_to_dark_and_holes_stand_out():
    depth = np.array([[1e-6, 5.0, 10.0, 0.0, 20.0]])
    painted = paint_depth(depth, 10.0)[0]
    assert np.abs(painted[[0, 2, 3, 4]].astype(int) - [NEAR, FAR, NOTHING, FAR]).max() <= 1
    assert np.abs(painted[1].astype(int) - (np.array(NEAR) + FAR) / 2).max() <= 1


def test_classes_have_colours_of_their_own():
    colors = paint_classes(np.arange(200)[None])[0]
    assert len({tuple(color) for color in colors.tolist()}) == 200


def test_images_fit_without_being_stretched():
    image = np.full((50, 100, 3), 9, np.uint8)
    fitted = fit_image(image, 60, 60, (1, 2, 3))
    assert fitted.shape == (60, 60, 3)
    assert (
        (fitted[15:45] == 9).all() and (fitted[:15] == (1, 2, 3)).all() and (fitted[45:] == (1, 2, 3)).all()
    )


def test_frames_have_their_parts_in_their_places():
    layout = lay_out(100, 4 / 3)
    width, height = layout.size
    assert (width % 2, height % 2) == (0, 0)
    colors = {"RGB": 10, "depth": 120, "semantic": 200}
    images = {name: np.full((100, 133, 3), value, np.uint8) for name, value in colors.items()}
    plan = np.full((100, layout.map_size[0], 3), 77, np.uint8)
    goal = GoalCaption("the red chair by the window of the kitchen", None, "goal 1 of 2")
    moment = Moment(("scene", "episode"), goal, 5, 10, "turn_left", 2.5, "success")
    frame = compose(layout, images, plan, moment, np.full((8, 8, 3), (255, 0, 255), np.uint8))
    assert frame.shape == (height, width, 3)
    for column, value in enumerate(colors.values()):
        left = GAP + column * (layout.cell_width + GAP)
        assert (frame[GAP + 50, left : left + layout.cell_width] == value).all()
    assert (frame[2 * GAP + 150, GAP : GAP + layout.map_size[0]] == 77).all()


def test_frames_of_two_columns_are_filled():
    layout = lay_out(100, 1.0, 2)
    assert layout.size == (2 * 100 + 3 * GAP, 2 * 100 + 3 * GAP)
    assert layout.map_size == (100, 100)


@pytest.mark.parametrize("aspect", [0.5625, 1.0, 16 / 9])
def test_frames_are_as_large_as_asked(aspect):
    layout = lay_out(90, aspect)
    assert layout.cell_height == 90 and layout.cell_width >= 81
    assert layout.size[1] == 2 * 90 + 3 * GAP


def test_settings_out_of_range():
    for wrong in ({"height_px": 10}, {"frames_per_second": 0}):
        with pytest.raises(InputError, match="got"):
            VideoSettings(**wrong)


def test_the_camera_is_added_and_leaves_the_others():
    body = Embodiment(
        "b", 1.0, 0.2, cameras=(Camera(channels=("depth",)), Camera(width_px=200, height_px=100))
    )
    made = add_camera(body, 300)
    assert made.cameras[:2] == body.cameras
    camera = video_camera(body, 300)
    assert made.cameras[2] == camera
    assert (camera.width_px, camera.height_px, camera.hfov) == (600, 300, body.cameras[1].hfov)
    with pytest.raises(InputError, match="takes colours"):
        video_camera(Embodiment("b", 1.0, 0.2, cameras=(Camera(channels=("depth",)),)), 300)


def test_videos_hold_what_was_written(tmp_path):
    path = tmp_path / "video.mp4"
    with open_video(path, 64, 48, 10) as video:
        for value in range(0, 250, 10):
            video.write(np.full((48, 64, 3), value, np.uint8))
    assert video.frames == 25
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.width, stream.height) == ("h264", 64, 48)
        assert float(stream.average_rate) == 10.0
        seen = [frame.to_ndarray(format="rgb24").mean() for frame in container.decode(video=0)]
    assert len(seen) == 25
    assert np.abs(np.array(seen) - np.arange(0, 250, 10)).max() < 6
    data = path.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")  # a page can play before it has all


def test_a_broken_video_leaves_nothing(tmp_path):
    with pytest.raises(InputError, match="48 x 64"), open_video(tmp_path / "video.mp4", 64, 48, 10) as video:
        video.write(np.zeros((10, 10, 3), np.uint8))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="even"), open_video(tmp_path / "video.mp4", 63, 48, 10):
        pass


def test_corrupted_images_are_the_agents_own():
    setup = TaskSetup("objectnav-hm3d2022-v1", "forward", 0, ("speckle_noise:5",))
    assert find_sensors(setup) == {"rgb": "rgb", "depth": "video_depth", "semantic": "video_semantic"}
    assert set(find_sensors(replace(setup, corruptions=())).values()) == {
        "video_rgb",
        "video_depth",
        "video_semantic",
    }
    (episode, *_) = load_episodes(setup.protocol, "mini").episodes
    seen = []
    for made, sensors in ((setup, ("rgb", "depth")), (VideoSetup(setup, 64), ("rgb", "video_depth"))):
        batch = made.make_batch(1, sensors, 1)
        batch.start([0], [episode])
        for action in (2, 1):
            batch.step(np.array([action]), np.ones(1, bool))
        seen.append(batch.observations["rgb"].copy())
    assert seen[0].std() > 10 and np.array_equal(*seen)
