"""The LSTM: Hochreiter and Schmidhuber 1997 with forget gates (Gers et al. 2000).

    i, f, g, o = W_x x + W_h h + b,    c' = sigmoid(f) c + sigmoid(i) tanh(g),
    h' = sigmoid(o) tanh(c')

Shapes: T steps, N environments, I inputs, H units. Gates are in PyTorch's order, weights are
[4H, I] and [4H, H], with one bias as in Stable Baselines 2.10 (PyTorch's module has two).
"""

from __future__ import annotations

import warnings

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from rlk_lstm.layout import layout
from rlk_networks import CUTS_SEQUENCES

# cuDNN copies weights that are not in its own layout, as flat parameters are not, and warns of it.
warnings.filterwarnings("ignore", "RNN module weights are not part of single", UserWarning)

#: An input that shuts a gate, whatever is added to it: sigmoid(-1e6) is 0. For float32 and float64:
#: in float16 it is -inf, and 0 * -inf is NaN.
SHUT = -1e6


class LstmLayer(nn.Module):
    """Whole sequences in one call of PyTorch's kernel; one step at a time for acting.

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
        nn.init.orthogonal_(self.wx.detach())
        nn.init.orthogonal_(self.wh.detach())

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """(hidden [N, H], state [N, 2H]) for x [N, I]."""
        no_bias = torch.zeros_like(self.b)  # the CUDA kernel takes two biases or none
        hidden, cell = torch.lstm_cell(x, state.chunk(2, 1), self.wx, self.wh, self.b, no_bias)
        return hidden, torch.cat((hidden, cell), 1)

    def forward(self, x: Tensor, state: Tensor, episode_start: Tensor) -> Tensor:
        """Hidden values [T * N, H] for x [T * N, I], the state [N, 2H] before, bool [T, N].

        The kernel knows nothing about episodes, so a step that shuts all gates is inserted between
        two of them: it leaves a state of zeros and has no gradient. So one call is enough.
        """
        wx, wh, b = self.wx, self.wh, self.b
        state = state.masked_fill(episode_start[0][:, None], 0.0)
        if not bool(episode_start[1:].any()):
            hidden = unrolled(x.reshape(*episode_start.shape, -1), state, wx, wh, b)
            return hidden.flatten(0, 1)
        plan = layout(episode_start)
        nothing = F.pad(x.new_zeros(x.shape[1]), (0, 1), value=1.0)
        spread = plan.spread(F.pad(x, (0, 1)), nothing)
        shutting = torch.cat((wx, gates_shut(self.size, wx)), 1)
        return plan.gather(unrolled(spread, plan.states(state), shutting, wh, b))


def unrolled(x: Tensor, state: Tensor, wx: Tensor, wh: Tensor, b: Tensor) -> Tensor:
    """Hidden values [T, N, H] of sequences without episode starts."""
    hidden, cell = state[None].chunk(2, 2)
    weights = [wx, wh, b, torch.zeros_like(b)]
    parts = (hidden.contiguous(), cell.contiguous())
    return torch.lstm(x, parts, weights, True, 1, 0.0, True, False, False)[0]


def gates_shut(size: int, like: Tensor) -> Tensor:
    """The column [4H, 1] of weights by which an input of 1 shuts every gate.

    The candidate g gets it as well, but the input gate blocks that.
    """
    return like.new_full((4 * size, 1), SHUT)
