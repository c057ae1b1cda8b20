"""Stopping modules: what they learn, where they stop, and which checkpoints cannot."""

import hashlib
import math
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.agents import serve  # noqa: E402
from navarena.agents.agent import Start  # noqa: E402
from navarena.agents.declaration import join_hashes  # noqa: E402
from navarena.agents.loading import declare_agent, load_agent  # noqa: E402
from navarena.core.errors import AgentTimeoutError, FileError, InputError, UnknownNameError  # noqa: E402
from navarena.learning.auxiliaries.losses import goal_distance_loss  # noqa: E402
from navarena.learning.auxiliaries.settings import GOAL_DISTANCE  # noqa: E402
from navarena.learning.checkpoints.policies import read_info  # noqa: E402
from navarena.tasks.batch import NavigationBatch  # noqa: E402
from navarena.tasks.catalog import get_body_task  # noqa: E402

from .test_training import TINY, make_episodes, make_training, make_worlds  # noqa: E402

pytestmark = pytest.mark.learn

TASK = "pointnav-v1+max_steps=40"
STOP, LEFT = 0, 2


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    method = replace(TINY.method, auxiliaries=(replace(GOAL_DISTANCE, weight=1.0),))
    recipe = replace(TINY, method=method, frames=12 * 64)
    rows = []
    make_training(folder, recipe).run(rows.append)
    losses = [row["goal_distance_loss"] for row in rows]
    assert losses[-1] < 0.7 * losses[0], "it learns distances"
    return folder


def begin(agent):
    task = get_body_task(TASK)
    batch = NavigationBatch(task, 3, 1, (*agent.sensors, "goal_distance"), make_worlds(task))
    episodes = make_episodes(3)
    batch.start(range(3), episodes)
    agent.attach(batch)
    agent.reset([Start(k, one.episode_id, one.scene_id) for k, one in enumerate(episodes)])
    return batch


def test_the_loss_by_hand():
    predicted = torch.log1p(torch.tensor([[1.0, 3.0, 5.0]])) + torch.tensor([[0.0, 0.3, 9.0]])
    distances = torch.tensor([[1.0, 3.0, -1.0]])
    # 0.3 is beyond 0.1: 0.3 - 0.05; the third is unknown
    assert goal_distance_loss(predicted, distances).item() == pytest.approx(0.25 / 2, abs=1e-6)


def test_the_sensor_tells_the_shortest_path():
    agent = load_agent("forward", get_body_task(TASK), 0)
    batch = begin(agent)
    assert batch.privileged_sensors == ("goal_distance",)
    assert np.allclose(batch.observations["goal_distance"][:, 0], batch.state.distance, atol=1e-5)


def test_it_stops_where_it_believes_the_goal_to_be_near_and_nowhere_else(trained):
    agent = load_agent(f"stopping:{trained}?at=2.5:stop", get_body_task(TASK), 0)
    batch = begin(agent)
    active = np.array([True, True, False])
    believed = agent.estimate(batch.observations, active)
    assert np.isfinite(believed[:2]).all() and believed[2] == math.inf
    alone = agent.estimate(batch.observations, np.array([False, True, False]))
    assert alone[1] == believed[1], "whatever is seen beside it"
    last = agent._heads.heads["goal_distance"][2]
    with torch.no_grad():
        last.weight.zero_()
        for metres, expected in ((2.4, STOP), (2.6, LEFT)):
            last.bias.fill_(math.log1p(metres))
            assert agent.act(batch.observations, active)[:2].tolist() == [expected, expected]
    nowhere = load_agent(f"stopping:{trained}?at=0:stop", get_body_task(TASK), 0)
    with torch.no_grad():
        nowhere._heads.heads["goal_distance"][2].weight.zero_()
        nowhere._heads.heads["goal_distance"][2].bias.fill_(math.log1p(0.01))
    begin(nowhere)
    assert nowhere.act(batch.observations, active)[:2].tolist() == [LEFT, LEFT]


