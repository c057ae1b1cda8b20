"""Memories of attention: the embeddings of past steps as explicit state, read by SMT or FRMQN.

The state holds the last M embeddings in a ring and how many steps the episode has. The entries of past steps
are constants of an update; the step's own passes gradients on.
"""

import math

from navarena.core.errors import InputError
from navarena.learning.networks.memories import Memory, start_orthogonal
from navarena.learning.tensors import Tensor, Tree, reset_rows, torch

POSE = 3
"""Numbers of a pose: metres ahead and to the right of the start, radians turned to the left since."""

ROWS = 64
"""Steps whose memories are learned from at once."""

POSE_FEATURES = 16
"""Of the layer that reads relative poses (SoundSpaces, ss_baselines/savi)."""


class Ring:
    """The last M entries of each slot, written before they are read.

    State: "entries" (N, M, K) float32 and "steps" (N,) int64, steps of the episode so far.

    Args:
        size: M.
        numbers: K.

    Raises InputError for a size below 1.
    """

    def __init__(self, size: int, numbers: int) -> None:
        if size < 1:
            raise InputError(f"expected a memory of at least 1 step, got {size}")
        self._size, self._numbers = size, numbers

    def initial_state(self, slots: int, device: object) -> Tree:
        """Nothing in any of `slots`."""
        return {
            "entries": torch.zeros(slots, self._size, self._numbers, device=device),
            "steps": torch.zeros(slots, dtype=torch.int64, device=device),
        }

    @property
    def size(self) -> int:
        """M."""
        return self._size

    def write_all(self, entries: Tensor, state: Tree, mask: Tensor) -> tuple[Tensor, Tensor, Tree]:
        """Write `entries` (T, N, K) of T steps.

        Returns what stands in the order of time, (M - 1 + T, N, K) without gradient, of which a step reads
        the M up to its own; which of these there are (T * N, M) bool; and the state after the last.
        """
        steps, size = state["steps"], self._size
        after = state["entries"].clone()
        rows = torch.arange(len(steps), device=entries.device)
        # the oldest would be overwritten by the first step
        order = (steps[:, None] + torch.arange(1, size, device=entries.device)) % size
        before = after[rows[:, None], order].transpose(0, 1)
        seen = torch.cat((before, entries.detach().to(before.dtype)))
        counts = []
        for entry, keep in zip(seen[size - 1 :], mask):
            steps = steps * keep
            after[rows, steps % size] = entry
            counts.append(steps)
            steps = steps + 1
        ages = torch.arange(size - 1, -1, -1, device=entries.device)
        lives = ages <= torch.stack(counts)[..., None]
        return seen, lives.flatten(0, 1), {"entries": after, "steps": steps}

    def write(self, entry: Tensor, state: Tree, mask: Tensor) -> tuple[Tensor, Tensor, Tensor, Tree]:
        """Write one `entry` (N, K) for each slot.

        Returns the entries (N, M, K) with the new one in place, their ages (N, M) int64 in steps, which of
        them there are (N, M) bool, and the state after it, without gradient.
        """
        before = reset_rows({"steps": state["steps"]}, mask)["steps"]
        place = before % self._size
        rows = torch.arange(len(entry), device=entry.device)
        entries = state["entries"].index_put((rows, place), entry.to(state["entries"].dtype))
        columns = torch.arange(self._size, device=entry.device)
        ages = (place[:, None] - columns) % self._size
        lives = ages <= before[:, None]
        return entries, ages, lives, {"entries": entries.detach(), "steps": before + 1}


class FRMQNMemory(Memory):
    """The memory of FRMQN (Oh et al. 2016): an LSTM with feedback asks, keys of past embeddings answer.

    e = W x; h = LSTM([e, o before]); the keys of the last M embeddings, this one among them, are compared
    with h, one head, unscaled; o is the sum of their values. The output is W h + o, its first half through
    ReLU. MultiON says one sentence of it: the sizes are those of its recurrent agent.

    Args:
        inputs: features per step.
        hidden: of e, h, o and the output; even.
        size: M.
    """

    def __init__(self, inputs: int, hidden: int, size: int) -> None:
        super().__init__()
        self._ring, self._hidden, self.features = Ring(size, hidden), hidden, hidden
        self.embedding = torch.nn.Linear(inputs, hidden)
        self.cell = torch.nn.LSTMCell(2 * hidden, hidden)
        self.key = torch.nn.Linear(hidden, hidden, bias=False)
        self.value = torch.nn.Linear(hidden, hidden, bias=False)
        self.output = torch.nn.Linear(hidden, hidden, bias=False)
        start_orthogonal(self.cell)

    def initial_state(self, slots: int) -> Tree:
        device = self.key.weight.device
        names = ("hidden", "cell", "read")
        state = {name: torch.zeros(slots, self._hidden, device=device) for name in names}
        return state | self._ring.initial_state(slots, device)

    def step(self, features: Tensor, state: Tree, mask: Tensor) -> tuple[Tensor, Tree]:
        own = reset_rows({name: state[name] for name in ("hidden", "cell", "read")}, mask)
        embedded = self.embedding(features)
        entries, _, lives, after = self._ring.write(embedded, state, mask)
        hidden, cell = self.cell(torch.cat((embedded, own["read"]), 1), (own["hidden"], own["cell"]))
        # key(e) . h = e . (transposed key matrix times h): the keys of all entries need not be computed
        asked = hidden @ self.key.weight
        scores = (entries * asked[:, None]).sum(2).masked_fill(~lives, -math.inf)
        weights = torch.softmax(scores, 1)
        read = self.value((weights[..., None] * entries).sum(1))
        first, second = (self.output(hidden) + read).chunk(2, 1)
        own = {"hidden": hidden, "cell": cell, "read": read}
        # states stay float32 where products are computed in fewer bits
        return torch.cat((first.relu(), second), 1), after | {k: value.float() for k, value in own.items()}


