"""A model of language from local weights: a tiny one that this test writes."""

from pathlib import Path

import pytest

from navarena.core.errors import FileError
from navarena.episodes.goat import make_writer

pytestmark = [
    pytest.mark.learn,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    torch.manual_seed(0)
    words = ["<end>", "<unk>", *["find", "the", "white", "couch", "in", "study"]]
    plain = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: k for k, word in enumerate(words)}, "<unk>")
    )
    plain.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=plain, unk_token="<unk>", eos_token="<end>", pad_token="<end>"
    )
    fast.save_pretrained(tmp_path)
    config = transformers.GPT2Config(
        vocab_size=len(words), n_positions=256, n_embd=16, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path)
    return tmp_path


def test_answers_are_repeated_and_leave_the_question_out(folder: Path) -> None:
    writer = make_writer(f"transformers:{folder}")
    text = writer.answer("find the white")
    assert text == writer.answer("find the white")
    assert text and not text.startswith("find the white ")
    assert set(text.split()) <= {"<unk>", "find", "the", "white", "couch", "in", "study"}


def test_weights_for_something_else_are_told(folder: Path) -> None:
    (folder / "config.json").write_text("{}")
    with pytest.raises(FileError, match="choose weights made for it"):
        make_writer(f"transformers:{folder}").answer("find")
