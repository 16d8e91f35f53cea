"""`policy_kwargs` of Stable-Baselines3 as settings of rlk's policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlk_baselines.policies.chosen import policy_settings
from rlk_baselines.refusals import Refused
from rlk_baselines.sb3.extractors import has_extractor, translate_extractor

#: Keywords that are written otherwise here, and how.
_ELSEWHERE = {
    "optimizer_class": "model.agent's optimiser: rlk.make(…, optimiser=NAME)",
    "optimizer_kwargs": "model.agent's optimiser: rlk.make(…, optimiser={…})",
}


def settings_of(
    policy: Any,
    kwargs: Mapping[str, Any],
    layers: Sequence[int],
    layers_of_images: Sequence[int],
    *,
    is_off_policy: bool,
) -> dict[str, Any]:
    """The policy and its settings, by rlk's dotted keys.

    Args:
        policy: a name, or a class.
        kwargs: `policy_kwargs`: `net_arch`, `activation_fn`, `features_extractor_class`, and what
            rlk's policy takes besides.
        layers: hidden layers of each network unless `net_arch` says others.
        layers_of_images: those behind the Nature CNN.
        is_off_policy: whether a list in `net_arch` is of actor and critics.

    Raises:
        Refused: for a keyword that is written otherwise here.
    """
    kwargs = dict(kwargs)
    for key, instead in _ELSEWHERE.items():
        if key in kwargs:
            raise Refused(f"policy_kwargs has {key}, which is written otherwise here: {instead}.")
    if not kwargs.pop("ortho_init", True):
        raise Refused("policy_kwargs has ortho_init=False; weights are orthogonal here.")
    if not kwargs.pop("normalize_images", True):
        raise Refused(
            "policy_kwargs has normalize_images=False, but images of whole numbers are divided by "
            "255 here, and a CNN brings other bounds to 0 and 1. Leave it out, or let the "
            "environment show floats (MlpPolicy), for a CNN between 0 and 1."
        )
    if "activation_fn" in kwargs:
        kwargs["act_fun"] = kwargs.pop("activation_fn")
    had_class = has_extractor(kwargs)
    is_own = translate_extractor(policy, kwargs, is_orthogonal=not is_off_policy)
    name = str(getattr(policy, "__name__", policy))
    if name == "CnnPolicy" and not is_off_policy:
        kwargs.setdefault("act_fun", "tanh")  # behind the CNN, which itself has ReLU
    sizes = kwargs.pop("net_arch", None)
    is_behind_cnn = not is_own and ("Cnn" in name or had_class)
    usual = layers_of_images if is_behind_cnn else layers
    if sizes is None and (usual or had_class):
        sizes = list(usual)
    if isinstance(sizes, Mapping):
        kwargs["net_arch"] = [dict(sizes)]
    elif sizes is not None:
        kwargs |= {"layers": list(sizes)} if is_off_policy else _apart(sizes)
    return policy_settings(policy, kwargs)


def _apart(sizes: Sequence[Any]) -> dict[str, Any]:
    """Hidden layers of policy and value, each with its own; a list that says so itself stays."""
    if any(isinstance(one, Mapping) for one in sizes):
        return {"net_arch": list(sizes)}
    return {"net_arch": [{"pi": list(sizes), "vf": list(sizes)}]}
