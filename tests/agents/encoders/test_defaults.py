"""The encoders that need neither weights nor downloads."""

import pickle

import cv2
import numpy as np
import pytest

from navarena.agents.encoders import GoalEncoder, GoalQuery, ImageMatcher, OneHotEncoder, make_encoder
from navarena.agents.encoders.matching import MatchSettings, match_features
from navarena.agents.encoders.words import letter_runs
from navarena.core.errors import InputError, UnknownNameError
from navarena.core.seeding import make_generator
from navarena.scenes.houses.vocabulary import GOAT


def blotches(name: str, side: int = 256) -> np.ndarray:
    """An image of smooth random colours, with corners to hold on to."""
    small = make_generator("test-encoders", name).integers(0, 255, (24, 24, 3), dtype=np.uint8)
    return np.asarray(cv2.resize(small, (side, side), interpolation=cv2.INTER_CUBIC))


def flat(*color: int) -> np.ndarray:
    return np.full((64, 48, 3), color, np.uint8)


def goal_of(modality: str) -> GoalQuery:
    if modality == "image":
        return GoalQuery("image", image=blotches("goal"))
    text = "white sofa in the living room." if modality == "description" else ""
    return GoalQuery(modality, "couch", text)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["one-hot", "words", "images"])
def test_every_vector_has_length_one_and_the_same_in_any_batch(name: str) -> None:
    encoder = make_encoder(name)
    assert encoder.name == name
    if encoder.sees_images:
        inputs = [blotches("a"), flat(0, 0, 0), flat(9, 200, 30)]
        encode = encoder.encode_images
        goal = goal_of("image")
    else:
        inputs = ["couch", "desk", "kitchen shelf"]
        encode = encoder.encode_words
        goal = goal_of("object")
    vectors = encode(inputs)
    assert vectors.shape == (3, encoder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(vectors[1:2], encode(inputs[1:2]))
    assert encoder.encode(goal).shape == (encoder.dimension,)


def test_one_hot_gives_a_name_the_places_of_what_it_stands_for() -> None:
    couch, sofa, heater, easy, armchair = OneHotEncoder().encode_words(
        ["couch", "sofa", "heater", "easy chair", "armchair"]
    )
    np.testing.assert_array_equal(couch, sofa)
    assert np.count_nonzero(couch) == 1
    assert couch @ heater == 0
    assert easy @ armchair == pytest.approx(2**-0.5)  # an easy chair is an armchair or a lounge chair
    with pytest.raises(UnknownNameError, match="Did you mean 'couch'"):
        OneHotEncoder().encode_words(["couhc"])


def test_every_name_of_the_benchmark_is_nearest_to_what_it_stands_for() -> None:
    encoder = make_encoder("words")
    names, categories = sorted(GOAT), sorted({one for found in GOAT.values() for one in found})
    near = encoder.encode_words(names) @ encoder.encode_words(categories).T
    wrong = [
        name
        for name, row in zip(names, near, strict=True)
        if categories[int(np.argmax(row))] not in GOAT[name]
    ]
    # "picture", "bar" and the like are categories themselves and mean these first
    assert [name for name in wrong if name.replace(" ", "_") not in categories] == []


def test_words_place_a_sofa_by_a_couch_and_unknown_words_by_their_letters() -> None:
    vectors = make_encoder("words").encode_words(["couch", "sofa", "bed", "bookcases", "bookcase", "lantern"])
    near = vectors @ vectors.T
    assert near[0, 1] > 0.9
    assert near[0, 2] < 0.1
    assert near[3, 4] > 0.5 > near[3, 5]


def test_words_tell_described_things_apart() -> None:
    objects = [
        "white wooden desk in the study",
        "white sofa in the living room",
        "black sofa in the living room",
        "black leather sofa in the living room",
        "ivory sofa in the living room",
        "white sofa in the bedroom next to the desk",
        "small tv stand in the living room",
    ]
    texts = [
        "white sofa in the living room, next to the tv stand.",
        "black couch located in the living room, near the window.",
        "leather sofa seat that is in the living room.",
        "cream sofa in the living room.",
        "white couch. It is beside the desk.",
    ]
    encoder = make_encoder("words")
    best = (encoder.encode_words(texts) @ encoder.encode_words(objects).T).argmax(1)
    assert best.tolist() == [1, 2, 3, 4, 5]


def test_runs_of_letters_by_hand() -> None:
    assert list(letter_runs("to_go.", 3, 4)) == ["<to", "to>", "<to>", "<go", "go>", "<go>"]
    assert list(letter_runs("a", 4, 4)) == ["<a>"]


def test_images_of_like_colours_are_near() -> None:
    encoder = make_encoder("images")
    red, dark_red, blue, scene = encoder.encode_images(
        [flat(200, 30, 30), flat(196, 34, 28), flat(20, 30, 200), blotches("a")]
    )
    assert red @ dark_red > 0.9
    assert red @ blue < 0.1
    moved = encoder.encode_images([np.roll(blotches("a"), 6, 1)])[0]
    other = encoder.encode_images([blotches("b")])[0]
    assert scene @ moved > max(0.95, scene @ other + 0.01)


def test_a_matcher_finds_what_was_turned_and_shrunk() -> None:
    goal = blotches("a", 400)
    turn = cv2.getRotationMatrix2D((200, 200), 15, 0.8)
    turned = np.asarray(cv2.warpAffine(goal, turn, (400, 400)))
    matcher = ImageMatcher()
    views = [blotches("b", 400), turned, goal, flat(128, 128, 128)]
    other, seen, same, nothing = matcher.scores(goal, views)
    assert same > 0.95 and seen > 0.9
    assert matcher.inliers(matcher.extract(goal), matcher.extract(turned)) > 50
    assert matcher.inliers(matcher.extract(goal), matcher.extract(views[0])) < 10
    assert other < seen - 0.1 and nothing < 0.4
    kept = matcher.scores(matcher.extract(goal), [matcher.extract(view) for view in views])
    np.testing.assert_array_equal(kept, [other, seen, same, nothing])


def test_a_matcher_is_the_same_after_pickling() -> None:
    matcher = ImageMatcher(MatchSettings(max_points=50))
    again = pickle.loads(pickle.dumps(matcher))
    image = np.random.default_rng(0).integers(0, 256, (90, 120, 3), dtype=np.uint8)
    assert again.settings == matcher.settings
    ours, theirs = matcher.extract(image), again.extract(image)
    assert len(ours.points) > 10
    np.testing.assert_array_equal(ours.points, theirs.points)
    np.testing.assert_array_equal(ours.features, theirs.features)


def test_matches_agree_with_a_plain_search() -> None:
    draw = make_generator("test-encoders", "features")
    first, second = draw.random((30, 8), np.float32), draw.random((40, 8), np.float32)
    expected = []
    for row, feature in enumerate(first):
        away = np.linalg.norm(second - feature, axis=1)
        near, next_one = np.argsort(away)[:2]
        back = np.argmin(np.linalg.norm(first - second[near], axis=1))
        if away[near] < 0.8 * away[next_one] and back == row:
            expected.append([row, int(near)])
    assert 0 < len(expected) < 30
    assert match_features(first, second, 0.8).tolist() == expected


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("word", "Did you mean 'words'"),
        ("words:weights", "needs no weights"),
    ],
)
def test_bad_names(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_encoder(name)


def test_what_an_encoder_cannot_take() -> None:
    with pytest.raises(InputError, match="choose one that reads words, such as words"):
        make_encoder("images").encode(goal_of("object"))
    with pytest.raises(InputError, match="choose one that sees images, such as images"):
        make_encoder("words").encode(goal_of("image"))
    with pytest.raises(InputError, match="sees no images"):
        make_encoder("words").encode_images([flat(1, 2, 3)])
    with pytest.raises(InputError, match="reads no words"):
        make_encoder("images").encode_words(["couch"])
    with pytest.raises(InputError, match="a text with words"):
        make_encoder("words").encode_words(["..."])
    with pytest.raises(InputError, match=r"expected an image \(H, W, 3\) of bytes"):
        make_encoder("images").encode_images([np.zeros((0, 4, 3), np.uint8)])


@pytest.mark.parametrize("modality", ["object", "description", "image"])
def test_a_goal_must_have_what_its_modality_needs(modality: str) -> None:
    with pytest.raises(InputError, match="of a goal of this modality, got none"):
        GoalQuery(modality)  # type: ignore[arg-type]


def test_an_encoder_that_gives_zeros_is_refused() -> None:
    from navarena.episodes.encoding.encoder import unit_rows

    with pytest.raises(InputError, match="length above zero"):
        unit_rows(np.zeros((1, 3)))
    assert issubclass(OneHotEncoder, GoalEncoder)