class SMTMemory(Memory):
    """The scene memory transformer (Fang et al. 2019), as SoundSpaces has it (ss_baselines/savi).

    An entry is a step's features and, with poses, where the body stood. At every step all entries are read
    relative to the present pose and fused to `hidden` numbers; one transformer layer lets them attend to each
    other, a second one lets the present attend to them. The output is that of the second.

    Args:
        inputs: features per step; with poses these come behind the POSE numbers of the pose.
        hidden: of fused entries and of the output; a multiple of `heads`.
        size: entries, the present one among them.
        heads: of attention.
        has_pose: whether the first POSE of the inputs are a pose, as gps and compass show it.

    Raises InputError when hidden is no multiple of heads.
    """

    def __init__(self, inputs: int, hidden: int, size: int, heads: int, has_pose: bool) -> None:
        super().__init__()
        self._has_pose, self.features = has_pose, hidden
        self._ring = Ring(size, inputs)
        width = inputs
        if has_pose:
            self.pose_layer = torch.nn.Linear(5, POSE_FEATURES)
            width += POSE_FEATURES - POSE
        self.fusion = torch.nn.Sequential(
            torch.nn.Linear(width, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, hidden)
        )
        self.encoder = _Layer(hidden, heads, 1)
        self.decoder = _Layer(hidden, heads, 2)

    def initial_state(self, slots: int) -> Tree:
        return self._ring.initial_state(slots, self.fusion[0].weight.device)

    def step(self, features: Tensor, state: Tree, mask: Tensor) -> tuple[Tensor, Tree]:
        outputs, after = self.unroll(features[None], state, mask[None])
        return outputs[0], after

    def unroll(self, features: Tensor, state: Tree, mask: Tensor) -> tuple[Tensor, Tree]:
        """Equal to repeated `step` up to rounding.

        What the first layer makes of an entry is computed once, not for each step that reads it.
        """
        entries, lives, after = self._ring.write_all(features, state, mask)
        shown = self._fuse_first(entries, features)
        if not torch.is_grad_enabled():  # a step of one slot does not depend on the others, to the last bit
            return self._read(shown, lives).unflatten(0, mask.shape), after
        counts = lives.sum(1)
        order = torch.argsort(counts, stable=True)
        parts = []
        for rows in order.split(ROWS):  # of about as many entries, without those that none of them has
            longest = int(counts[rows[-1]])
            parts.append(self._read(shown[rows, -longest:], lives[rows, -longest:]))
        return torch.cat(parts)[torch.argsort(order)].unflatten(0, mask.shape), after

    def _read(self, shown: Tensor, lives: Tensor) -> Tensor:
        """(B, hidden) of entries behind their first layer (B, M, hidden); `lives` (B, M): which there are."""
        fused = self.fusion[1:](shown)
        remembered = self.encoder(fused, fused, lives)
        return self.decoder(fused[:, -1:], remembered, lives)[:, 0]

    def _fuse_first(self, entries: Tensor, features: Tensor) -> Tensor:
        """(T * N, M, H): the first layer of the fusion, of the last M entries of each step, its own the last.

        Args:
            entries: (M - 1 + T, N, K), without gradient.
            features: (T, N, K), with it.
        """
        layer, size = self.fusion[0], self._ring.size
        weight, steps = layer.weight, len(features)
        split = POSE if self._has_pose else 0
        of_entries = weight[:, : entries.shape[2] - split]
        # from (N, M - 1 + T, H), the M entries up to each step
        made = torch.nn.functional.linear(entries[..., split:], of_entries, layer.bias).float()
        shown = made.unfold(0, size, 1).transpose(2, 3)
        if self._has_pose:
            poses = entries[..., :POSE].unfold(0, size, 1).transpose(2, 3).flatten(0, 1)
            ages = torch.arange(size - 1, -1, -1, device=poses.device)
            related = relate_poses(poses, poses[:, -1], ages)
            # a layer of poses behind a layer of poses is one
            of_poses = weight[:, of_entries.shape[1] :]
            joined = of_poses @ self.pose_layer.weight
            related = torch.nn.functional.linear(related, joined, of_poses @ self.pose_layer.bias)
            shown = shown + related.unflatten(0, (steps, -1))
        if torch.is_grad_enabled() and features.requires_grad:
            own = torch.nn.functional.linear(features[..., split:], of_entries.detach())
            passing = own - own.detach()  # 0, with the gradient that reaches the step's own features
            shown = torch.cat((shown[:, :, :-1], shown[:, :, -1:] + passing[:, :, None]), 2)
        return shown.flatten(0, 1)


