"""Encoder of instructions: words as numbers become a vector for each word, once for each instruction."""

from typing import NamedTuple

from navarena.core.errors import InputError
from navarena.learning.networks.follower_settings import FollowerSettings
from navarena.learning.networks.memories import recur
from navarena.learning.tensors import Tensor, torch

MAX_KEPT = 1024
"""Instructions whose vectors stay in memory while nothing is learned."""

NO_WORDS = 0
"""Code of an instruction without words, as agents observe where an oracle leads."""


class Texts(NamedTuple):
    """Instructions of B steps, each different one once.

    Attributes:
        words: (U, L, C) float32, vectors of words; 0 behind the end.
        lengths: (U,) int64.
        rows: (B,) int64, which of the U instructions each step has.
    """

    words: Tensor
    lengths: Tensor
    rows: Tensor


class InstructionEncoder(torch.nn.Module):
    """A bidirectional LSTM over the words of an instruction (VLN-CE, instruction_encoder.py).

    While nothing is learned, each instruction is encoded by itself and kept until weights change: its vectors
    are the same whatever is read beside it.

    Args:
        settings: sizes.

    Attributes:
        features: C.
    """

    def __init__(self, settings: FollowerSettings) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(settings.words, settings.word_features, padding_idx=0)
        self.embedding.weight.requires_grad_(not settings.frozen_words)
        self.cells = torch.nn.LSTM(
            settings.word_features, settings.text_hidden, bidirectional=True, batch_first=True
        )
        self.features = 2 * settings.text_hidden
        self._kept: dict[int, Tensor] = {}
        self._kept_of: tuple[int, ...] = ()

    def forward(self, tokens: Tensor, codes: Tensor) -> Texts:
        """The instructions of `tokens` (B, T) int64, of which equal ones have equal `codes` (B,) int64.

        Raises InputError for numbers beyond the vocabulary.
        """
        known, rows = torch.unique(codes, return_inverse=True)
        first = torch.full_like(known, len(codes)).scatter_reduce(
            0, rows, torch.arange(len(codes), device=codes.device), "amin"
        )
        different = tokens[first]
        if int(different.max()) >= self.embedding.num_embeddings:
            raise InputError(
                f"expected numbers of words below {self.embedding.num_embeddings}, got "
                f"{int(different.max())}: the instruction is of another vocabulary"
            )
        lengths = (different != 0).sum(1)
        longest = max(int(lengths.max()), 1)
        if torch.is_grad_enabled():
            return Texts(self._read(different[:, :longest], lengths), lengths, rows)
        words = tokens.new_zeros((len(known), longest, self.features), dtype=torch.float32)
        self._forget_old()
        for row, code in enumerate(known.tolist()):
            length = int(lengths[row])
            if code not in self._kept and length:
                if len(self._kept) >= MAX_KEPT:
                    del self._kept[next(iter(self._kept))]
                alone = self._read(different[row : row + 1, :length], lengths[row : row + 1])
                self._kept[code] = alone[0]
            if length:
                words[row, :length] = self._kept[code]
        return Texts(words, lengths, rows)

    def _forget_old(self) -> None:
        """Drop what older weights made."""
        now = tuple(number for one in self.parameters() for number in (one.data_ptr(), one._version))
        if now != self._kept_of:
            self._kept, self._kept_of = {}, now

    def _read(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """(U, L, C) float32 of `tokens` (U, L), 0 behind the `lengths` (U,)."""
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            self.embedding(tokens), lengths.clamp_min(1).cpu(), batch_first=True, enforce_sorted=False
        )
        words, _ = torch.nn.utils.rnn.pad_packed_sequence(
            recur(self.cells, packed)[0], batch_first=True, total_length=tokens.shape[1]
        )
        is_word = torch.arange(tokens.shape[1], device=tokens.device) < lengths[:, None]
        return words.float() * is_word[..., None]


def code_instructions(tokens: Tensor) -> Tensor:
    """(...,) int64 codes of `tokens` (..., T) int64, equal for equal ones, and NO_WORDS for padding alone."""
    places = torch.arange(1, tokens.shape[-1] + 1, device=tokens.device)
    factors = (places * 0x2545F4914F6CDD1D) ^ (places << 31)  # arithmetic modulo 2**64
    mixed = tokens * (factors | 1)
    return (mixed ^ (mixed >> 29)).sum(-1)


def attend_words(queries: Tensor, keys: Tensor, texts: Texts) -> Tensor:
    """(B, C) float32: vectors of words, weighted by how `queries` (B, K) fit `keys` (U, L, K).

    Padding has no weight; an instruction without words gives 0. Steps of one instruction are multiplied
    together.
    """
    count = torch.bincount(texts.rows, minlength=len(keys))
    order = torch.argsort(texts.rows, stable=True)
    place = torch.arange(len(order), device=order.device) - (count.cumsum(0) - count)[texts.rows[order]]
    packed = queries.new_zeros(len(keys), int(count.max()), queries.shape[1])
    packed = packed.index_put((texts.rows[order], place), queries[order])
    logits = packed @ keys.transpose(1, 2) / keys.shape[-1] ** 0.5
    is_word = torch.arange(keys.shape[1], device=keys.device) < texts.lengths[:, None]
    logits = logits.masked_fill(~is_word[:, None], -1e8)
    found = logits.softmax(-1) @ texts.words
    inverse = torch.empty_like(order).scatter_(0, order, place)
    return found[texts.rows, inverse]
