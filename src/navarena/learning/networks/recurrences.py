"""A GRU and an LSTM over sequences with resets: hand-written forward and backward passes.

The numbers are those of `torch.nn.GRU` and `torch.nn.LSTM`, up to rounding. The loops hold nothing but what
depends on the step before; the gradient of the weights is one product over all steps, where autograd makes
and adds up one for each.
"""

from typing import Any

from navarena.learning.tensors import Tensor, torch, working_dtype


def unroll_gru(given: Tensor, state: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Outputs (T, N, H) float32 of a layer; the last is the state after it.

    Products are computed in the working dtype of autocast, everything else in float32.

    Args:
        given: (T, N, 3 H), products of inputs and their weights, with their bias; gates in the order reset,
            update, new.
        state: (N, H) float32, before the first step.
        mask: (T, N) bool, False where the state counts as 0 before the step.
        weight: (3 H, H) float32, of the state.
        bias: (3 H,) float32.
    """
    dtype = working_dtype(given.device)
    if torch.is_grad_enabled():
        outputs: Tensor = _UnrollingGRU.apply(given, state, mask, weight, bias, dtype)
        return outputs
    with torch.autocast(given.device.type, enabled=False):
        return _run_gru(given.float(), state, mask, weight.to(dtype), bias)[0]


def _run_gru(
    given: Tensor, state: Tensor, mask: Tensor, weight: Tensor, bias: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Outputs (T, N, H), gates (T, N, 2 H), new parts (T, N, H) and the state's products with them."""
    steps, slots, size = given.shape[0], given.shape[1], state.shape[-1]
    keep = mask[..., None].to(state.dtype)
    outputs, parts = given.new_zeros(steps, slots, size), given.new_zeros(steps, slots, size)
    gates, products = given.new_zeros(steps, slots, 2 * size), given.new_zeros(steps, slots, 3 * size)
    before, turned = state, weight.t()
    for step in range(steps):
        own = before * keep[step]
        if weight.dtype == torch.float32:
            torch.addmm(bias, own, turned, out=products[step])
        else:
            torch.add(torch.mm(own.to(weight.dtype), turned), bias, out=products[step])
        product = products[step]
        torch.add(given[step, :, : 2 * size], product[:, : 2 * size], out=gates[step]).sigmoid_()
        reset, update = gates[step, :, :size], gates[step, :, size:]
        torch.addcmul(given[step, :, 2 * size :], reset, product[:, 2 * size :], out=parts[step]).tanh_()
        torch.lerp(parts[step], own, update, out=outputs[step])
        before = outputs[step]
    return outputs, gates, parts, products[..., 2 * size :]


class _UnrollingGRU(torch.autograd.Function):  # type: ignore[misc]  # PyTorch is Any to the type checker
    """`_run_gru`, and its gradient."""

    @staticmethod
    def forward(
        context: Any, given: Tensor, state: Tensor, mask: Tensor, weight: Tensor, bias: Tensor, dtype: Any
    ) -> Tensor:
        with torch.autocast(given.device.type, enabled=False):
            outputs, gates, parts, products = _run_gru(given.float(), state, mask, weight.to(dtype), bias)
        context.save_for_backward(state, mask, weight, outputs, gates, parts, products)
        context.dtype, context.given_dtype = dtype, given.dtype
        return outputs

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context: Any, wanted: Tensor) -> tuple[Tensor | None, ...]:
        state, mask, weight, outputs, gates, parts, products = context.saved_tensors
        steps, _, size = outputs.shape
        keep = mask[..., None].to(state.dtype)
        before = torch.cat((state[None], outputs[:-1])) * keep
        reset, update = gates.split(size, -1)
        # how much of an output's gradient reaches each sum before its sigmoid or tanh
        new = (1.0 - update) * (1.0 - parts.square())
        of_reset = new * products * reset * (1.0 - reset)
        of_update = (before - parts) * update * (1.0 - update)
        shares = torch.stack((of_reset, of_update, new * reset), 2)
        cast = weight.to(context.dtype)
        of_products, of_outputs = torch.zeros_like(shares), torch.zeros_like(outputs)
        later = torch.zeros_like(state)
        for step in range(steps - 1, -1, -1):
            here = torch.add(wanted[step], later, out=of_outputs[step])
            torch.mul(shares[step], here[:, None], out=of_products[step])
            back = torch.mm(of_products[step].flatten(1).to(context.dtype), cast)
            later = torch.addcmul(back.to(state.dtype), here, update[step]) * keep[step]
        flat = of_products.flatten(0, 1).flatten(1)
        of_weight = torch.mm(flat.t().to(context.dtype), before.flatten(0, 1).to(context.dtype))
        of_given = of_products.clone()
        torch.mul(of_outputs, new, out=of_given[:, :, 2])
        return of_given.flatten(2).to(context.given_dtype), later, None, of_weight.float(), flat.sum(0), None


