"""Encoders with weights, tried on tiny models that are written here."""

import json
from pathlib import Path

import numpy as np
import pytest

from navarena.agents.encoders import GoalEncoder, GoalQuery, make_encoder
from navarena.agents.encoders.clip import ImageInput, prepare_image
from navarena.core.errors import FileError, InputError, MissingExtraError
from navarena.core.seeding import make_generator

from .tiny_models import write_bert, write_clip, write_open_clip, write_sentence

KINDS = {
    "clip": write_clip,
    "open-clip": write_open_clip,
    "bert": write_bert,
    "sentence": lambda folder: write_sentence(folder, first=False),
}
TEXTS = ["couch", "white couch in the study next to the desk", "sofa"]
pytestmark_of_libraries = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def need_library(kind: str) -> None:
    """Skip where the library of an encoder is not installed, or does not fit the installed PyTorch."""
    pytest.importorskip("torch")
    if kind != "open-clip":
        pytest.importorskip("transformers")
        return
    try:
        import open_clip  # noqa: F401
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"open_clip cannot be imported: {error}")


def draw_images(count: int) -> list[np.ndarray]:
    generator = make_generator("test-weights")
    return [generator.integers(0, 256, (40, 60, 3), dtype=np.uint8) for _ in range(count)]


@pytest.fixture(scope="module", params=list(KINDS))
def encoder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> GoalEncoder:
    need_library(request.param)
    folder = KINDS[request.param](tmp_path_factory.mktemp("weights") / "model")
    return make_encoder(f"{request.param}:{folder}")


@pytest.mark.learn
@pytestmark_of_libraries
def test_words_have_length_one_and_a_batch_changes_nothing(encoder: GoalEncoder) -> None:
    vectors = encoder.encode_words(TEXTS)
    assert vectors.shape == (3, encoder.dimension) and vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-5
    np.testing.assert_array_equal(encoder.encode_words(TEXTS[1:2]), vectors[1:2])
    np.testing.assert_array_equal(encoder.encode(GoalQuery("object", "couch")), vectors[0])
    assert encoder.encode_words(["couch " * 200]).shape == (1, encoder.dimension)
    assert encoder.encode_words([]).shape == (0, encoder.dimension)


@pytest.mark.learn
@pytestmark_of_libraries
def test_images_have_length_one_or_are_refused(encoder: GoalEncoder) -> None:
    images = draw_images(2)
    if not encoder.sees_images:
        with pytest.raises(InputError, match="sees no images"):
            encoder.encode_images(images)
        return
    vectors = encoder.encode_images(images)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-4
    np.testing.assert_array_equal(encoder.encode(GoalQuery("image", image=images[1])), vectors[1])


