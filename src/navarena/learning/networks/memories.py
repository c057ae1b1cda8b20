"""Memories: recurrent networks whose state is explicit and is reset where an episode begins."""

from abc import abstractmethod
from contextlib import nullcontext
from typing import Any, Literal

from navarena.learning.networks.recurrences import unroll_gru, unroll_lstm
from navarena.learning.tensors import Tensor, Tree, reset_rows, torch


class Memory(torch.nn.Module):
    """Interface of memories. The state is explicit: name -> (N, ...), a row for each slot.

    Attributes:
        features: F', length of the outputs.
    """

    features: int

    @abstractmethod
    def initial_state(self, slots: int) -> Tree:
        """The state of `slots` (N) slots before anything was seen: all 0."""

    @abstractmethod
    def step(self, features: Tensor, state: Tree, mask: Tensor) -> tuple[Tensor, Tree]:
        """One step: output (N, F') float32 and the state after it.

        Args:
            features: (N, F) float32.
            state: before the step.
            mask: (N,) bool, False where the step is the first of an episode: nothing is remembered there.
        """

    def unroll(self, features: Tensor, state: Tree, mask: Tensor) -> tuple[Tensor, Tree]:
        """T steps, one after the other: outputs (T, N, F') float32, and the state after the last.

        Bit for bit what `step` gives, for any T.

        Args:
            features: (T, N, F) float32.
            state: before the first step.
            mask: (T, N) bool, as of `step`.
        """
        outputs = []
        for one, keep in zip(features, mask):
            output, state = self.step(one, state, keep)
            outputs.append(output)
        return torch.stack(outputs), state

    def unroll_packed(self, features: Tensor, state: Tree, mask: Tensor) -> tuple[Tensor, Tree]:
        """Equal to `unroll` up to rounding, in a form for accelerators if there is one."""
        return self.unroll(features, state, mask)


class RecurrentMemory(Memory):
    """A GRU or an LSTM with explicit states.

    Each weight matrix (of all gates together) starts orthogonal and each bias 0, as in habitat-lab
    (rl/models/rnn_state_encoder.py). States are trees: "hidden" (N, L, H), of an LSTM also "cell".

    Args:
        inputs: features per step.
        hidden: H.
        layers: L.
        kind: "gru" or "lstm".
    """

    def __init__(self, inputs: int, hidden: int, layers: int, kind: Literal["gru", "lstm"]) -> None:
        super().__init__()
        self._hidden, self._layers, self._kind, self.features = hidden, layers, kind, hidden
        self._names = ("hidden",) if kind == "gru" else ("hidden", "cell")
        self.cells = (torch.nn.GRU if kind == "gru" else torch.nn.LSTM)(inputs, hidden, layers)
        start_orthogonal(self.cells)

    def initial_state(self, slots: int) -> Tree:
        device = self.cells.weight_ih_l0.device
        return {name: torch.zeros(slots, self._layers, self._hidden, device=device) for name in self._names}

    def step(self, features: Tensor, state: Tree, mask: Tensor) -> tuple[Tensor, Tree]:
        outputs, after = self.unroll(features[None], state, mask[None])
        return outputs[0], after

    def unroll(self, features: Tensor, state: Tree, mask: Tensor) -> tuple[Tensor, Tree]:
        outputs = features
        after: dict[str, list[Tensor]] = {name: [] for name in self._names}
        for layer in range(self._layers):
            weights = [getattr(self.cells, f"{name}_l{layer}") for name in ("weight_ih", "bias_ih")]
            given = torch.nn.functional.linear(outputs, *weights)
            weights = [getattr(self.cells, f"{name}_l{layer}") for name in ("weight_hh", "bias_hh")]
            hidden = state["hidden"][:, layer]
            if self._kind == "gru":
                outputs = unroll_gru(given, hidden, mask, *weights)
            else:
                outputs, cells = unroll_lstm(given, hidden, state["cell"][:, layer], mask, *weights)
                after["cell"].append(cells[-1])
            after["hidden"].append(outputs[-1])
        return outputs, {name: torch.stack(last, 1) for name, last in after.items()}

    def unroll_packed(self, features: Tensor, state: Tree, mask: Tensor) -> tuple[Tensor, Tree]:
        """Equal to `unroll` up to rounding, in one call: every fragment of an episode is a packed sequence.

        The form for accelerators. A fragment that the rollout begins within an episode starts from `state`,
        all others from 0.
        """
        steps, slots = mask.shape
        begins = ~mask
        begins[0] = True
        start, slot = torch.nonzero(begins.T).flip(1).unbind(1)  # ordered by slot, then by time
        following = torch.cat((start[1:], start.new_full((1,), steps)))
        following = torch.where(following == 0, steps, following)
        length = following - start
        length, order = torch.sort(length, descending=True, stable=True)
        start, slot = start[order], slot[order]
        offset = torch.arange(int(length[0]), device=mask.device)
        lives = offset[:, None] < length[None]
        place = ((start[None] + offset[:, None]) * slots + slot[None])[lives]
        packed = torch.nn.utils.rnn.PackedSequence(features.flatten(0, 1)[place], lives.sum(1).cpu())
        own = {name: state[name][slot] for name in self._names}
        own = reset_rows(own, (start == 0) & mask[start, slot])
        output, after = recur(self.cells, packed, self._pack_state(own))
        outputs = torch.zeros(steps * slots, self._hidden, dtype=output.data.dtype, device=mask.device)
        outputs = outputs.index_put((place,), output.data).reshape(steps, slots, self._hidden)
        is_last = start + length == steps
        rows = torch.zeros(slots, dtype=torch.int64, device=mask.device)
        rows[slot[is_last]] = torch.nonzero(is_last)[:, 0]
        return outputs, {name: value[rows] for name, value in self._unpack_state(after).items()}

    def _pack_state(self, state: Tree) -> Tensor | tuple[Tensor, Tensor]:
        """State of the cells: (L, N, H), two of them for an LSTM."""
        parts = tuple(state[name].transpose(0, 1).contiguous() for name in self._names)
        return parts[0] if len(parts) == 1 else parts

    def _unpack_state(self, after: Tensor | tuple[Tensor, Tensor]) -> Tree:
        parts = after if isinstance(after, tuple) else (after,)
        return {name: part.transpose(0, 1).float() for name, part in zip(self._names, parts)}


def recur(cells: torch.nn.Module, given: Any, state: Any = None) -> tuple[Any, Any]:
    """Outputs and state of PyTorch's GRU or LSTM `cells`, whose arguments are the others.

    On CUDA in float32: where products are mixed, PyTorch's recurrences take float16 there, also where
    bfloat16 was asked for.
    """
    is_cuda = next(cells.parameters()).is_cuda
    with torch.autocast("cuda", enabled=False) if is_cuda else nullcontext():
        found: tuple[Any, Any] = cells(given.float() if is_cuda else given, state)
    return found


def start_orthogonal(cells: torch.nn.Module) -> None:
    """Make each weight matrix of recurrent `cells`, of all gates together, orthogonal and each bias 0."""
    for name, parameter in cells.named_parameters():
        if "weight" in name:
            torch.nn.init.orthogonal_(parameter)
        else:
            torch.nn.init.zeros_(parameter)