def relate_poses(poses: Tensor, present: Tensor, ages: Tensor) -> Tensor:
    """(N, M, 5) float32 of past poses, as the body would see them now.

    Metres ahead and to the right, cosine and sine of the turn to the left, and exp(-age), which SoundSpaces
    takes of the time since the start: that is 0 after a hundred steps.

    Args:
        poses: (N, M, 3), see POSE.
        present: (N, 3).
        ages: (N, M) or (M,) int64, steps.
    """
    ahead, right, turned = (poses - present[:, None]).unbind(2)
    cosine, sine = present[:, 2:].cos(), present[:, 2:].sin()
    return torch.stack(
        (
            ahead * cosine - right * sine,
            ahead * sine + right * cosine,
            turned.cos(),
            turned.sin(),
            (-ages.float()).exp().expand(ahead.shape),
        ),
        2,
    )


class _Layer(torch.nn.Module):
    """A transformer layer, normalised behind each part: attention (once or twice), then two linear layers.

    With two attentions the first is of the queries to themselves, as in a decoder.
    """

    def __init__(self, hidden: int, heads: int, attentions: int) -> None:
        super().__init__()
        self.attentions = torch.nn.ModuleList(_Attention(hidden, heads) for _ in range(attentions))
        self.forward_layers = torch.nn.Sequential(
            torch.nn.Linear(hidden, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, hidden)
        )
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(hidden) for _ in range(attentions + 1))
        self.last_norm = torch.nn.LayerNorm(hidden)

    def forward(self, queries: Tensor, memory: Tensor, lives: Tensor) -> Tensor:
        """(N, Q, H) of `queries` (N, Q, H) that attend to the living entries of `memory` (N, M, H)."""
        values = queries
        if len(self.attentions) == 2:
            alone = torch.ones_like(lives[:, :1]).expand(-1, values.shape[1])
            values = self.norms[0](values + self.attentions[0](values, values, alone))
        values = self.norms[-2](values + self.attentions[-1](values, memory, lives))
        return self.last_norm(self.norms[-1](values + self.forward_layers(values)))


class _Attention(torch.nn.Module):
    """Attention of several heads, first weights as PyTorch's MultiheadAttention."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        if hidden % heads:
            raise InputError(f"expected hidden units that {heads} heads can share, got {hidden}")
        self._heads = heads
        self.into = torch.nn.ModuleList(torch.nn.Linear(hidden, hidden) for _ in range(3))
        self.out = torch.nn.Linear(hidden, hidden)
        for layer in self.into:
            # of the three matrices as one, of 3 x hidden rows
            torch.nn.init.uniform_(layer.weight, -math.sqrt(1.5 / hidden), math.sqrt(1.5 / hidden))
        for layer in (*self.into, self.out):
            torch.nn.init.zeros_(layer.bias)

    def forward(self, queries: Tensor, memory: Tensor, lives: Tensor) -> Tensor:
        if queries.shape[1] == 1 < memory.shape[1]:
            return self._ask_once(queries, memory, lives)
        query, key, value = (
            layer(one).unflatten(2, (self._heads, -1)).transpose(1, 2)
            for layer, one in zip(self.into, (queries, memory, memory))
        )
        mask = lives[:, None, None, :]
        attend = torch.nn.functional.scaled_dot_product_attention
        if queries.device.type == "cpu":  # whose backward pass takes 5 times as long in bfloat16
            with torch.autocast("cpu", enabled=False):
                read = attend(query.float(), key.float(), value.float(), attn_mask=mask)
        else:
            read = attend(query, key, value, attn_mask=mask)
        return self.out(read.transpose(1, 2).flatten(2))

    def _ask_once(self, queries: Tensor, memory: Tensor, lives: Tensor) -> Tensor:
        """As `forward`, of a single query, without the keys and values of all entries.

        key(e) . q = e . (transposed key matrix times q) + bias . q; the mean of values is the value of the
        mean.
        """
        asks, keys, values = self.into
        query = asks(queries[:, 0]).unflatten(1, (self._heads, -1)).transpose(0, 1)
        asked = torch.bmm(query, keys.weight.unflatten(0, (self._heads, -1))).transpose(0, 1)
        alike = (query * keys.bias.unflatten(0, (self._heads, 1, -1))).sum(2).t()[..., None]
        scores = (torch.bmm(asked, memory.transpose(1, 2)) + alike) / math.sqrt(query.shape[2])
        shares = torch.softmax(scores.float().masked_fill(~lives[:, None], -math.inf), 2)
        means = torch.bmm(shares, memory).transpose(0, 1)
        read = torch.bmm(means, values.weight.unflatten(0, (self._heads, -1)).transpose(1, 2))
        return self.out((read.transpose(0, 1).flatten(1) + values.bias)[:, None])