def test_a_policy_remembers_what_is_done_in_place_of_its_stop(trained):
    agent = load_agent(f"stopping:{trained}?at=0.01:checkpoint:{trained}", get_body_task(TASK), 0)
    batch, policy = begin(agent), agent._inner
    with torch.no_grad():
        policy._policy.head.linear.bias[STOP] = 99.0
        agent._heads.heads["goal_distance"][2].bias.fill_(99.0)
    assert agent.act(batch.observations, np.ones(3, bool)).tolist() == [LEFT] * 3
    assert policy._state["previous_action"].tolist() == [LEFT + 1] * 3


def test_any_agent_can_stand_behind_it(trained):
    task = get_body_task(TASK)
    agent = load_agent(f"stopping:{trained}:checkpoint:{trained}?sample=true", task, 0)
    assert agent._near == task.success_distance and set(agent.sensors) == set(TINY.sensors)
    assert not declare_agent(f"stopping:{trained}:forward").privileged
    assert declare_agent(f"stopping:{trained}:expert").privileged
    assert declare_agent(f"stopping:{trained}:forward").resizes == ("depth=48x36",)


class Slow:
    """An agent elsewhere that thinks for long."""

    sensors, trained_with = ("pointgoal_with_gps_compass",), ("rain",)
    resizes, privileged_inputs, model_sha256 = ("rgb=9x9",), ("a tip",), "0f" * 32

    def reset(self):
        pass

    def act(self, observations):
        time.sleep(3)
        return 1


def test_an_agent_elsewhere_is_asked_what_it_is_and_waited_for_no_longer_than_it_may_take(trained):
    server = serve.make_server(serve.Host(Slow))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    name = f"stopping:{trained}:http://127.0.0.1:{server.server_port}"
    told = declare_agent(name, get_body_task(TASK), 5.0)
    assert (told.trained_with, told.privileged_inputs) == (("rain",), ("a tip",))
    assert told.resizes == ("rgb=9x9", "depth=48x36")
    info = read_info(trained)
    assert told.model_sha256 == join_hashes("0f" * 32, info.model_sha256, info.heads_sha256)
    agent = load_agent(name, get_body_task(TASK), 0, patience=0.3)
    batch = begin(agent)
    assert agent.privileged_inputs == ("a tip",)
    with pytest.raises(AgentTimeoutError, match=r"to answer within 0\.3 s"):
        agent.act(batch.observations, np.ones(3, bool))
    server.shutdown()
    server.server_close()


def test_the_training_of_the_agent_behind_it_is_told(trained):
    name = f"stopping:{trained}:checkpoint:{trained}"
    assert declare_agent(name, get_body_task(TASK)).trained_with == ()
    other = declare_agent(name, get_body_task("pointnav-habitat2020-v1"))
    assert other.trained_with == (f"episodes of {read_info(trained).protocol}",)


def test_its_weights_are_those_of_both(trained):
    info = read_info(trained)
    own = f"{info.model_sha256} {info.heads_sha256}"
    for name, joined in (("forward", own), (f"checkpoint:{trained}", f"{info.model_sha256} {own}")):
        told = declare_agent(f"stopping:{trained}:{name}").model_sha256
        assert told == hashlib.sha256(joined.encode()).hexdigest()
    assert declare_agent(f"oracle-stop:checkpoint:{trained}").model_sha256 == info.model_sha256
    assert join_hashes("", "") == "" and join_hashes("", info.model_sha256) == info.model_sha256


def test_what_cannot_stop_says_so(trained, tmp_path):
    make_training(tmp_path / "plain", replace(TINY, frames=64)).run()
    task = get_body_task(TASK)
    for name, kind, words in (
        (
            f"stopping:{tmp_path / 'plain'}:forward",
            InputError,
            "trained with the auxiliary loss goal_distance",
        ),
        (f"stopping:{trained}?at=far:forward", InputError, "expected metres of at least 0"),
        (f"stopping:{trained}", InputError, "expected stopping:DIR:AGENT"),
        (f"stopping:{trained}:forwards", UnknownNameError, "forwards"),
        (f"stopping:{tmp_path}:forward", FileError, "checkpoint"),
    ):
        with pytest.raises(kind, match=words):
            load_agent(name, task, 0)
