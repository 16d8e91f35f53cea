"""The layer-normalised LSTM: Ba, Kiros and Hinton 2016, arXiv 1607.06450, eq. 29-31.

    i, f, g, o = LN(W_x x) gain_x + LN(W_h h) gain_h + b
    c' = sigmoid(f) c + sigmoid(i) tanh(g)
    h' = sigmoid(o) tanh(LN(c') gain_c + b_c)

LN(v) = (v - mean v) / sqrt(var v + 1e-5), over the units of a row: over all four gates at once, as
in Stable Baselines 2.10. There each product has its own bias besides b; one is enough.

Shapes: T steps, N environments, I inputs, H units. Gates are in the order i, f, g, o.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from rlk_networks import CUTS_SEQUENCES, unroll

EPS = 1e-5


class NormalisedLstmLayer(nn.Module):
    """The input part of all gates in one product, then a loop over the steps.

    Attributes:
        size: H. state_size: 2H; a state is float [N, 2H], hidden values first, then cells.
    """

    untraceable = CUTS_SEQUENCES

    def __init__(self, inputs: int, size: int) -> None:
        super().__init__()
        self.size, self.state_size = size, 2 * size
        self.wx = nn.Parameter(torch.empty(4 * size, inputs))
        self.wh = nn.Parameter(torch.empty(4 * size, size))
        self.b = nn.Parameter(torch.zeros(4 * size))
        self.gain_x = nn.Parameter(torch.ones(4 * size))
        self.gain_h = nn.Parameter(torch.ones(4 * size))
        self.gain_c = nn.Parameter(torch.ones(size))
        self.b_c = nn.Parameter(torch.zeros(size))
        nn.init.orthogonal_(self.wx.detach())
        nn.init.orthogonal_(self.wh.detach())

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """(hidden [N, H], state [N, 2H]) for x [N, I]."""
        return self.cell(self.from_inputs(x), state)

    def forward(self, x: Tensor, state: Tensor, episode_start: Tensor) -> Tensor:
        """Hidden values [T * N, H] for x [T * N, I], the state [N, 2H] before, bool [T, N]."""
        return unroll(self.cell, self.from_inputs(x), state, episode_start)

    def from_inputs(self, x: Tensor) -> Tensor:
        """LN(W_x x) gain_x + b: the input part of the gates, [N, 4H], for inputs [N, I]."""
        return F.layer_norm(F.linear(x, self.wx), self.b.shape, self.gain_x, self.b, EPS)

    def cell(self, from_inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """(h' [N, H], state [N, 2H]) for the input part of the gates [N, 4H] and the state."""
        hidden, cell = state.chunk(2, 1)
        from_hidden = F.linear(hidden, self.wh)
        normalised = F.layer_norm(from_hidden, self.gain_h.shape, self.gain_h, None, EPS)
        i, f, g, o = (from_inputs + normalised).chunk(4, 1)
        cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
        shown = F.layer_norm(cell, self.gain_c.shape, self.gain_c, self.b_c, EPS)
        hidden = o.sigmoid() * shown.tanh()
        return hidden, torch.cat((hidden, cell), 1)
