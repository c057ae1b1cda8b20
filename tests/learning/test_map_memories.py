"""Memories with maps: acting beside learning, the maps of the NumPy references, gradients, and readings."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.core.errors import InputError  # noqa: E402
from navarena.learning.inputs import InputSpec  # noqa: E402
from navarena.learning.networks.encoder_settings import EncoderSettings  # noqa: E402
from navarena.learning.networks.map_memories import (  # noqa: E402
    MAP,
    POSE,
    PROJECTION,
    ProjectedMapMemory,
    RecognisedMapMemory,
)
from navarena.learning.networks.map_windows import Windows  # noqa: E402
from navarena.learning.networks.neural_map_settings import NeuralMapSettings  # noqa: E402
from navarena.learning.settings import PolicySettings  # noqa: E402
from navarena.mapping.egocentric import turn_blended  # noqa: E402
from navarena.mapping.feature_map import FeatureMaps, write_recognised  # noqa: E402
from navarena.mapping.oracle_map import crop_oracle, oracle_grid  # noqa: E402

from .made import draw_input, make_policy  # noqa: E402

pytestmark = pytest.mark.learn

CELLS, STEPS, SLOTS = 31, 7, 3
INPUTS = (
    InputSpec("rgb", (36, 36, 3), "uint8"),
    InputSpec("depth", (36, 36, 1), "float16"),
    InputSpec("multiobjectgoal", (1,), "int64", 8),
    InputSpec("gps", (2,), "float32"),
    InputSpec("compass", (1,), "float32"),
)
SETTINGS = PolicySettings(
    memory="neural_map", hidden=16, image_features=16, number_features=4, action_features=4, has_pose=True,
    encoder=EncoderSettings(images="multion", numbers="embedded", maps="small", map_features=16),
    neural_map=NeuralMapSettings(cells=CELLS, points=8),
)  # fmt: skip
KINDS = {
    "projected": SETTINGS.neural_map,
    "code": replace(SETTINGS.neural_map, reading="code"),
    "queried": replace(SETTINGS.neural_map, kind="queried"),
    "recognised": NeuralMapSettings("recognised"),
    "current": NeuralMapSettings("recognised", current_only=True),
}


def settings_of(kind):
    return replace(SETTINGS, neural_map=KINDS[kind])


def draw_steps(seed=0):
    """Observations (T, N, ...) of bodies that wander over the border of the map, actions and masks."""
    generator = np.random.default_rng(seed)
    seen = {
        one.name: np.stack([draw_input(one, SLOTS, generator) for _ in range(STEPS)]).astype(one.dtype)
        for one in INPUTS
    }
    seen["gps"] = generator.uniform(-14, 14, (STEPS, SLOTS, 2)).astype(np.float32)
    seen["compass"] = generator.uniform(-3, 3, (STEPS, SLOTS, 1)).astype(np.float32)
    mask = generator.random((STEPS, SLOTS)) > 0.25
    actions = generator.integers(0, 4, (STEPS, SLOTS))
    tensors = {name: torch.from_numpy(value) for name, value in seen.items()}
    return tensors, torch.from_numpy(actions), torch.from_numpy(mask)


def act_all(policy, seen, actions, mask):
    """Values (T, N) of acting step by step, and the state behind the last."""
    state, values = policy.initial_state(SLOTS), []
    with torch.inference_mode():
        for step in range(STEPS):
            now = {name: value[step] for name, value in seen.items()}
            before = {name: value.clone() for name, value in state.items()}
            decision = policy.act(now, state, mask[step])
            assert all(torch.equal(state[name], value) for name, value in before.items()), "not in place"
            values.append(decision.values)
            state = policy.replace_actions(decision.state, actions[step])
    return torch.stack(values), state


@pytest.mark.parametrize("kind", ["projected", "queried", "recognised", "current"])
def test_learning_sees_what_acting_saw(kind):
    policy = make_policy(inputs=INPUTS, settings=settings_of(kind))
    seen, actions, mask = draw_steps()
    values, state = act_all(policy, seen, actions, mask)
    judged = policy.evaluate_sequence(seen, actions, policy.initial_state(SLOTS), mask)
    assert (judged.values - values).abs().max() < 1e-5
    assert state[MAP].any()
    for name, value in state.items():
        assert (judged.state[name].double() - value.double()).abs().max() < 1e-5, name
    judged.values.sum().backward()
    assert all(torch.isfinite(one.grad).all() for one in policy.parameters() if one.grad is not None)
    # the map tells steps apart: without what was written before, values differ
    alone = policy.evaluate_sequence(seen, actions, policy.initial_state(SLOTS), torch.zeros_like(mask))
    assert not torch.allclose(alone.values, judged.values, atol=1e-4)


def draw_features(steps, slots, seed=0, more=6):
    """Inputs (T, N, K) of a projected memory, of 4 features beside, and masks."""
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(steps, slots, POSE + PROJECTION + SETTINGS.image_features + more))
    features[..., :2] *= 8
    mask = generator.random((steps, slots)) > 0.2
    return torch.from_numpy(features.astype(np.float32)), torch.from_numpy(mask)


def watch_windows(memory, run, *given):
    """The windows that the network of windows is shown by run(*given), and what that returns."""
    shown = []
    handle = memory.window_encoder.register_forward_pre_hook(lambda module, seen: shown.append(seen[0]))
    returned = run(*given)
    handle.remove()
    return shown[0].whole() if isinstance(shown[0], Windows) else shown[0], returned


@pytest.mark.parametrize("reading", ["once", "code"])
def test_maps_and_windows_are_the_reference_s(reading):
    settings = settings_of("projected" if reading == "once" else "code")
    features, mask = draw_features(9, 2)
    memory = ProjectedMapMemory(features.shape[2], settings)
    reference = FeatureMaps(2, 32, 1 if reading == "once" else 2, cells=CELLS)
    state = memory.initial_state(2)
    with torch.no_grad():
        for now, keep in zip(features, mask, strict=True):
            windows, (_, state) = watch_windows(memory, memory.step, now, state, keep)
            pose, projection = now[:, :POSE].numpy(), now[:, POSE : POSE + PROJECTION].numpy()
            reference.reset(np.flatnonzero(~keep.numpy()))
            reference.register(projection.reshape(2, 13, 13, 32), pose[:, :2], pose[:, 2])
            assert np.abs(state[MAP].numpy() - reference.maps.reshape(2, -1, 32)).max() < 1e-5
            assert np.abs(windows.numpy() - reference.read(pose[:, :2], pose[:, 2])).max() < 1e-5


def test_the_gradient_is_that_of_the_step_s_own_projection():
    """Beside the same in whole windows: the greatest of the map before and the projection, turned back."""
    features, mask = draw_features(1, 4, seed=3)
    memory = ProjectedMapMemory(features.shape[2], SETTINGS)
    before = memory.initial_state(4)
    draw = torch.Generator().manual_seed(4)
    # a channel of a map is far below or far above what is projected: rounding does not decide
    features[..., :2].clamp_(-10, 10)  # bodies are on the map, some at its border
    features[..., POSE : POSE + PROJECTION].abs_().add_(0.1)
    above = torch.rand((4, 1, 32), generator=draw) < 0.5
    before[MAP] = (10.0 * above).expand(before[MAP].shape).contiguous()
    weights = torch.randn((4, 51, 51, 32), generator=draw)
    own = features.clone().requires_grad_()
    windows, _ = watch_windows(memory, memory.unroll, own, before, torch.ones_like(mask))
    (windows * weights).sum().backward()

    def read_whole(projections):
        turns, place = features[0, :, 2], features[0, :, :2].numpy().astype(float)
        reference = FeatureMaps(4, 32, cells=CELLS)
        reference.maps[:] = before[MAP].reshape(reference.maps.shape).numpy()
        straight = np.zeros(4)
        crop = torch.from_numpy(reference.read(place, straight))
        inside = np.ones_like(reference.maps)
        reference.maps[:] = inside
        on_map = torch.from_numpy(reference.read(place, straight))  # 1 on the map, 0 beside it
        grid = torch.nn.functional.affine_grid(turn_matrices(turns), (4, 32, 13, 13), align_corners=False)
        turned = torch.nn.functional.grid_sample(
            projections.permute(0, 3, 1, 2), grid, align_corners=False
        ).permute(0, 2, 3, 1)
        wide = torch.nn.functional.pad(turned, (0, 0, 19, 19, 19, 19)) * on_map
        raised = torch.maximum(crop, wide)
        grid = torch.nn.functional.affine_grid(turn_matrices(-turns), (4, 32, 51, 51), align_corners=False)
        return torch.nn.functional.grid_sample(raised.permute(0, 3, 1, 2), grid, align_corners=False)

    projections = features[0, :, POSE : POSE + PROJECTION].reshape(4, 13, 13, 32).clone().requires_grad_()
    whole = read_whole(projections).permute(0, 2, 3, 1)
    assert (whole - windows).abs().max() < 1e-4
    (whole * weights).sum().backward()
    found = own.grad[0, :, POSE : POSE + PROJECTION].reshape(4, 13, 13, 32)
    assert (found - projections.grad).abs().max() < 1e-3
    written = projections.grad.abs().amax((1, 2)) > 0.1
    assert torch.equal(written, ~above[:, 0]), "gradient where the projection is the greater, and only there"
    assert not own.grad[0, :, :POSE].any(), "poses are measured"


def turn_matrices(turns):
    nothing = torch.zeros_like(turns)
    return torch.stack(
        (
            torch.stack((turns.cos(), -turns.sin(), nothing), 1),
            torch.stack((turns.sin(), turns.cos(), nothing), 1),
        ),
        1,
    )


def test_what_was_written_earlier_is_constant():
    features, mask = draw_features(3, 2, seed=1)
    memory = ProjectedMapMemory(features.shape[2], SETTINGS)
    own = features.clone().requires_grad_()
    windows, _ = watch_windows(memory, memory.unroll, own, memory.initial_state(2), mask | True)
    windows.unflatten(0, (3, 2))[2].sum().backward()
    assert own.grad[2, :, POSE : POSE + PROJECTION].any() and not own.grad[:2].any()


def test_the_code_s_reading_differs_between_acting_and_learning():
    """Its window holds the projection where the code's twofold turn put it, and where it belongs."""
    features, mask = draw_features(1, 2, seed=2)
    memory = ProjectedMapMemory(features.shape[2], settings_of("code"))
    state, shown = memory.initial_state(2), {}
    with torch.no_grad():
        for turn in (0.0, 1.0):
            features[..., 2] = turn
            acted, _ = watch_windows(memory, memory.step, features[0], state, mask[0])
            learned, _ = watch_windows(memory, memory.unroll, features, state, mask)
            projection = features[0, :, POSE : POSE + PROJECTION].reshape(2, 13, 13, 32).numpy()
            added = np.maximum(turn_blended(projection, np.full(2, -turn)), 0)
            expected = acted.clone()
            expected[:, 19:32, 19:32] = torch.maximum(acted[:, 19:32, 19:32], torch.from_numpy(added))
            assert (learned - expected).abs().max() < 1e-5
            shown[turn] = bool((learned - acted).abs().max() > 0.1)
    assert shown == {0.0: False, 1.0: True}


