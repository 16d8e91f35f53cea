"""Converts a model's `policy` and `policy_kwargs` to settings of rlk."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import Any, Self

import attrs
import torch
from torch import nn
from torch.nn import functional

from rlk.component import Component
from rlk.errors import PlanError, RlkError, described
from rlk.plain_values import plain
from rlk.registry.kernel import default_kernel
from rlk.settings import default_of, names
from rlk_baselines.policies.classes import BasePolicy
from rlk_baselines.policies.extractors import nature_cnn
from rlk_baselines.policies.registered import registered
from rlk_baselines.without_effect import OF_POLICIES, keywords_with_effect
from rlk_custom_policies.keywords import with_bound_extractor
from rlk_mlp.config import ACTIVATION_NAMES
from rlk_networks import Architecture

#: Keywords whose value is an activation: of Stable Baselines, and of Stable-Baselines3.
_ACTIVATIONS = {"act_fun", "activation_fn"}
#: The names under which programs import TensorFlow.
_TENSORFLOW = {"tf", "tensorflow", "tf1"}


@attrs.frozen
class Dimensions:
    """What the constructor of a policy is told of its model, besides the observation space."""

    action_space: Any
    n_env: int = 1  #: environments
    n_steps: int = 1  #: steps of each per collection; 1 for a model without the argument `n_steps`

    @property
    def n_batch(self) -> int:
        """Timesteps per collection, summed over all environments."""
        return self.n_env * self.n_steps


def policy_settings(
    policy: Any,
    kwargs: Mapping[str, Any] | None,
    dimensions: Dimensions,
    deferred: type[Deferred] | None = None,
) -> dict[str, Any]:
    """The policy and its settings, by rlk's dotted keys.

    Args:
        policy: a name, a class of `rlk_baselines.common.policies` or derived from one, or any
            other value that `rlk.make` accepts.
        kwargs: `policy_kwargs`.
        dimensions: of the model.
        deferred: the class that makes policies from a policy class; None means `Deferred`.

    Raises:
        PlanError: for a class that builds TensorFlow's graph, or Stable-Baselines3's name of the
            activation.
    """
    kwargs = dict(kwargs or {})
    if "act_fun" in kwargs:
        kwargs["act_fun"] = named_activation(kwargs["act_fun"])
    if isinstance(policy, str):
        policy = registered(policy) or policy
    if isinstance(policy, type):
        policy = vars(policy).get("stands_for", policy)
    if isinstance(policy, type):
        refuse_tensorflow(policy)
        if issubclass(policy, BasePolicy):
            made = (deferred or Deferred)(policy, kwargs, dimensions)
            return {"policy": made.component()}
    if "activation_fn" in kwargs:
        raise PlanError(
            "policy_kwargs has activation_fn, the name in Stable-Baselines3. Write act_fun instead."
        )
    if isinstance(policy, str):
        kwargs = _used(policy, kwargs)
    return {"policy": policy, **{f"policy.{key}": value for key, value in kwargs.items()}}


def _used(policy: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """`policy_kwargs` that have an effect in the policy of a name.

    Those of a feature extractor are bound to it, and the default one is left out.
    """
    policies = default_kernel().registries.policies
    if policy not in policies:  # which planning refuses
        return kwargs
    component = policies.get(policy).component()
    given = {key: value for key, value in kwargs.items() if value is not nature_cnn}
    whole = {"feature_extraction": _feature_extraction(component), **given}
    effective = keywords_with_effect(whole, OF_POLICIES, "policy_kwargs")
    known = [*names(component.config), "dueling"]  # a setting of DQN
    return with_bound_extractor({key: effective[key] for key in given if key in effective}, known)


def _feature_extraction(component: Component) -> Any:
    """What a policy has before its hidden layers, unless told otherwise: `"cnn"`, `"mlp"`, …."""
    fields = attrs.fields_dict(component.config) if component.config else {}
    if "feature_extraction" in fields:
        return component.own_defaults.get(
            "feature_extraction", default_of(fields["feature_extraction"])
        )
    return "cnn" if "cnn_extractor" in fields else "mlp"


def held_kwargs(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """`policy_kwargs` as JSON values; torch activations become names that can be read again."""
    names = {key: named_activation(kwargs[key]) for key in _ACTIVATIONS & kwargs.keys()}
    return plain({**kwargs, **names})


def named_activation(act_fun: Any) -> Any:
    """The name of a torch activation (function or class); anything else is returned as it is."""
    own = getattr(act_fun, "__name__", "")
    if not any(getattr(module, own, None) is act_fun for module in (torch, functional, nn)):
        return act_fun
    alike = (name for name in ACTIVATION_NAMES if own.lower() in (name, name.replace("_", "")))
    return next(alike, act_fun)


@attrs.frozen
class Deferred:
    """Makes a policy from a policy class once its settings and the observation space are known.

    Called with rlk's config, as the factory of a component, it returns one that has this config.
    """

    policy: type[BasePolicy]
    kwargs: Mapping[str, Any]
    dimensions: Dimensions
    config: Any = None

    def __call__(self, config: Any) -> Self:
        return attrs.evolve(self, config=config)

    def component(self) -> Component:
        """A component for rlk whose policies are made from the class."""
        return Component(
            name=self.policy.__name__,
            factory=self,
            config=self.policy.config,
            kind="policies",
            recurrent=self.policy.recurrent,
        )

    def made(self, observation_space: Any) -> BasePolicy:
        """An instance of the class for this observation space; PlanError if it cannot be made."""
        of, name = self.dimensions, self.policy.__name__
        told = (observation_space, of.action_space, of.n_env, of.n_steps, of.n_batch)
        try:
            return self.policy(self.config, *told, reuse=False, **self.kwargs)
        except (RlkError, Warning):  # a warning, where the program makes errors of them
            raise
        except TypeError as error:
            raise PlanError(f"policy {name!r}: {error}") from error
        except Exception as error:
            raise PlanError(f"policy {name!r} cannot be made: {described(error)}.") from error

    def build(self, observation_space: Any, heads: Any) -> Any:
        """The policy module with these heads; PlanError if `dueling` is set for an actor."""
        made = self.made(observation_space)
        if made.dueling is not None and "pi" in heads:
            raise PlanError(
                f"policy {self.policy.__name__!r}: dueling={made.dueling} is for the Q values of "
                "DQN, and this algorithm has an actor. Leave dueling out."
            )
        return self.architecture(made).build(observation_space, heads)

    def architecture(self, made: BasePolicy) -> Architecture:
        """The object that builds the networks of the policy."""
        return made

    def flatten(self, module: Any) -> Any:
        """The flat parameters of a module that `build` made."""
        from rlk_flat_parameters import FlatParameters

        return FlatParameters(module)


def refuse_tensorflow(policy: type) -> None:
    """Raise PlanError for a class that builds TensorFlow's graph."""
    from_there = [
        base for base in policy.__mro__ if base.__module__.startswith("stable_baselines.")
    ]
    where = next(_functions_of_tensorflow(policy), None)
    if from_there:
        what = f"is derived from {from_there[0].__module__}.{from_there[0].__name__}"
    elif where:
        what = f"builds TensorFlow's graph in {where}"
    else:
        return
    raise PlanError(
        f"policy {policy.__name__!r} {what}, and here networks are torch's. Give the sizes of its "
        "layers instead (class derived from rlk_baselines.common.policies.FeedForwardPolicy, with "
        "net_arch=[dict(pi=[…], vf=[…])]), or write its modules in torch (derived from "
        "ActorCriticPolicy, with encoder and trunk: docs/custom-policies.md)."
    )


def _functions_of_tensorflow(policy: type) -> Iterator[str]:
    """The names of a class's methods that use TensorFlow."""
    for name, member in vars(policy).items():
        if isinstance(member, types.FunctionType) and _TENSORFLOW & set(member.__code__.co_names):
            yield name
