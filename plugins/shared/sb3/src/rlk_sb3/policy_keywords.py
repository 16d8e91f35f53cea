"""Converts `policy_kwargs` of Stable-Baselines3 to settings of rlk's policies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
from gymnasium import spaces

from rlk_baselines.policies.chosen import Dimensions, policy_settings
from rlk_baselines.refusals import Refused
from rlk_sb3 import deviation_keywords, extractors, optimisers
from rlk_sb3.deviation_keywords import deviation_settings
from rlk_sb3.extractors import begins_with_nature_cnn, extractor_settings, has_extractor
from rlk_sb3.images import is_scaled
from rlk_sb3.own_policies import builds_itself, refuse_own_policy

#: The policies of Stable-Baselines3, whose actors and critics off-policy begin as PyTorch's layers.
_POLICIES = ("MlpPolicy", "CnnPolicy", "MultiInputPolicy")
#: The keywords that are converted, so that they are no settings of rlk's policies themselves.
_CONVERTED = {
    *("ortho_init", "normalize_images", "share_features_extractor", "activation_fn", "net_arch"),
    *(optimisers.CLASS, optimisers.KEYWORDS, extractors.CLASS, extractors.KEYWORDS),
    *deviation_keywords.KEYWORDS,
}


@attrs.frozen(kw_only=True)
class PolicyFacts:
    """What the settings of a policy depend on beside `policy` and `policy_kwargs`.

    Attributes:
        layers: the default sizes of each network's hidden layers.
        layers_of_images: likewise, after the Nature CNN.
        optimizer: the class of the model's optimiser, and its epsilon.
        is_off_policy: whether the algorithm is off-policy. A list in `net_arch` then applies to
            actor and critics, otherwise to policy and value function.
        use_sde: whether exploration is state-dependent.
        observation_space, action_space: of one environment.
        shares_extractor: the default of `share_features_extractor`.
    """

    layers: Sequence[int]
    layers_of_images: Sequence[int]
    optimizer: tuple[Any, float]
    is_off_policy: bool
    use_sde: bool
    observation_space: Any
    action_space: Any
    shares_extractor: bool

    @property
    def has_critics(self) -> bool:
        """Whether the policy has critics of actions: DDPG, SAC and TD3."""
        return self.is_off_policy and isinstance(self.action_space, spaces.Box)


def settings_of(policy: Any, kwargs: Mapping[str, Any], facts: PolicyFacts) -> dict[str, Any]:
    """The policy and its settings, by rlk's dotted keys.

    Args:
        policy: a name, or a class.
        kwargs: `policy_kwargs`: `net_arch`, `activation_fn`, `features_extractor_class`, and other
            settings of rlk's policy.
        facts: about the model.

    Raises:
        Refused: for a keyword, value or class that is not supported.
    """
    refuse_own_policy(policy)
    name = str(getattr(policy, "__name__", policy))
    _refuse_keywords(policy, name, kwargs, facts)
    optimiser = optimisers.optimiser_settings(kwargs, *facts.optimizer)
    settings = {**optimiser, **deviation_settings(kwargs, facts)}
    others = {key: value for key, value in kwargs.items() if key not in _CONVERTED}
    if facts.has_critics and "n_critics" in others:
        settings["n_critics"] = others.pop("n_critics")
    networks = {
        **_defaults(name, kwargs, facts),
        **others,
        **({"act_fun": kwargs["activation_fn"]} if "activation_fn" in kwargs else {}),
        **_own_encoders(name, kwargs, facts),
        **extractor_settings(policy, kwargs, facts),
        **_hidden_layers(policy, name, kwargs, facts),
    }
    return {**policy_settings(policy, networks, Dimensions(facts.action_space)), **settings}


def _refuse_keywords(policy: Any, name: str, kwargs: Mapping[str, Any], facts: PolicyFacts) -> None:
    """Refuse keywords that have another name, or no other value, here."""
    if kwargs.get("layers") is not None and not builds_itself(policy):
        raise Refused(
            "policy_kwargs has layers, the name in Stable Baselines. Write net_arch=[…] instead."
        )
    is_unscaled = not kwargs.get("normalize_images", True)
    if is_unscaled and is_scaled(facts.observation_space, is_cnn="Cnn" in name):
        raise Refused(
            "policy_kwargs has normalize_images=False, but images of whole numbers are divided by "
            "255 here, and a CNN brings other bounds to 0 and 1. Leave it out, or let the "
            "environment show floats (MlpPolicy), for a CNN between 0 and 1."
        )


def _defaults(name: str, kwargs: Mapping[str, Any], facts: PolicyFacts) -> dict[str, Any]:
    """Settings that rlk's own keywords, if they are given, override."""
    found = {}
    if not kwargs.get("ortho_init", not (facts.is_off_policy and name in _POLICIES)):
        found["init"] = "uniform"
    if name == "CnnPolicy" and not facts.is_off_policy:
        found["act_fun"] = "tanh"  # after the CNN, which itself has ReLU
    return found


def _own_encoders(name: str, kwargs: Mapping[str, Any], facts: PolicyFacts) -> dict[str, bool]:
    """The setting for networks that share no extractor, where they have one."""
    is_shared = kwargs.get("share_features_extractor", facts.shares_extractor)
    has_one = "Mlp" not in name or has_extractor(kwargs)
    return {"share_encoder": False} if has_one and not is_shared else {}


def _hidden_layers(
    policy: Any, name: str, kwargs: Mapping[str, Any], facts: PolicyFacts
) -> dict[str, Any]:
    """The sizes of hidden layers, those given or the usual ones."""
    sizes = kwargs.get("net_arch")
    if sizes is None:
        is_behind_cnn = begins_with_nature_cnn(name, kwargs)
        usual = facts.layers_of_images if is_behind_cnn else facts.layers
        if builds_itself(policy) or not (usual or has_extractor(kwargs)):
            return {}
        sizes = list(usual)
    if isinstance(sizes, Mapping):
        if facts.has_critics:
            _refuse_without_layers(sizes)
        return {"net_arch": [dict(sizes)]}
    sizes = listed(sizes)
    return {"layers": sizes} if facts.is_off_policy else _apart(sizes)


def _refuse_without_layers(sizes: Mapping[str, Any]) -> None:
    """Refuse a `net_arch` without the layers of the actor or of the critics."""
    missing = [f"{name}=[…]" for name in ("pi", "qf") if name not in sizes]
    if missing:
        raise Refused(
            f"policy_kwargs: net_arch is {dict(sizes)!r}. Add {' and '.join(missing)}: pi has the "
            "layers of the actor, qf those of the critics."
        )


def listed(sizes: Any) -> list[Any]:
    """The sizes in `net_arch`; Refused if it is neither a list nor a dict of lists."""
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise Refused(
            f"policy_kwargs: net_arch is {sizes!r}. Write a list of the sizes of hidden layers, "
            "for example [64, 64]."
        )
    return list(sizes)


def _apart(sizes: Sequence[Any]) -> dict[str, Any]:
    """Separate hidden layers for policy and value function, unless the list has a dict already."""
    if any(isinstance(one, Mapping) for one in sizes):
        return {"net_arch": list(sizes)}
    return {"net_arch": [{"pi": list(sizes), "vf": list(sizes)}]}
