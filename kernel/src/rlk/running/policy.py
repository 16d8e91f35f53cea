"""The policy of a run: built for the algorithm's heads, and not larger than its file.

A file from elsewhere names the sizes of its policy's layers. So the size of a policy that may be
large is checked before it takes any memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from rlk.abilities import Filterable, offers
from rlk.errors import BadFile, PlanError
from rlk.registry.answers import check_given
from rlk.running.device import on_threads
from rlk.running.modes import Modes
from rlk.settings import unstructure

if TYPE_CHECKING:
    from rlk.protocols import Parameters
    from rlk.running.run import Run

#: A policy whose settings make up to so many parameters is not checked, because that takes time.
_LARGE = 20_000_000


def make_policy(run: Run, saved: Mapping[str, Any] | None) -> tuple[Any, Modes, Parameters]:
    """The policy of a run with its filters, on its device; its modes; its flat parameters.

    Args:
        run: a run that has no policy yet.
        saved: the parameters that will be loaded; the file's plan may ask for far more.

    Raises:
        BadFile: if the policy has more parameters than are saved.
        PlanError: for filters that the policy does not accept.
    """
    plan, hooks = run.plan, run.hooks
    algorithm = plan.algorithm
    heads = algorithm.called(algorithm.load().heads, algorithm.config, run)
    check_given(algorithm.title, "heads", heads)
    if saved is not None and _squares(unstructure(plan.policy.config)) > _LARGE:
        _check_size(run, heads, saved)
    with run.streams.globally("init"), on_threads(1):
        builder = plan.policy.make()
        policy = hooks.only("rlk_make_policy", run=run, heads=heads)
        if policy is None:
            policy = builder.build(plan.policy_space, heads)
            check_given(plan.policy.title, "build", policy)
    filters = hooks.all("rlk_filter_observation", run=run)
    if filters and not offers(policy, Filterable):
        raise PlanError(f"{plan.policy.title} takes no filters of observations. Use another.")
    for module in filters:
        policy.add_filter(module)
    policy = policy.to(run.device)
    return policy, Modes(policy), builder.flatten(policy)


def _squares(setting: Any) -> int:
    """The sum of the squares of all whole numbers in a setting: about the size of such layers."""
    if isinstance(setting, Mapping):
        return sum(map(_squares, setting.values()))
    if isinstance(setting, list):
        return sum(map(_squares, setting))
    return setting * setting if isinstance(setting, int) else 0


def _check_size(run: Run, heads: Any, saved: Mapping[str, Any]) -> None:
    """BadFile for a policy with more parameters than are saved, before it takes any memory."""
    try:
        with torch.device("meta"):
            policy = run.plan.policy.make().build(run.plan.policy_space, heads)
    except (NotImplementedError, RuntimeError):
        return  # it computes with what it is made of: its own size is all that can be known
    size = sum(one.numel() for one in policy.parameters() if one.requires_grad)
    known = sum(one.numel() for one in saved.values() if isinstance(one, torch.Tensor))
    if size > known:
        raise BadFile(
            f"the policy of this file's plan has {size:,} parameters, but the file holds {known:,}."
        )
