"""HAMT: a transformer over words, earlier steps and the views of a viewpoint; all steps of a walk at once."""

from dataclasses import dataclass
from typing import NamedTuple

from navarena.learning.losses import turn_inflection_weights
from navarena.learning.networks.dropout import Dropout
from navarena.learning.networks.hamt_settings import HAMTSettings
from navarena.learning.tensors import Tensor, torch

EPSILON = 1e-12
"""Of layer normalisations, as BERT's."""

TEXT_PLACES = 512
"""Numbers of words that BERT's table of places has."""

UNKNOWN_WORD = 1
"""Number of the word that stands for unknown ones."""

VIEW, CANDIDATE, STOP = 0, 1, 2
"""Kinds of what can be seen at a viewpoint."""


@dataclass(frozen=True)
class ObservedSteps:
    """Observations of T steps of one episode on a graph, as the sensors of `r2r-v1` give them.

    Attributes:
        views: (T, 36, D) float32, view_features.
        view_angles: (T, 36, 4) float32.
        view: (T,) int64, view_index.
        candidates: (T, C, D) float32, candidate_features.
        candidate_angles: (T, C, 4) float32.
        candidate_views: (T, C) int64, -1 for none.
        actions: (T,) int64: 0 stops, k goes to candidate k. Of the last step any number will do.
    """

    views: Tensor
    view_angles: Tensor
    view: Tensor
    candidates: Tensor
    candidate_angles: Tensor
    candidate_views: Tensor
    actions: Tensor

    def first(self, steps: int) -> "ObservedSteps":
        """The first `steps` steps."""
        return ObservedSteps(*(value[:steps] for value in vars(self).values()))


class Fused(NamedTuple):
    """Outputs of the last layer for B steps.

    Attributes:
        words: (B, L, W).
        history: (B, K, W), of tokens of earlier steps and those that mark their beginnings.
        seen: (B, V, W), of what is seen; V is 0 where nothing was.
    """

    words: Tensor
    history: Tensor
    seen: Tensor


