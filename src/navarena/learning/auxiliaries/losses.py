"""Auxiliary losses over a rollout fragment: pure functions of tensors."""

from navarena.learning.tensors import Tensor, torch

GOAL_WEIGHT = 10.0
"""Of places that show the goal in `goal_mask_loss`, which are few; ours."""


def mean_of(values: Tensor, counted: Tensor) -> Tensor:
    """() float32: the mean of `values` where `counted` (the same shape, bool) is True; 0 where none is."""
    return torch.where(counted, values, 0.0).sum() / counted.sum().clamp_min(1)


def progress_loss(predicted: Tensor, progress: Tensor) -> Tensor:
    """Progress monitor: mean squared error of the predicted progress, () float32.

    Args:
        predicted: (T, N) float32, of -1 to 1.
        progress: (T, N) float32, (D - d) / D, where d is the distance to the goal and D that at the start;
            numbers that are not finite do not count.
    """
    known = torch.isfinite(progress)
    return mean_of((predicted - torch.where(known, progress, 0.0)).square(), known)


def goal_distance_loss(predicted: Tensor, distance: Tensor) -> Tensor:
    """Distance regression: mean smooth L1 error of log(1 + metres), () float32; near goals count most.

    Args:
        predicted: (T, N) float32, log(1 + metres).
        distance: (T, N) float32 metres; negative ones are unknown and do not count.
    """
    known = distance >= 0
    wanted = torch.log1p(distance.clamp_min(0))
    errors = torch.nn.functional.smooth_l1_loss(predicted, wanted, reduction="none", beta=0.1)
    return mean_of(errors, known)


def inverse_dynamics_loss(logits: Tensor, actions: Tensor, counted: Tensor) -> Tensor:
    """Action prediction: mean cross-entropy of the action between two frames, () float32.

    Args:
        logits: (T, N, A) float32, from step t and the next.
        actions: (T, N) int64, of step t, counted without the declaration.
        counted: (T, N) bool, of `count_pairs`.
    """
    log_probs = torch.log_softmax(logits, -1)
    return mean_of(-log_probs.gather(-1, actions[..., None])[..., 0], counted)


def count_pairs(mask: Tensor) -> Tensor:
    """(T, N) bool: whether step t + 1 is in the fragment and of the same episode as step t.

    mask: (T, N) bool, False where the step is the first of an episode.
    """
    return torch.cat((mask[1:], torch.zeros_like(mask[:1])))


def rotation_loss(logits: Tensor, turns: Tensor) -> Tensor:
    """Rotation prediction: mean cross-entropy of the number of quarter turns, () float32.

    Args:
        logits: (B, 4) float32.
        turns: (B,) int64, 0 to 3.
    """
    return torch.nn.functional.cross_entropy(logits, turns)


def turn_images(images: Tensor, turns: Tensor) -> Tensor:
    """(B, H, W, C): `images` turned by quarters to the left, and squeezed to the size that they had.

    Pixels are the nearest ones.

    Args:
        images: (B, H, W, C), any dtype.
        turns: (B,) int64, 0 to 3.
    """
    height, width = images.shape[1:3]
    down = (torch.arange(height) + 0.5) / height
    across = (torch.arange(width) + 0.5) / width
    y, x = torch.meshgrid(down, across, indexing="ij")
    # where a pixel comes from: a quarter to the left takes row y, column x from row x, column 1 - y
    sources = ((y, x), (x, 1.0 - y), (1.0 - y, 1.0 - x), (1.0 - x, y))
    rows = torch.stack([(one[0] * height).floor().long().clamp(0, height - 1) for one in sources])
    columns = torch.stack([(one[1] * width).floor().long().clamp(0, width - 1) for one in sources])
    number = torch.arange(len(images), device=images.device)[:, None, None]
    return images[number, rows.to(images.device)[turns], columns.to(images.device)[turns]]


def recognition_loss(logits: Tensor, present: Tensor) -> Tensor:
    """Object recognition: mean binary cross-entropy over steps and categories, () float32.

    Args:
        logits: (T, N, C) float32.
        present: (T, N, C) bool, whether the category is in view.
    """
    return torch.nn.functional.binary_cross_entropy_with_logits(logits, present.float())


