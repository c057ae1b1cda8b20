"""HAMT's proxy tasks over the whole episodes of a rollout that the teacher leads: one is drawn, and its loss.

What each task hides is drawn from a named generator; the losses themselves are functions of tensors.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Int

from navarena.core.errors import InputError
from navarena.learning.auxiliaries.settings import PROXIES, ProxySettings
from navarena.learning.graph_policy import GraphPolicy
from navarena.learning.inputs import TOKENS
from navarena.learning.networks.hamt import Fused, ObservedSteps
from navarena.learning.networks.hamt_proxies import ProxyHeads
from navarena.learning.storage import Fragment
from navarena.learning.tensors import Tensor, torch
from navarena.scenes.graphs.panorama import VIEW_ELEVATIONS, VIEW_HEADINGS, VIEWS, relative_angle

DISTANCES = "candidate_distances"
"""The sensor by which sar knows how far a path is done, among the `targets` of a recipe."""

OTHERS, SHUFFLES = 2, 2
"""Paths beside the right one among which itm chooses: other ones, and itself in another order."""

_FIRST_WORD = 2
"""The least number of a word that may take the place of another: behind padding and the unknown word."""


@dataclass(frozen=True)
class Paths:
    """E whole episodes, whose S steps stand one after the other.

    Attributes:
        tokens: (E, L) int64, instructions, padded with 0.
        walk: S steps; its actions are those of the teacher.
        distances: (S, C) float32, metres to the candidates.
        episode: (S,) int64.
        step: (S,) int64, in its episode.
        rows: (E, T) int64, where the steps of each episode stand.
        is_there: (E, T) bool, False behind the end of an episode.
    """

    tokens: Tensor
    walk: ObservedSteps
    distances: Tensor
    episode: Tensor
    step: Tensor
    rows: Tensor
    is_there: Tensor


def find_whole_episodes(
    begins: Bool[np.ndarray, "t n"], stops: Bool[np.ndarray, "t n"]
) -> list[tuple[int, int, int]]:
    """(slot, first step, last step) of the episodes that begin and stop within T steps of N slots.

    Args:
        begins: (T, N) bool, first steps.
        stops: (T, N) bool, steps whose label is STOP.
    """
    found = []
    for slot in range(begins.shape[1]):
        firsts, lasts = np.flatnonzero(begins[:, slot]), np.flatnonzero(stops[:, slot])
        for first, following in zip(firsts.tolist(), [*firsts[1:].tolist(), len(begins)]):
            own = lasts[(lasts >= first) & (lasts < following)]
            if len(own):
                found.append((slot, first, int(own[0])))
    return found


def gather_paths(policy: GraphPolicy, part: Fragment) -> Paths | None:
    """The complete episodes of a fragment; None if there are none."""
    begins, labels = ~part.mask, part.labels
    whole = find_whole_episodes(begins.cpu().numpy(), (labels == 0).cpu().numpy())
    if not whole:
        return None
    slots = torch.tensor([slot for slot, first, last in whole for _ in range(first, last + 1)])
    times = torch.tensor([step for _, first, last in whole for step in range(first, last + 1)])
    lengths = torch.tensor([last - first + 1 for _, first, last in whole])
    episode = torch.repeat_interleave(torch.arange(len(whole)), lengths)
    ends = lengths.cumsum(0)
    step = torch.arange(len(times)) - (ends - lengths)[episode]
    ahead = torch.arange(int(lengths.max()))
    device = part.mask.device
    slots, times, lengths, episode, step, ahead = (
        one.to(device) for one in (slots, times, lengths, episode, step, ahead)
    )
    seen = {name: value[times, slots] for name, value in part.observations.items()}
    rows = (ends.to(device) - lengths)[:, None] + ahead
    tokens = seen[TOKENS][rows[:, 0]].long()
    return Paths(
        tokens[:, : min(max(int((tokens != 0).sum(1).max()), 1), policy.network.max_words)],
        policy.make_observed_steps(seen, labels[times, slots]),
        seen[DISTANCES],
        episode,
        step,
        rows.clamp_max(len(times) - 1),
        ahead < lengths[:, None],
    )


def proxy_loss(
    policy: GraphPolicy, settings: ProxySettings, part: Fragment, generator: np.random.Generator
) -> tuple[Tensor, dict[str, float]]:
    """The loss () of one task, drawn by `generator`, over the whole episodes of a fragment, and by its name.

    Without a whole episode the loss is 0.
    """
    weights = np.array(settings.weights)
    name = PROXIES[int(generator.choice(len(PROXIES), p=weights / weights.sum()))]
    paths = gather_paths(policy, part)
    if paths is None:
        return sum(one.sum() for one in policy.parameters()) * 0.0, {}
    learner = ProxyLearner(policy, settings, generator)
    loss = getattr(learner, name)(paths)
    return loss, {f"{name}_loss": float(loss.detach())}


class ProxyLearner:
    """The losses () of the proxy tasks, one method each, by the names of the published code.

    Args:
        policy: with the heads of proxies as `auxiliaries`.
        settings: shares.
        generator: draws what is hidden.
    """

    def __init__(self, policy: GraphPolicy, settings: ProxySettings, generator: np.random.Generator) -> None:
        heads = dict(policy.named_children()).get("auxiliaries")
        if not isinstance(heads, ProxyHeads):
            raise InputError("expected a policy with the heads of proxy tasks, got one without")
        self._network, self._heads = policy.network, heads
        self._settings, self._generator = settings, generator

    def mlm(self, paths: Paths) -> Tensor:
        """Masked words: cross-entropy, mean over the masked words."""
        hidden, shown = self._hide_words(paths.tokens)
        fused = self._fuse_path(replace(paths, tokens=shown), self._describe(paths.walk))
        logits = self._heads.predict_words(fused.words[hidden], self._network.words.weight)
        return torch.nn.functional.cross_entropy(logits, paths.tokens[hidden])

    def sap(self, paths: Paths) -> Tensor:
        """The next action: cross-entropy, mean over the steps."""
        words, is_word, history, is_seen = self._begin_steps(paths)
        logits = self._network.judge(words, is_word, history, is_seen, self._hide_seen(paths.walk))[0]
        return torch.nn.functional.cross_entropy(logits, paths.walk.actions)

    def sar(self, paths: Paths) -> Tensor:
        """Heading and elevation of the next action, and how far the path is done: mean squared error."""
        words, is_word, history, is_seen = self._begin_steps(paths)
        first = self._network.judge(words, is_word, history, is_seen, self._hide_seen(paths.walk))[1]
        targets = torch.cat((action_angles(paths.walk), measure_progress(paths)[:, None]), 1)
        return torch.nn.functional.mse_loss(self._heads.actions(first).float(), targets)

    def sprel(self, paths: Paths) -> Tensor:
        """Heading and elevation of all views relative to one of them: mean squared error."""
        words, is_word, history, is_seen = self._begin_steps(paths)
        seen = self._network.observe_views(self._hide_seen(paths.walk))
        is_there = torch.ones(seen.shape[:2], dtype=torch.bool, device=seen.device)
        views = self._network.fuse(words, is_word, history, is_seen, seen, is_there).seen[:, :VIEWS]
        anchors = self._generator.integers(VIEWS, size=len(views))
        rows = torch.arange(len(views), device=views.device)
        own = views[rows, torch.from_numpy(anchors).to(views.device)][:, None].expand_as(views)
        predicted = self._heads.relations(torch.cat((own, views), -1)).float()
        targets = torch.from_numpy(relate_views()[anchors]).float().to(predicted.device)
        return torch.nn.functional.mse_loss(predicted, targets)

    def mrc(self, paths: Paths) -> Tensor:
        """What hidden views show: KL divergence from their shares, mean over the steps that are hidden."""
        hidden = self._draw_some(paths.is_there.cpu().numpy(), self._settings.step_share)
        is_hidden = torch.from_numpy(hidden).to(paths.rows.device)
        of_steps = torch.zeros_like(paths.step, dtype=torch.bool)
        of_steps[paths.rows[is_hidden]] = True
        walk = paths.walk
        shares = view_shares(walk.views[torch.arange(len(walk.view), device=walk.view.device), walk.view])
        shown = replace(walk, views=walk.views * ~of_steps[:, None, None])
        fused = self._fuse_path(paths, self._describe(shown))
        logits = self._heads.classes(fused.history[:, 1:][is_hidden]).float()
        return shares_loss(logits, shares[paths.rows[is_hidden]])

    def itm(self, paths: Paths) -> Tensor:
        """Which of five paths the words describe: cross-entropy, mean over the episodes."""
        described, count = self._describe(paths.walk), len(paths.rows)
        order = np.tile(np.arange(paths.rows.shape[1]), (count, 1))
        chosen, orders, is_other = [np.arange(count)], [order], [np.ones(count, bool)]
        is_same = find_same(paths)
        for _ in range(OTHERS):
            other, found = draw_others(is_same, self._generator)
            chosen, orders, is_other = [*chosen, other], [*orders, order], [*is_other, found]
        lengths = paths.is_there.sum(1).cpu().numpy()
        for _ in range(SHUFFLES):
            shuffled, found = shuffle_steps(order, lengths, self._generator)
            chosen, orders, is_other = [*chosen, chosen[0]], [*orders, shuffled], [*is_other, found]
        device = paths.rows.device
        words, is_word = self._network.read(paths.tokens)
        logits = []
        for episodes, steps in zip(chosen, orders):
            rows = torch.from_numpy(episodes).to(device)
            history = self._network.history.number(
                described[paths.rows[rows]], torch.from_numpy(steps).to(device)
            )
            fused = self._fuse_tokens(words, is_word, history, paths.is_there[rows])
            logits.append(self._heads.matches(fused.words[:, 0] * fused.history[:, 0])[:, 0].float())
        counted = torch.from_numpy(np.stack(is_other, 1)).to(device)
        return match_loss(torch.stack(logits, 1), counted)

    def _describe(self, walk: ObservedSteps) -> Tensor:
        """(S, W) history vectors of steps without their numbers."""
        rows = torch.arange(len(walk.view), device=walk.view.device)
        taken = walk.candidate_angles[rows, (walk.actions - 1).clamp_min(0)] * (walk.actions > 0)[:, None]
        views = self._network.feature_dropout(walk.views)
        described: Tensor = self._network.history.describe(
            views[rows, walk.view], taken, views, walk.view_angles
        )
        return described

    def _fuse_path(self, paths: Paths, described: Tensor) -> Fused:
        """The words and all steps of each of E episodes, behind the token that begins them."""
        words, is_word = self._network.read(paths.tokens)
        history = self._network.history.number(described, paths.step)[paths.rows]
        return self._fuse_tokens(words, is_word, history, paths.is_there)

    def _fuse_tokens(self, words: Tensor, is_word: Tensor, history: Tensor, is_there: Tensor) -> Fused:
        begin = self._network.history.begin()[:1].expand(len(words), -1, -1)
        is_seen = torch.cat((torch.ones_like(is_there[:, :1]), is_there), 1)
        found: Fused = self._network.fuse(words, is_word, torch.cat((begin, history), 1), is_seen)
        return found

    def _begin_steps(self, paths: Paths) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Words (S, L, W) and history (S, 1 + T, W) of every step, each with which count."""
        words, is_word = self._network.read(paths.tokens)
        tokens = self._network.history.number(self._describe(paths.walk), paths.step)[paths.rows]
        begin = self._network.history.begin()[:1].expand(len(tokens), -1, -1)
        history = torch.cat((begin, tokens), 1)[paths.episode]
        before = torch.arange(history.shape[1], device=history.device) <= paths.step[:, None]
        return words[paths.episode], is_word[paths.episode], history, before

    def _hide_words(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """(E, L) bool mask of words to predict, and (E, L) int64 masked tokens."""
        draw, settings = self._generator, self._settings
        known = tokens.cpu().numpy()
        hidden = self._draw_some(known != 0, settings.word_share)
        how, shown = draw.random(known.shape), known.copy()
        shown[hidden & (how < 0.8)] = settings.mask
        other = draw.integers(_FIRST_WORD, len(self._network.words.weight), known.shape)
        replaced = hidden & (how >= 0.8) & (how < 0.9)
        shown[replaced] = other[replaced]
        return torch.from_numpy(hidden).to(tokens.device), torch.from_numpy(shown).to(tokens.device)

    def _draw_some(self, is_there: Bool[np.ndarray, "e t"], share: float) -> Bool[np.ndarray, "e t"]:
        """(E, T) bool: each that is there with the probability `share`, and at least one of each row."""
        chosen = is_there & (self._generator.random(is_there.shape) < share)
        last = np.argmax(np.where(is_there, self._generator.random(is_there.shape), -1.0), 1)
        empty = np.flatnonzero(~chosen.any(1))
        chosen[empty, last[empty]] = is_there[empty, last[empty]]
        return chosen

    def _hide_seen(self, walk: ObservedSteps) -> ObservedSteps:
        """`walk` with features or angles hidden in some steps."""
        settings, count = self._settings, len(walk.view)
        no_image = self._generator.random(count) < settings.image_share
        no_angle = ~no_image & (self._generator.random(count) < settings.angle_share)
        image, angle = (
            torch.from_numpy(~one).to(walk.view.device)[:, None, None] for one in (no_image, no_angle)
        )
        return replace(
            walk,
            views=walk.views * image,
            candidates=walk.candidates * image,
            view_angles=walk.view_angles * angle,
            candidate_angles=walk.candidate_angles * angle,
        )


def action_angles(walk: ObservedSteps) -> Tensor:
    """(S, 2) float32 radians: heading and elevation of the actions from where the body looks; 0 of STOP."""
    rows = torch.arange(len(walk.actions), device=walk.actions.device)
    angles = walk.candidate_angles[rows, (walk.actions - 1).clamp_min(0)]
    both = torch.stack((torch.atan2(angles[:, 0], angles[:, 1]), torch.atan2(angles[:, 2], angles[:, 3])), 1)
    return both * (walk.actions > 0)[:, None]


def measure_progress(paths: Paths) -> Tensor:
    """(S,) float32: the share of a path's length that lies behind each of its steps; 1 at its end."""
    rows = torch.arange(len(paths.step), device=paths.step.device)
    moves = paths.walk.actions > 0
    lengths = paths.distances[rows, (paths.walk.actions - 1).clamp_min(0)] * moves
    each = torch.where(paths.is_there, lengths[paths.rows], 0.0)
    total = each.sum(1)
    left = (total[:, None] - each.cumsum(1) + each)[paths.episode, paths.step]
    # 0.1 m: that of the published code (r2r_data.py)
    return torch.where(moves, 1.0 - left / total[paths.episode].clamp_min(0.1), 1.0)


def relate_views() -> np.ndarray:
    """(36, 36, 2) radians in [-pi, pi): heading and elevation of the second view relative to the first."""
    headings = relative_angle(VIEW_HEADINGS[None], VIEW_HEADINGS[:, None])
    return np.stack((headings, VIEW_ELEVATIONS[None] - VIEW_ELEVATIONS[:, None]), -1)


def view_shares(features: Tensor) -> Tensor:
    """(K, D) float32: what views show, as shares that add up to 1; 0 where nothing is counted.

    `features` (K, D) are roots of shares (see HouseFeatures); the published code takes the classes of its
    network of images, which stand behind the features in its files.
    """
    squares = features.square()
    return squares / squares.sum(1, keepdim=True).clamp_min(1e-8)


def shares_loss(logits: Tensor, shares: Tensor) -> Tensor:
    """KL divergence () of the softmax of `logits` (K, D) from `shares` (K, D), mean over rows with any."""
    counted = shares.sum(1) > 0.5
    each = torch.nn.functional.kl_div(torch.log_softmax(logits, 1), shares, reduction="none").sum(1)
    return (each * counted).sum() / counted.sum().clamp_min(1)


def match_loss(logits: Tensor, counted: Tensor) -> Tensor:
    """Cross-entropy () of choosing the first of the paths of each row, mean over rows.

    Args:
        logits: (E, 5) float32.
        counted: (E, 5) bool, which of them are paths to choose among, the first always.
    """
    chosen = torch.log_softmax(logits.masked_fill(~counted, -torch.inf), 1)[:, 0]
    return -chosen.mean()


def find_same(paths: Paths) -> Bool[np.ndarray, "e e"]:
    """(E, E) bool: whether two episodes have the same path, by length and views."""
    ones = paths.is_there.float()
    views = (paths.walk.views.mean((1, 2))[paths.rows] * ones).sum(1)
    looks = (paths.walk.view[paths.rows] * ones).sum(1)
    marks = torch.stack((ones.sum(1), views, looks), 1)
    found: Bool[np.ndarray, "e e"] = ((marks[:, None] - marks).abs() < 1e-6).all(-1).cpu().numpy()
    return found


def draw_others(
    is_same: Bool[np.ndarray, "e e"], generator: np.random.Generator
) -> tuple[Int[np.ndarray, "e"], Bool[np.ndarray, "e"]]:
    """(E,) an episode of another path for each one, drawn by `generator`; (E,) bool, whether there is one."""
    order = np.where(is_same, -1.0, generator.random(is_same.shape))
    return np.argmax(order, 1), ~is_same.all(1)


def shuffle_steps(
    order: Int[np.ndarray, "e t"], lengths: Int[np.ndarray, "e"], generator: np.random.Generator
) -> tuple[Int[np.ndarray, "e t"], Bool[np.ndarray, "e"]]:
    """(E, T) the numbers of the first `lengths` (E,) steps of each episode in another order; (E,) bool,
    whether there is one.
    """
    shuffled = order.copy()
    for row, length in enumerate(lengths.tolist()):
        drawn = generator.permutation(length)
        if (drawn == np.arange(length)).all():
            drawn = np.roll(drawn, 1)
        shuffled[row, :length] = drawn
    return shuffled, lengths > 1