def unroll_lstm(
    given: Tensor, state: Tensor, cell: Tensor, mask: Tensor, weight: Tensor, bias: Tensor
) -> tuple[Tensor, Tensor]:
    """Outputs (T, N, H) and cells (T, N, H) float32 of a layer; the last of both are the state after it.

    Products are computed in the working dtype of autocast, everything else in float32.

    Args:
        given: (T, N, 4 H), products of inputs and their weights, with their bias; gates in the order input,
            forget, new, output.
        state: (N, H) float32, before the first step.
        cell: (N, H) float32, likewise.
        mask: (T, N) bool, False where state and cell count as 0 before the step.
        weight: (4 H, H) float32, of the state.
        bias: (4 H,) float32.
    """
    dtype = working_dtype(given.device)
    if torch.is_grad_enabled():
        found: tuple[Tensor, Tensor] = _UnrollingLSTM.apply(given, state, cell, mask, weight, bias, dtype)
        return found
    with torch.autocast(given.device.type, enabled=False):
        return _run_lstm(given.float(), state, cell, mask, weight.to(dtype), bias)[:2]


def _run_lstm(
    given: Tensor, state: Tensor, cell: Tensor, mask: Tensor, weight: Tensor, bias: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Outputs (T, N, H), cells (T, N, H) and gates (T, N, 4 H)."""
    steps, slots, size = given.shape[0], given.shape[1], state.shape[-1]
    keep = mask[..., None].to(state.dtype)
    gates, turned = given + bias, weight.t()
    outputs, cells = given.new_zeros(steps, slots, size), given.new_zeros(steps, slots, size)
    for step in range(steps):
        gate = gates[step]
        gate += torch.mm((state * keep[step]).to(weight.dtype), turned)
        enter, forget, new, leave = gate.split(size, -1)
        gate[:, : 2 * size].sigmoid_()
        new.tanh_()
        leave.sigmoid_()
        torch.mul(forget, cell * keep[step], out=cells[step]).addcmul_(enter, new)
        cell = cells[step]
        state = torch.mul(leave, cell.tanh(), out=outputs[step])
    return outputs, cells, gates


class _UnrollingLSTM(torch.autograd.Function):  # type: ignore[misc]  # PyTorch is Any to the type checker
    """`_run_lstm`, and its gradient."""

    @staticmethod
    def forward(
        context: Any,
        given: Tensor,
        state: Tensor,
        cell: Tensor,
        mask: Tensor,
        weight: Tensor,
        bias: Tensor,
        dtype: Any,
    ) -> tuple[Tensor, Tensor]:
        with torch.autocast(given.device.type, enabled=False):
            outputs, cells, gates = _run_lstm(given.float(), state, cell, mask, weight.to(dtype), bias)
        context.save_for_backward(state, cell, mask, weight, outputs, cells, gates)
        context.dtype, context.given_dtype = dtype, given.dtype
        return outputs, cells

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context: Any, wanted: Tensor, wanted_cells: Tensor) -> tuple[Tensor | None, ...]:
        state, cell, mask, weight, outputs, cells, gates = context.saved_tensors
        steps, _, size = outputs.shape
        keep = mask[..., None].to(state.dtype)
        before = torch.cat((state[None], outputs[:-1])) * keep
        cells_before = torch.cat((cell[None], cells[:-1])) * keep
        enter, forget, new, leave = gates.split(size, -1)
        shown = cells.tanh()
        # how much of a cell's gradient reaches each sum before its sigmoid or tanh; of an output's, the last
        of_enter = new * enter * (1.0 - enter)
        of_forget = cells_before * forget * (1.0 - forget)
        of_new = enter * (1.0 - new.square())
        shares = torch.stack((of_enter, of_forget, of_new, shown * leave * (1.0 - leave)), 2)
        of_cell, forgotten = leave * (1.0 - shown.square()), forget * keep
        cast = weight.to(context.dtype)
        of_sums = torch.zeros_like(shares)
        later, later_cell = torch.zeros_like(state), torch.zeros_like(cell)
        for step in range(steps - 1, -1, -1):
            here = wanted[step] + later
            here_cell = torch.addcmul(wanted_cells[step] + later_cell, here, of_cell[step])
            torch.mul(shares[step, :, :3], here_cell[:, None], out=of_sums[step, :, :3])
            torch.mul(shares[step, :, 3], here, out=of_sums[step, :, 3])
            later_cell = here_cell * forgotten[step]
            later = torch.mm(of_sums[step].flatten(1).to(context.dtype), cast).to(state.dtype) * keep[step]
        flat = of_sums.flatten(0, 1).flatten(1)
        of_weight = torch.mm(flat.t().to(context.dtype), before.flatten(0, 1).to(context.dtype)).float()
        of_given = of_sums.flatten(2).to(context.given_dtype)
        return of_given, later, later_cell, None, of_weight, flat.sum(0), None
