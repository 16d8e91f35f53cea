"""Refuses policy classes that are written for Stable-Baselines3's policies, part by part."""

from __future__ import annotations

from typing import Any

from rlk_baselines.policies.classes import BasePolicy
from rlk_baselines.refusals import Refused

#: Methods of Stable-Baselines3's policies that a program's class may override; rlk calls none.
_NEVER_CALLED = {
    *("_build", "_build_mlp_extractor", "_get_action_dist_from_latent", "_predict"),
    *("evaluate_actions", "extract_features", "forward", "get_distribution", "init_weights"),
    *("make_actor", "make_critic", "make_features_extractor", "make_q_net", "predict_values"),
}
#: The methods of a policy that builds its networks in rlk's way.
_BUILDING = {"encoder", "trunk"}
_INSTEAD = (
    "Pass sizes, activation and feature extractor as policy_kwargs=dict(net_arch=…, "
    "activation_fn=…, features_extractor_class=…), or write a policy with encoder and trunk: "
    "docs/custom-policies.md."
)


def refuse_own_policy(policy: Any) -> None:
    """Check the policy that a model of Stable-Baselines3's names is given.

    Its constructor has another signature there, and a list in `net_arch` another meaning.

    Raises:
        Refused: for a program's class with methods that rlk would not call, or with a constructor
            but no `encoder` or `trunk`.
    """
    own = _own_names(policy)
    if own & _BUILDING:
        return
    if unused := sorted(own & _NEVER_CALLED):
        raise Refused(
            f"policy {policy.__name__!r} has {', '.join(unused)}, which nothing would call: rlk "
            f"builds its networks itself. {_INSTEAD}"
        )
    if "__init__" in own:
        raise Refused(
            f"policy {policy.__name__!r} has a constructor, and Stable-Baselines3's policies take "
            f"other arguments than those here. {_INSTEAD}"
        )


def builds_itself(policy: Any) -> bool:
    """Whether a program's class has its own networks, so that no default sizes apply."""
    return bool(_own_names(policy) & _BUILDING)


def _own_names(policy: Any) -> set[str]:
    """The names that a policy class and the program's classes above it define."""
    if not (isinstance(policy, type) and issubclass(policy, BasePolicy)):
        return set()
    kinds = [one for one in policy.__mro__ if not one.__module__.startswith(("rlk_", "builtins"))]
    return {name for kind in kinds for name in vars(kind)}