def test_recognised_classes_are_written_and_read_as_by_the_reference():
    generator = np.random.default_rng(0)
    settings = settings_of("recognised")
    features = generator.normal(size=(30, 2, POSE + 2 + 12)).astype(np.float32)
    features[..., :2] *= 6
    features[..., 3] = generator.integers(0, 9, (30, 2))  # 8 is none
    features[5, 0, :2] = 150.0  # off the map
    memory = RecognisedMapMemory(features.shape[2], settings)
    maps, state = np.zeros((2, 300, 300, 1), np.float32), memory.initial_state(2)
    for now in features:
        keep = torch.ones(2, dtype=bool)
        windows, (_, state) = watch_windows(memory, memory.step, torch.from_numpy(now), state, keep)
        places = np.stack([now[:, 1], np.zeros(2), -now[:, 0]], 1).astype(float)
        for slot in range(2):
            if now[slot, 3] < 8:
                write_recognised(maps[slot], places[slot], np.array([now[slot, 3] + 1], np.float32))
        assert np.array_equal(state[MAP].numpy().reshape(2, 300, 300), maps[..., 0].astype(np.uint8))
        shown = crop_oracle(maps, oracle_grid(), places, now[:, 2].astype(float))
        assert np.array_equal(windows.numpy(), shown.astype(np.uint8))
    assert maps.any()