class HAMT(torch.nn.Module):
    """The network of History Aware Multimodal Transformer (Chen et al. 2021, vilmodel_cmt.py).

    Args:
        settings: sizes.
    """

    def __init__(self, settings: HAMTSettings) -> None:
        super().__init__()
        self._settings, self.max_words = settings, settings.max_words
        width = settings.width
        self.words = torch.nn.Embedding(settings.words, width, padding_idx=0)
        self.places = torch.nn.Embedding(TEXT_PLACES, width)
        self.kinds = torch.nn.Embedding(2, width)
        self.word_norm = torch.nn.LayerNorm(width, EPSILON)
        self.text_layers = torch.nn.ModuleList(_SelfLayer(settings) for _ in range(settings.text_layers))
        self.seen = _Features(settings)
        self.seen_kinds = torch.nn.Embedding(3, width)
        self.seen_norm = torch.nn.LayerNorm(width, EPSILON)
        self.history = HistoryEncoder(settings)
        self.cross_layers = torch.nn.ModuleList(_CrossLayer(settings) for _ in range(settings.cross_layers))
        self.head = torch.nn.Sequential(
            torch.nn.Linear(width, width),
            torch.nn.ReLU(),
            torch.nn.LayerNorm(width, EPSILON),
            Dropout(settings.dropout),
            torch.nn.Linear(width, 1),
        )
        self.dropout = Dropout(settings.dropout)
        self.feature_dropout = Dropout(settings.feature_dropout)
        for one in self.modules():
            if isinstance(one, torch.nn.Linear | torch.nn.Embedding):
                torch.nn.init.normal_(one.weight, std=0.02)

    def read(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """(B, L, W) float32 of `tokens` (B, L') int64, padded with 0, and (B, L) bool, which are words."""
        tokens = tokens[:, : self.max_words]
        if "instruction" in self._settings.blank:  # one unknown word, by whose token actions are judged
            tokens = torch.zeros_like(tokens)
            tokens[:, 0] = UNKNOWN_WORD
        places = torch.arange(tokens.shape[1], device=tokens.device)
        found = self.words(tokens) + self.places(places) + self.kinds.weight[0]
        found, is_word = self.dropout(self.word_norm(found)), tokens != 0
        for layer in self.text_layers:
            found = layer(found, is_word)
        return (found.detach() if self._settings.frozen_text else found), is_word

    def remember(self, walk: ObservedSteps) -> Tensor:
        """(T, W) float32: a token for each step with its action."""
        rows = torch.arange(len(walk.view), device=walk.view.device)
        taken = walk.candidate_angles[rows, (walk.actions - 1).clamp_min(0)] * (walk.actions > 0)[:, None]
        views = self.feature_dropout(walk.views)
        found = self.history(views[rows, walk.view], taken, rows, views, walk.view_angles)
        return found.detach() if self._settings.frozen_history else found

    def judge_steps(self, tokens: Tensor, walk: ObservedSteps, earlier: Tensor | None = None) -> Tensor:
        """(T, 1 + C) float32 logits of the actions in all steps of a walk, 0 for STOP; -inf where none leads.

        Every step sees what came before it alone: the same as step by step, in one batch.

        Args:
            tokens: (L,) int64, the instruction.
            walk: of T steps.
            earlier: (K, W), tokens of earlier episodes of the tour, in order; None without. The oldest are
                left out where there are more than the settings allow.
        """
        steps = len(walk.view)
        history, is_seen = self._make_history(self.remember(walk), earlier)
        words, is_word = self.read(tokens[None])
        words, is_word = words.expand(steps, -1, -1), is_word.expand(steps, -1)
        return self.judge(words, is_word, history.expand(steps, -1, -1), is_seen, walk)[0]

    def judge(
        self, words: Tensor, is_word: Tensor, history: Tensor, is_seen: Tensor, walk: ObservedSteps
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Logits (B, 1 + C) float32 of the actions in B steps, -inf where none leads.

        Args:
            words: (B, L, W) of `read`.
            is_word: (B, L) bool.
            history: (B, K, W), tokens of earlier steps behind those of `begin`.
            is_seen: (B, K) bool.
            walk: B steps of any episodes.

        Returns the logits, and after all layers (B, W) the first word and (B, W) the first token of `begin`.
        """
        seen, is_there = self._observe(walk)
        count = 1 + walk.candidates.shape[1]
        fused = self.fuse(words, is_word, history, is_seen, seen, is_there, count)
        logits: Tensor = self.head(fused.seen * fused.words)[..., 0].float()
        logits = logits.masked_fill(~is_there[:, :count], -torch.inf)
        return logits, fused.words[:, 0], fused.history[:, 0]

    def fuse(
        self,
        words: Tensor,
        is_word: Tensor,
        history: Tensor,
        is_seen: Tensor,
        seen: Tensor | None = None,
        is_there: Tensor | None = None,
        needed: int | None = None,
    ) -> Fused:
        """Let words and views attend to each other through all layers.

        Args:
            words: (B, L, W) of `read`.
            is_word: (B, L) bool.
            history: (B, K, W).
            is_seen: (B, K) bool.
            seen: (B, V, W), what is seen now; None for nothing.
            is_there: (B, V) bool.
            needed: as many of what is seen, the first word and the first of the history are returned alone,
                so that the last layer computes no others; None for all.
        """
        views, is_view, before = history, is_seen, history.shape[1]
        if seen is not None and is_there is not None:
            views, is_view = torch.cat((history, seen), 1), torch.cat((is_seen, is_there), 1)
        for number, layer in enumerate(self.cross_layers, 1):
            is_last = number == len(self.cross_layers)
            rows = None if needed is None or not is_last else [0, *range(before, before + needed)]
            words, views = layer(words, is_word, views, is_view, rows)
        if needed is not None:
            before = 1
        return Fused(words, views[:, :before], views[:, before:])

    def observe_views(self, walk: ObservedSteps) -> Tensor:
        """(T, 36 + 1, W) tokens of the views of T steps, whether or not a candidate is there, and of STOP."""
        rest = torch.zeros_like(walk.views[:, :1])
        images = torch.cat((self.feature_dropout(walk.views), rest), 1)
        angles = torch.cat((walk.view_angles, torch.zeros_like(walk.view_angles[:, :1])), 1)
        kinds = torch.where(_find_pointed(walk), CANDIDATE, VIEW)
        kinds = torch.cat((kinds, torch.full_like(kinds[:, :1], STOP)), 1)
        return self._embed(images, angles, kinds)

    def _make_history(self, own: Tensor, earlier: Tensor | None) -> tuple[Tensor, Tensor]:
        """(K, W) tokens before the views, and (T, K) bool, which of them each of T steps may see."""
        steps, begins = len(own), self.history.begin()
        parts, room = [begins[:1]], self._settings.steps - 1
        if earlier is not None and len(earlier):
            if self._settings.parts_tour:
                parts, room = [begins[1:]], room - 1
            room = max(room - (steps - 1), 0)
            parts.append(earlier[len(earlier) - min(room, len(earlier)) :])
            if self._settings.parts_tour:
                parts.append(begins[:1])
        before = torch.cat(parts)
        is_own = torch.ones(steps, steps, dtype=torch.bool, device=own.device).tril(-1)
        always = torch.ones(steps, len(before), dtype=torch.bool, device=own.device)
        return torch.cat((before, own)), torch.cat((always, is_own), 1)

    def _observe(self, walk: ObservedSteps) -> tuple[Tensor, Tensor]:
        """(T, 1 + C + 36, W) tokens of STOP, candidates and other views; (T, ...) bool, which are there."""
        count = walk.candidate_views.shape[1]
        images = torch.cat((walk.candidates, walk.views), 1)
        images = torch.cat((torch.zeros_like(images[:, :1]), self.feature_dropout(images)), 1)
        angles = torch.cat((walk.candidate_angles, walk.view_angles), 1)
        angles = torch.cat((torch.zeros_like(angles[:, :1]), angles), 1)
        kinds = torch.tensor([STOP, *[CANDIDATE] * count, *[VIEW] * 36], device=angles.device)
        leads = walk.candidate_views >= 0
        is_there = torch.cat((torch.ones_like(leads[:, :1]), leads, ~_find_pointed(walk)), 1)
        return self._embed(images, angles, kinds), is_there

    def _embed(self, images: Tensor, angles: Tensor, kinds: Tensor) -> Tensor:
        found = self.seen(images, angles) + self.kinds.weight[1] + self.seen_kinds(kinds)
        tokens: Tensor = self.dropout(self.seen_norm(found))
        return tokens

    def weigh(self, walk: ObservedSteps, labels: Tensor) -> Tensor:
        """(T,) float32 weights of the labels of a walk: 1, or those of inflections (IW), see weighs_turns."""
        if not self._settings.weighs_turns:
            return torch.ones(len(labels))
        rows = torch.arange(len(labels))
        angles = walk.candidate_angles[rows, (labels - 1).clamp_min(0)]
        turns = torch.atan2(angles[:, 0], angles[:, 1]) * (labels > 0)
        weights = turn_inflection_weights(turns.double().cpu().numpy(), (labels == 0).cpu().numpy())
        return torch.from_numpy(weights).float()


def _find_pointed(walk: ObservedSteps) -> Tensor:
    """(T, 36) bool, which views are the nearest one of a candidate."""
    places = walk.candidate_views
    pointed = torch.zeros(len(places), 37, dtype=torch.bool, device=places.device)
    return pointed.scatter(1, torch.where(places >= 0, places, 36), True)[:, :36]


class HistoryEncoder(torch.nn.Module):
    """Tokens of earlier steps: the view ahead, the action, the step number, and a mean of all views."""

    def __init__(self, settings: HAMTSettings) -> None:
        super().__init__()
        width = settings.width
        self.start = torch.nn.Parameter(torch.zeros(1, width))
        self.earlier = torch.nn.Parameter(torch.zeros(1, width)) if settings.parts_tour else None
        self.ahead = _Features(settings)
        self.steps, self._last = torch.nn.Embedding(settings.steps, width), settings.steps - 1
        self.kind = torch.nn.Parameter(0.02 * torch.randn(1, width))
        self.norm = torch.nn.LayerNorm(width, EPSILON)
        self.panorama = _Features(settings)
        self.panorama_layers = torch.nn.ModuleList(
            _SelfLayer(settings) for _ in range(settings.panorama_layers)
        )
        self.dropout = Dropout(settings.dropout)

    def begin(self) -> Tensor:
        """(1 or 2, W): tokens that begin the episode and, where there is one, what is before it."""
        marks = self.start if self.earlier is None else torch.cat((self.start, self.earlier))
        return self.dropout(self.norm(marks + self.kind))

    def forward(
        self, image: Tensor, taken: Tensor, step: Tensor, views: Tensor, view_angles: Tensor
    ) -> Tensor:
        """(K, W) of `image` (K, D), `taken` (K, 4), `step` (K,), `views` (K, 36, D), angles (K, 36, 4)."""
        return self.number(self.describe(image, taken, views, view_angles), step)

    def number(self, described: Tensor, step: Tensor) -> Tensor:
        """(K, W) tokens: vectors of `describe` for K steps with embeddings of their numbers `step` (K,)."""
        tokens: Tensor = self.dropout(self.norm(described + self.steps(step.clamp_max(self._last))))
        return tokens

    def describe(self, image: Tensor, taken: Tensor, views: Tensor, view_angles: Tensor) -> Tensor:
        """(K, W) vectors of K steps without their numbers; arguments as in `forward`."""
        around = self.dropout(self.panorama(views, view_angles))
        is_there = torch.ones(around.shape[:2], dtype=torch.bool, device=around.device)
        for layer in self.panorama_layers:
            around = layer(around, is_there)
        found: Tensor = self.ahead(image, taken) + self.kind + around.mean(1)
        return found


class _Features(torch.nn.Module):
    """Features and angles of views, each through a layer and its normalisation, added."""

    def __init__(self, settings: HAMTSettings) -> None:
        super().__init__()
        self.image = torch.nn.Linear(settings.features, settings.width)
        self.image_norm = torch.nn.LayerNorm(settings.width, EPSILON)
        self.angle = torch.nn.Linear(4, settings.width)
        self.angle_norm = torch.nn.LayerNorm(settings.width, EPSILON)

    def forward(self, images: Tensor, angles: Tensor) -> Tensor:
        return self.image_norm(self.image(images)) + self.angle_norm(self.angle(angles))


class _Attention(torch.nn.Module):
    """Attention of several heads, added to what asks, and normalised."""

    def __init__(self, settings: HAMTSettings) -> None:
        super().__init__()
        width, self._heads = settings.width, settings.heads
        self.query, self.key, self.value, self.out = (torch.nn.Linear(width, width) for _ in range(4))
        self.norm = torch.nn.LayerNorm(width, EPSILON)
        self.dropout = Dropout(settings.dropout)

    def forward(self, asking: Tensor, asked: Tensor, is_there: Tensor) -> Tensor:
        """(B, Q, W) of `asking` (B, Q, W) and `asked` (B, K, W), those that are there (B, K)."""
        query, key, value = (
            layer(one).unflatten(-1, (self._heads, -1)).transpose(1, 2)
            for layer, one in ((self.query, asking), (self.key, asked), (self.value, asked))
        )
        logits = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
        logits = logits.masked_fill(~is_there[:, None, None], -1e4)
        found = (self.dropout(logits.softmax(-1)) @ value).transpose(1, 2).flatten(2)
        return self.norm(asking + self.dropout(self.out(found)))


class _FeedForward(torch.nn.Module):
    """The feed-forward part of a layer: two layers with a GELU between, added and normalised."""

    def __init__(self, settings: HAMTSettings) -> None:
        super().__init__()
        self.first = torch.nn.Linear(settings.width, settings.inner)
        self.second = torch.nn.Linear(settings.inner, settings.width)
        self.norm = torch.nn.LayerNorm(settings.width, EPSILON)
        self.dropout = Dropout(settings.dropout)

    def forward(self, given: Tensor) -> Tensor:
        found = self.second(torch.nn.functional.gelu(self.first(given)))
        return self.norm(given + self.dropout(found))


class _SelfLayer(torch.nn.Module):
    """A layer of BERT: tokens attend to each other, then the feed-forward part."""

    def __init__(self, settings: HAMTSettings) -> None:
        super().__init__()
        self.attention, self.inner = _Attention(settings), _FeedForward(settings)

    def forward(self, given: Tensor, is_there: Tensor, rows: list[int] | None = None) -> Tensor:
        """All tokens of `given` (B, K, W), or those in `rows`, of which `is_there` (B, K) count."""
        asking = given if rows is None else given[:, rows]
        return self.inner(self.attention(asking, given, is_there))


class _CrossLayer(torch.nn.Module):
    """A layer of LXMERT: words and views ask each other by one attention, then each for themselves."""

    def __init__(self, settings: HAMTSettings) -> None:
        super().__init__()
        self.cross = _Attention(settings)
        self.words, self.views = _SelfLayer(settings), _SelfLayer(settings)

    def forward(
        self, words: Tensor, is_word: Tensor, views: Tensor, is_view: Tensor, rows: list[int] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Words (B, L, W) and views (B, V, W); where there are `rows`, those views and the first word."""
        heard, seen = self.cross(words, views, is_view), self.cross(views, words, is_word)
        return self.words(heard, is_word, None if rows is None else [0]), self.views(seen, is_view, rows)