def seen_class_loss(logits: Tensor, classes: Tensor) -> Tensor:
    """Class of the seen object: mean cross-entropy over all steps, () float32.

    Args:
        logits: (B, K) float32.
        classes: (B,) of whole numbers, 0 to K - 1.
    """
    return torch.nn.functional.cross_entropy(logits, classes.long())


def goal_mask_loss(logits: Tensor, masks: Tensor) -> Tensor:
    """Where the goal is: mean binary cross-entropy over places, () float32; the goal weighs GOAL_WEIGHT.

    Args:
        logits: (B, h, w) float32.
        masks: (B, H, W, 1) uint8, 1 where a pixel shows the goal; of a place, the share of such pixels.
    """
    shares = torch.nn.functional.adaptive_avg_pool2d(masks[..., 0].float()[:, None], logits.shape[1:])[:, 0]
    weight = logits.new_tensor(GOAL_WEIGHT)
    return torch.nn.functional.binary_cross_entropy_with_logits(logits, shares, pos_weight=weight)


def segmentation_loss(logits: Tensor, classes: Tensor) -> Tensor:
    """What stands at every place: mean cross-entropy over places, () float32; void counts as any class.

    Args:
        logits: (B, K, h, w) float32.
        classes: (B, H, W, 1) of whole numbers below K; the pixel in the middle of a place counts.
    """
    (height, width), (rows, columns) = classes.shape[1:3], logits.shape[2:]
    down = ((torch.arange(rows, device=classes.device) + 0.5) * height / rows).long()
    across = ((torch.arange(columns, device=classes.device) + 0.5) * width / columns).long()
    middle = classes[:, down][:, :, across, 0].long()
    return torch.nn.functional.cross_entropy(logits, middle)


def find_categories(labels: Tensor, categories: int) -> Tensor:
    """(T, N, C) bool: which of `categories` C the images `labels` (T, N, ...) int64 show.

    Other numbers are left out.
    """
    steps, slots = labels.shape[:2]
    flat = labels.reshape(steps, slots, -1).long()
    known = (flat >= 0) & (flat < categories)
    present = torch.zeros(steps, slots, categories + 1, dtype=torch.bool, device=labels.device)
    present.scatter_(2, torch.where(known, flat, categories), True)
    return present[..., :categories]


def contrast_loss(positive: Tensor, negative: Tensor, counted: Tensor) -> Tensor:
    """CPC|A: mean binary cross-entropy of telling the frame that followed from another one, () float32.

    Guo et al. 2018, "Neural predictive belief representations".

    Args:
        positive: (S, K) float32, logits of the frame K horizons after each of S starts.
        negative: (S, K) float32, logits of another frame.
        counted: (S, K) bool, of `count_horizons`.
    """
    softplus = torch.nn.functional.softplus
    return 0.5 * mean_of(softplus(-positive) + softplus(negative), counted)


def count_horizons(mask: Tensor, start: Tensor, slot: Tensor, horizons: tuple[int, ...]) -> Tensor:
    """(S, K) bool: whether step k after each start lies in the fragment and in the same episode.

    Args:
        mask: (T, N) bool, False where the step is the first of an episode.
        start: (S,) int64, steps.
        slot: (S,) int64.
        horizons: K numbers of steps.
    """
    steps = len(mask)
    number = (~mask).cumsum(0)  # of the episode in its slot
    later = start[:, None] + torch.tensor(horizons, device=mask.device)
    same = number[later.clamp_max(steps - 1), slot[:, None]] == number[start, slot][:, None]
    return (later < steps) & same


def temporal_distance_loss(predicted: Tensor, first: Tensor, second: Tensor, steps: int) -> Tensor:
    """Temporal distance: mean squared error of the predicted share of the fragment between two frames, ().

    Args:
        predicted: (S,) float32.
        first: (S,) int64, steps.
        second: (S,) int64, later steps of the same episodes.
        steps: T, of the fragment.
    """
    return (predicted - (second - first).float() / steps).square().mean()


def last_steps(mask: Tensor) -> Tensor:
    """(T, N) int64: the last step in the fragment of the episode that step t belongs to.

    mask: (T, N) bool, False where the step is the first of an episode.
    """
    steps = len(mask)
    last = torch.full(mask.shape, steps - 1, dtype=torch.int64, device=mask.device)
    for step in range(steps - 2, -1, -1):
        last[step] = torch.where(mask[step + 1], last[step + 1], step)
    return last