@pytest.mark.learn
@pytestmark_of_libraries
def test_clip_agrees_with_transformers(tmp_path: Path) -> None:
    """The library's own image processor and towers, called by hand."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = write_clip(tmp_path / "clip")
    encoder = make_encoder(f"clip:{folder}")
    model = transformers.CLIPModel.from_pretrained(folder).eval()
    processor = transformers.CLIPImageProcessorPil(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    )
    image = draw_images(1)[0]
    pixels = processor(image, return_tensors="pt")["pixel_values"]
    np.testing.assert_allclose(prepare_image(image, ImageInput(32)), pixels.numpy(), atol=0.05, rtol=0)
    tokens = transformers.AutoTokenizer.from_pretrained(folder)(["white sofa"], return_tensors="pt")
    with torch.inference_mode():
        both = model(pixel_values=pixels, **tokens)
    words, seen = encoder.encode_words(["white sofa"]), encoder.encode_images([image])
    np.testing.assert_allclose(words, both.text_embeds.numpy(), atol=1e-5)
    assert float((seen * both.image_embeds.numpy()).sum()) > 0.999


@pytest.mark.learn
@pytestmark_of_libraries
def test_poolings_by_hand(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from navarena.agents.encoders.text_models import BertEncoder

    folder = str(write_bert(tmp_path / "bert"))
    model = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    plain = tokenizer(["white couch"], return_tensors="pt")
    padded = tokenizer(["white couch"], return_tensors="pt", padding="max_length", max_length=77)
    assert padded["input_ids"].shape == (1, 77)
    with torch.inference_mode():
        last, long = model(**plain).last_hidden_state[0], model(**padded).last_hidden_state[0]
    assert len(last) == 4, "[CLS] white couch [SEP]"
    for text, expected in (
        (BertEncoder(folder), last[0]),
        (BertEncoder(folder, "padded_mean"), long.mean(0)),
        (make_encoder(f"sentence:{folder}"), last.mean(0)),
        (make_encoder(f"sentence:{write_sentence(tmp_path / 'first', first=True)}"), last[0]),
    ):
        unit = expected.numpy() / np.linalg.norm(expected.numpy())
        np.testing.assert_allclose(text.encode_words(["white couch"])[0], unit, atol=1e-5)


@pytest.mark.learn
@pytestmark_of_libraries
@pytest.mark.parametrize("kind", ["clip", "bert"])
def test_weights_that_lack_a_layer_are_told(kind: str, tmp_path: Path) -> None:
    """The library would draw it at random, another vector at every start."""
    need_library(kind)
    from safetensors.torch import load_file, save_file

    folder = KINDS[kind](tmp_path / "model")
    left_out = {"clip": "text_projection.weight", "bert": "encoder.layer.0.attention.self.query.weight"}[kind]
    for name, error in (("pooler.dense.weight", None), (left_out, left_out)):
        weights = {key: one for key, one in load_file(folder / "model.safetensors").items() if key != name}
        save_file(weights, folder / "model.safetensors", {"format": "pt"})
        if error is None:
            assert make_encoder(f"{kind}:{folder}").encode_words(["couch"]).any()
            continue
        with pytest.raises(FileError, match=rf"got none of {error} \(1 missing in all\)"):
            make_encoder(f"{kind}:{folder}")


@pytest.mark.learn
@pytestmark_of_libraries
def test_models_of_another_kind_are_told(tmp_path: Path) -> None:
    need_library("clip")
    folder = write_clip(tmp_path / "clip")
    (folder / "vocab.txt").write_text("couch\n")
    with pytest.raises(FileError, match="cannot read BERT weights.*hidden_size"):
        make_encoder(f"bert:{folder}")


@pytest.mark.learn
@pytestmark_of_libraries
@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}, "pooling_mode_max_tokens"),
        ("1_Pooling/config.json", {"pooling_mode": "lasttoken"}, "lasttoken"),
        (
            "1_Pooling/config.json",
            {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
            "pooling_mode_cls_token, pooling_mode_mean_tokens",
        ),
        ("modules.json", [{"type": "sentence_transformers.models.Dense"}], "Dense"),
        ("modules.json", [{"path": ""}], "cannot read sentence encoder weights"),
    ],
)
def test_sentence_encoders_of_other_layers_are_refused(
    file: str, content: object, told: str, tmp_path: Path
) -> None:
    need_library("sentence")
    folder = write_sentence(tmp_path / "model", first=False)
    (folder / file).write_text(json.dumps(content))
    with pytest.raises(FileError, match=told):
        make_encoder(f"sentence:{folder}")


@pytest.mark.learn
@pytestmark_of_libraries
@pytest.mark.parametrize("kind", list(KINDS))
def test_broken_weights_are_told(kind: str, tmp_path: Path) -> None:
    need_library(kind)
    folder = KINDS[kind](tmp_path / "model")
    weights = next(path for path in folder.iterdir() if path.suffix in (".safetensors", ".bin"))
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(FileError, match=r"cannot read .* weights in .*model.*copy the folder again"):
        make_encoder(f"{kind}:{folder}")
    weights.unlink()
    with pytest.raises(FileError, match="found none of them; copy .*navarena downloads none"):
        make_encoder(f"{kind}:{folder}")


@pytest.mark.learn
@pytest.mark.parametrize("kind", list(KINDS))
def test_missing_folders_are_told(kind: str, tmp_path: Path) -> None:
    need_library(kind)
    with pytest.raises(FileError, match="does not exist; copy a folder"):
        make_encoder(f"{kind}:{tmp_path / 'none'}")


@pytest.mark.parametrize("kind", list(KINDS))
def test_paths_must_be_named(kind: str) -> None:
    with pytest.raises(InputError, match=f"expected {kind}:PATH .*downloads none"):
        make_encoder(kind)


@pytest.mark.parametrize("kind", list(KINDS))
def test_missing_packages_are_told(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "transformers", None)
    monkeypatch.setitem(sys.modules, "open_clip", None)
    extra = "open-clip" if kind == "open-clip" else "learn"
    with pytest.raises(MissingExtraError, match=rf"pip install 'navarena\[{extra}\]'"):
        make_encoder(f"{kind}:anywhere")


def test_images_are_brought_to_the_middle_square() -> None:
    wide = np.zeros((32, 96, 3), np.uint8)
    wide[:, 32:64] = (255, 0, 51)
    how = ImageInput(32, (0.0, 0.5, 0.0), (1.0, 0.5, 0.1))
    middle = prepare_image(wide, how)
    assert middle.shape == (1, 3, 32, 32)
    np.testing.assert_allclose(middle[0, :, 16, 16], [1.0, -1.0, 2.0], atol=1e-6)
    with pytest.raises(InputError, match="of bytes"):
        prepare_image(np.zeros((0, 3, 3), np.uint8), how)
