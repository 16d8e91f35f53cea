"""Converts `policy_kwargs` of Stable-Baselines3 to settings of rlk's policies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gymnasium import spaces
from torch.optim import Adam

from rlk_baselines.policies.chosen import Dimensions, policy_settings
from rlk_baselines.refusals import Refused
from rlk_baselines.sb3.deviation_keywords import deviation_settings
from rlk_baselines.sb3.extractors import has_extractor, translate_extractor
from rlk_baselines.sb3.images import is_scaled
from rlk_baselines.sb3.own_policies import builds_itself, refuse_own_policy

#: The policies of Stable-Baselines3, whose actors and critics off-policy begin as PyTorch's layers.
_POLICIES = ("MlpPolicy", "CnnPolicy", "MultiInputPolicy")


def settings_of(
    policy: Any,
    kwargs: Mapping[str, Any],
    layers: Sequence[int],
    layers_of_images: Sequence[int],
    *,
    optimizer: tuple[Any, float],
    is_off_policy: bool,
    use_sde: bool,
    observation_space: Any,
    action_space: Any,
    shares_extractor: bool = True,
) -> dict[str, Any]:
    """The policy and its settings, by rlk's dotted keys.

    Args:
        policy: a name, or a class.
        kwargs: `policy_kwargs`: `net_arch`, `activation_fn`, `features_extractor_class`, and other
            settings of rlk's policy.
        layers: the default sizes of each network's hidden layers.
        layers_of_images: likewise, after the Nature CNN.
        optimizer: the class of the model's optimiser, and its epsilon.
        is_off_policy: whether the algorithm is off-policy. A list in `net_arch` then applies to
            actor and critics, otherwise to policy and value function.
        use_sde: whether exploration is state-dependent.
        observation_space, action_space: of one environment.
        shares_extractor: the default of `share_features_extractor`.

    Raises:
        Refused: for a keyword, value or class that is not supported.
    """
    refuse_own_policy(policy)
    if kwargs.get("layers") is not None and not builds_itself(policy):
        raise Refused(
            "policy_kwargs has layers, the name in Stable Baselines. Write net_arch=[…] instead."
        )
    kwargs = dict(kwargs)
    optimiser = _optimiser_settings(kwargs, *optimizer)
    deviations = deviation_settings(
        kwargs, action_space, use_sde=use_sde, is_off_policy=is_off_policy
    )
    name = str(getattr(policy, "__name__", policy))
    if not kwargs.pop("ortho_init", not (is_off_policy and name in _POLICIES)):
        kwargs.setdefault("init", "uniform")
    is_unscaled = not kwargs.pop("normalize_images", True)
    if is_unscaled and is_scaled(observation_space, is_cnn="Cnn" in name):
        raise Refused(
            "policy_kwargs has normalize_images=False, but images of whole numbers are divided by "
            "255 here, and a CNN brings other bounds to 0 and 1. Leave it out, or let the "
            "environment show floats (MlpPolicy), for a CNN between 0 and 1."
        )
    is_shared = kwargs.pop("share_features_extractor", shares_extractor)
    if not is_shared and ("Mlp" not in name or has_extractor(kwargs)):
        kwargs["share_encoder"] = False
    critics = {}
    if is_off_policy and "n_critics" in kwargs and isinstance(action_space, spaces.Box):
        critics["n_critics"] = kwargs.pop("n_critics")
    if "activation_fn" in kwargs:
        kwargs["act_fun"] = kwargs.pop("activation_fn")
    had_class = has_extractor(kwargs)
    is_own = translate_extractor(policy, kwargs, observation_space, is_orthogonal=not is_off_policy)
    if name == "CnnPolicy" and not is_off_policy:
        kwargs.setdefault("act_fun", "tanh")  # after the CNN, which itself has ReLU
    sizes = kwargs.pop("net_arch", None)
    is_behind_cnn = not is_own and ("Cnn" in name or had_class)
    usual = layers_of_images if is_behind_cnn else layers
    if sizes is None and (usual or had_class) and not builds_itself(policy):
        sizes = list(usual)
    if isinstance(sizes, Mapping):
        if is_off_policy and isinstance(action_space, spaces.Box):
            _refuse_without_layers(sizes)
        kwargs["net_arch"] = [dict(sizes)]
    elif sizes is not None:
        sizes = listed(sizes)
        kwargs |= {"layers": sizes} if is_off_policy else _apart(sizes)
    return {
        **policy_settings(policy, kwargs, Dimensions(action_space)),
        **deviations,
        **optimiser,
        **critics,
    }


def _optimiser_settings(kwargs: dict[str, Any], own: Any, epsilon: float) -> dict[str, Any]:
    """Adam's settings by the keywords of the optimiser, which are removed.

    As in Stable-Baselines3, `optimizer_kwargs` without `eps` mean PyTorch's epsilon.

    Raises:
        Refused: for another optimiser than the model's, or a keyword that it does not have.
    """
    kind, given = kwargs.pop("optimizer_class", own), kwargs.pop("optimizer_kwargs", None)
    name = getattr(own, "__name__", own)
    asked = {"eps": epsilon} if given is None else {"eps": 1e-8, **given}
    can_change = own is Adam and asked.keys() <= {"eps", "betas"}
    has_other_keywords = not can_change and given and dict(given) != {"eps": epsilon}
    for key, is_other in (
        ("optimizer_class", kind is not own),
        ("optimizer_kwargs", has_other_keywords),
    ):
        if is_other:
            also = " optimizer_kwargs may have eps and betas." if own is Adam else ""
            raise Refused(
                f"policy_kwargs has {key}, but this model learns by {name} with an epsilon "
                f"of {epsilon}.{also} Optimisers are chosen in rlk: rlk.make(…, optimiser=NAME)."
            )
    is_usual = not can_change or asked == {"eps": epsilon}
    return {} if is_usual else {f"adam.{key}": value for key, value in asked.items()}


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
