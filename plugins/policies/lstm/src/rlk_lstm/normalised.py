"""The layer-normalised LSTM: Ba, Kiros and Hinton 2016, arXiv 1607.06450, eq. 29-31.

    i, f, g, o = LN(W_x x) gain_x + LN(W_h h) gain_h + b
    c' = sigmoid(f) c + sigmoid(i) tanh(g)
    h' = sigmoid(o) tanh(LN(c') gain_c + b_c)

LN(v) = (v - mean v) / sqrt(var v + 1e-5), over the units of a row: over all four gates at once, as
in Stable Baselines 2.10. There each product has a bias of its own beside b; one is enough.

Shapes: T steps, N environments, I inputs, H units. Gates stand in the order i, f, g, o.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from rlk_lstm.layout import layout

EPS = 1e-5
#: Which gradients `native_layer_norm_backward` is asked for; those of weights come all at once.
ONLY_INPUT = [True, False, False]


class NormalisedLstmLayer(nn.Module):
    """Input products of all steps at once, and a loop over the cell with its gradient by hand.

    Attributes:
        size: H. The state is float [N, 2H], hidden values first, then cells.
    """

    def __init__(self, inputs: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.wx = nn.Parameter(torch.empty(4 * size, inputs))
        self.wh = nn.Parameter(torch.empty(4 * size, size))
        self.b = nn.Parameter(torch.zeros(4 * size))
        self.gain_x = nn.Parameter(torch.ones(4 * size))
        self.gain_h = nn.Parameter(torch.ones(4 * size))
        self.gain_c = nn.Parameter(torch.ones(size))
        self.b_c = nn.Parameter(torch.zeros(size))
        nn.init.orthogonal_(self.wx.detach())
        nn.init.orthogonal_(self.wh.detach())
        self._inputs = (self.wx, self.gain_x, self.b)
        self._cell = (self.wh, self.gain_h, self.gain_c, self.b_c)

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """(hidden [N, H], state [N, 2H]) for x [N, I]."""
        wh, gain_h, gain_c, b_c = self._cell
        hidden, cell = state.chunk(2, 1)
        gates = self._from_inputs(x)
        gates = gates + F.layer_norm(F.linear(hidden, wh), gain_h.shape, gain_h, None, EPS)
        i, f, g, o = gates.chunk(4, 1)
        cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
        hidden = o.sigmoid() * F.layer_norm(cell, gain_c.shape, gain_c, b_c, EPS).tanh()
        return hidden, torch.cat((hidden, cell), 1)

    def forward(self, x: Tensor, state: Tensor, episode_start: Tensor) -> Tensor:
        """Hidden values [T * N, H] for x [T * N, I], the state [N, 2H] before, bool [T, N]."""
        inputs, shape = self._from_inputs(x), episode_start.shape
        state = state.masked_fill(episode_start[0][:, None], 0.0)
        if not bool(episode_start[1:].any()):
            hidden: Tensor = _Unrolled.apply(  # type: ignore[no-untyped-call]
                inputs.view(*shape, -1), state, torch.zeros_like(episode_start), *self._cell
            )
            return hidden.flatten(0, 1)
        plan = layout(episode_start)
        spread = plan.spread(inputs, inputs.new_zeros(inputs.shape[1]))
        starts = torch.zeros(spread.shape[:2], dtype=torch.bool, device=x.device)
        starts.view(-1)[plan.places] = plan.starts
        hidden = _Unrolled.apply(  # type: ignore[no-untyped-call]
            spread, plan.states(state), starts, *self._cell
        )
        return plan.gather(hidden)

    def _from_inputs(self, x: Tensor) -> Tensor:
        """What the inputs add to the gates, with the bias: [..., 4H]."""
        wx, gain_x, b = self._inputs
        return F.layer_norm(F.linear(x, wx), b.shape, gain_x, b, EPS)


class _Unrolled(torch.autograd.Function):
    """The cell over T steps.

    By hand, weight gradients are one product for all steps, and nothing is recorded step by step.
    """

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        state: Tensor,
        episode_start: Tensor,
        wh: Tensor,
        gain_h: Tensor,
        gain_c: Tensor,
        b_c: Tensor,
    ) -> Tensor:
        steps, n, four = inputs.shape
        size = four // 4
        starts = episode_start.any(1).tolist()
        over = episode_start[:, :, None]
        # Before each step (zeros where an episode starts), and what it makes of that.
        hidden, cell = inputs.new_empty(2, steps + 1, n, size).unbind(0)
        gates, product = torch.empty_like(inputs), torch.empty_like(inputs)
        new_cell, squashed, out = inputs.new_empty(3, steps, n, size).unbind(0)
        moments = []
        hidden[0], cell[0] = state.chunk(2, 1)
        for t in range(steps):
            if starts[t]:
                hidden[t].masked_fill_(over[t], 0.0)
                cell[t].masked_fill_(over[t], 0.0)
            torch.mm(hidden[t], wh.t(), out=product[t])
            scaled, *of_product = torch.native_layer_norm(product[t], [four], gain_h, None, EPS)
            z = torch.add(inputs[t], scaled, out=gates[t])
            z[:, : 2 * size].sigmoid_()
            z[:, 2 * size : 3 * size].tanh_()
            z[:, 3 * size :].sigmoid_()
            i, f, g, o = z.chunk(4, 1)
            torch.mul(f, cell[t], out=new_cell[t]).addcmul_(i, g)
            shown, *of_cell = torch.native_layer_norm(new_cell[t], [size], gain_c, b_c, EPS)
            torch.tanh(shown, out=squashed[t])
            torch.mul(o, squashed[t], out=out[t])
            hidden[t + 1], cell[t + 1] = out[t], new_cell[t]
            moments.append((of_product, of_cell))
        ctx.starts, ctx.moments = starts, moments
        ctx.save_for_backward(
            over, hidden, cell, gates, product, new_cell, squashed, wh, gain_h, gain_c
        )
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor | None, ...]:
        over, hidden, cell, gates, product, new_cell, squashed, wh, gain_h, gain_c = (
            ctx.saved_tensors
        )
        steps, n, four = gates.shape
        size = four // 4
        backward = torch.ops.aten.native_layer_norm_backward
        i, f, g, o = gates.chunk(4, 2)
        d_gates, d_product = torch.empty_like(gates), torch.empty_like(gates)
        d_i, d_f, d_g, d_o = d_gates.chunk(4, 2)
        d_shown = torch.empty_like(squashed)
        # What does not depend on later steps, for all of them at once.
        into_shown = o * (1 - squashed.square())
        slopes = gates * (1 - gates)
        slopes[:, :, 2 * size : 3 * size] = 1 - g.square()
        d_hidden = d_cell = d_out.new_zeros(n, size)
        for t in range(steps - 1, -1, -1):
            of_product, of_cell = ctx.moments[t]
            d_h = d_out[t] + d_hidden
            torch.mul(d_h, squashed[t], out=d_o[t])
            torch.mul(d_h, into_shown[t], out=d_shown[t])
            d_new = backward(d_shown[t], new_cell[t], [size], *of_cell, gain_c, None, ONLY_INPUT)[0]
            d_c = d_cell + d_new
            torch.mul(d_c, g[t], out=d_i[t])
            torch.mul(d_c, cell[t], out=d_f[t])
            torch.mul(d_c, i[t], out=d_g[t])
            d_gates[t].mul_(slopes[t])
            d_product[t] = backward(
                d_gates[t], product[t], [four], *of_product, gain_h, None, ONLY_INPUT
            )[0]
            d_hidden, d_cell = d_product[t].mm(wh), d_c * f[t]
            if ctx.starts[t]:
                d_hidden.masked_fill_(over[t], 0.0)
                d_cell.masked_fill_(over[t], 0.0)
        d_wh = d_product.view(-1, four).t().mm(hidden[:-1].reshape(-1, size))
        d_gain_h = (d_gates * F.layer_norm(product, [four], eps=EPS)).sum((0, 1))
        d_gain_c = (d_shown * F.layer_norm(new_cell, [size], eps=EPS)).sum((0, 1))
        return d_gates, None, None, d_wh, d_gain_h, d_gain_c, d_shown.sum((0, 1))