def test_only_the_current_goal_is_read():
    memory = RecognisedMapMemory(POSE + 2 + 4, settings_of("current"))
    state = memory.initial_state(1)
    state[MAP][0, 150 * 300 + 150 : 150 * 300 + 154] = torch.tensor([1, 3, 3, 8], dtype=torch.uint8)
    features = torch.zeros(1, POSE + 2 + 4)
    features[0, POSE : POSE + 2] = torch.tensor([8.0, 2.0])
    windows, _ = watch_windows(memory, memory.step, features, state, torch.ones(1, dtype=bool))
    assert windows.unique().tolist() == [0, 3] and (windows == 3).sum() == 2


def test_settings_and_inputs_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="expected has_pose for memory=neural_map"):
        replace(SETTINGS, has_pose=False)
    with pytest.raises(InputError, match="kind=recognised for current_only"):
        NeuralMapSettings(current_only=True)
    with pytest.raises(InputError, match="positive sizes"):
        NeuralMapSettings(cells=0)
    with pytest.raises(InputError, match="positive depth"):
        NeuralMapSettings(hfov_deg=180)
    with pytest.raises(InputError, match="input depth, by which"):
        make_policy(inputs=(INPUTS[0], *INPUTS[2:]), settings=SETTINGS)
    wrong = (*INPUTS[:2], replace(INPUTS[2], classes=6), *INPUTS[3:])
    with pytest.raises(InputError, match="goal of 8 classes"):
        make_policy(inputs=wrong, settings=settings_of("recognised"))
    with pytest.raises(InputError, match="at least 36 x 36"):
        small = (replace(INPUTS[0], shape=(20, 20, 3)), replace(INPUTS[1], shape=(20, 20, 1)), *INPUTS[2:])
        make_policy(inputs=small, settings=SETTINGS)
