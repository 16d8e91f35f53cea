"""Base classes for custom policies, with the signatures of Stable Baselines 2.10.

In Stable Baselines, the constructor of a policy builds TensorFlow's graph. Here it only describes
the networks, and rlk builds them in torch. `sess` holds the policy's settings (`policy_kwargs`, and
defaults of the algorithm). It is called once, with the sizes that there the model for training has.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import attrs
from gymnasium import Space
from torch import nn

from rlk_baselines.policies.extractors import nature_cnn
from rlk_baselines.refusals import Refused
from rlk_baselines.without_effect import OF_POLICIES, keywords_with_effect
from rlk_custom_policies.feed_forward import FeedForwardConfig, refuse_other_than_images
from rlk_custom_policies.keywords import with_keywords
from rlk_custom_policies.lstm import LstmPolicyConfig
from rlk_lstm.network import Lstm
from rlk_networks import Architecture, HiddenLayers

#: Arguments that only TensorFlow's graph needs; they are ignored.
_OF_THE_GRAPH = ("reuse", "scale", "obs_ph", "obs_phs", "add_action_ph")
#: Parameters that policies have in Stable-Baselines3, and not here.
_OF_STABLE_BASELINES3 = {"observation_space", "action_space", "lr_schedule"}


def refuse_load(cls: type, path: Any, device: Any = "auto") -> NoReturn:
    """The class method `load` of policies, which have no files of their own: raises Refused."""
    raise Refused(
        f"{cls.__name__}.load: policies have no files of their own here. Write "
        "MODEL.load(path).policy for the file of a model, or "
        "model.policy.load_state_dict(torch.load(path)) for what "
        "torch.save(model.policy.state_dict(), path) has written."
    )


class BasePolicy(Architecture):
    """The base class of all policies.

    Args:
        sess: the policy's settings in rlk; subclasses pass them on.
        ob_space: the observation space of one environment.
        ac_space: the action space.
        n_env: the number of environments that the model learns from.
        n_steps: the steps of each per collection; 1 for a model without the argument `n_steps`.
        n_batch: `n_env * n_steps`.
        reuse, scale, obs_ph, add_action_ph: ignored.
    """

    #: The class of the settings in `sess`.
    config: ClassVar[type] = FeedForwardConfig
    recurrent: ClassVar[bool] = False
    #: Whether DQN's Q network is dueling; None leaves it to DQN's own setting.
    dueling: bool | None = None
    load: ClassVar[Any] = classmethod(refuse_load)
    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls.__signature__ = _signature(cls)

    def __new__(cls, *args: Any, **kwargs: Any) -> BasePolicy:
        if _OF_STABLE_BASELINES3 & kwargs.keys() or isinstance(next(iter(args), None), Space):
            raise Refused(
                f"{cls.__name__}(observation_space, action_space, …) makes no policy here: its "
                "networks are built by a model. Write model.policy of a model, such as "
                "PPO('MlpPolicy', env).policy, which is a torch module."
            )
        return super().__new__(cls)

    def __init__(
        self,
        sess: Any,
        ob_space: Any,
        ac_space: Any,
        n_env: int = 1,
        n_steps: int = 1,
        n_batch: int | None = None,
        reuse: bool = False,
        scale: bool = False,
        obs_ph: Any = None,
        add_action_ph: bool = False,
    ) -> None:
        self.settings = sess
        self.ob_space, self.ac_space = ob_space, ac_space

    def encoder(self, observation_space: Any) -> nn.Module:
        raise NotImplementedError(
            f"{type(self).__name__} has no encoder: define encoder(self, observation_space), which "
            "returns a torch module with the attribute features (docs/custom-policies.md)."
        )

    def trunk(self, role: str, features: int, *, extra: int = 0, n_copies: int = 1) -> HiddenLayers:
        raise NotImplementedError(
            f"{type(self).__name__} has no hidden layers: define trunk(self, role, features, *, "
            "extra=0, n_copies=1) (docs/custom-policies.md)."
        )


def _signature(policy: type[BasePolicy]) -> inspect.Signature:
    """The signature of a policy class, of which `inspect` alone would show that of `__new__`.

    A constructor that hands on `*args` has the parameters of the class above it, up to `reuse`: it
    does not say which of the others it has.
    """
    _, *own = inspect.signature(policy.__init__).parameters.values()
    if own and own[0].kind is inspect.Parameter.VAR_POSITIONAL:
        above = next(one for one in policy.__mro__[1:] if issubclass(one, BasePolicy))
        known, renewed = above.__signature__.parameters, {one.name for one in own}
        if "reuse" in known:
            handed_on = [*known][: [*known].index("reuse") + 1]
            own[:1] = [known[name] for name in handed_on if name not in renewed]
    return inspect.Signature(own)


BasePolicy.__signature__ = _signature(BasePolicy)


class ActorCriticPolicy(BasePolicy):
    """The base class of policies whose methods `encoder` and `trunk` return custom torch modules.

    `docs/custom-policies.md` has an example. The signature is that of `BasePolicy`.
    """


class _Configured(BasePolicy):
    """A policy whose networks are described by keyword arguments."""

    _architecture: Architecture

    def encoder(self, observation_space: Any) -> nn.Module:
        return self._architecture.encoder(observation_space)

    def trunk(self, role: str, features: int, *, extra: int = 0, n_copies: int = 1) -> HiddenLayers:
        return self._architecture.trunk(role, features, extra=extra, n_copies=n_copies)

    def named_roles(self) -> tuple[str, ...]:
        return self._architecture.named_roles()


class FeedForwardPolicy(_Configured):
    """A multilayer perceptron, or a CNN and one, for actor-critics, DQN, DDPG, SAC and TD3.

    Args:
        sess, ob_space, ac_space, n_env, n_steps, n_batch, reuse: as in `BasePolicy`.
        layers: the sizes of the hidden layers. None means [64, 64], or after a CNN the default of
            the algorithm's family.
        net_arch: the sizes of shared layers, then `dict(pi=[…], vf=[…])`; overrides `layers`.
        act_fun: the activation: a function of a tensor, or its name. None means the algorithm's.
        cnn_extractor: a torch module, or a function of the observation space that returns one.
        feature_extraction: `"cnn"` or `"mlp"`.
        kwargs: `layer_norm`, `share_encoder` (False gives every head its own), `dueling` (DQN),
            `features` and `channels` of the Nature CNN, and arguments of a function that is
            `cnn_extractor`.

    Raises:
        PlanError: for an unknown keyword, or an invalid value.
    """

    def __init__(
        self,
        sess: Any,
        ob_space: Any,
        ac_space: Any,
        n_env: int = 1,
        n_steps: int = 1,
        n_batch: int | None = None,
        reuse: bool = False,
        layers: list[int] | None = None,
        net_arch: list[Any] | None = None,
        act_fun: str | Callable[[Any], Any] | None = None,
        cnn_extractor: Any = nature_cnn,
        feature_extraction: str = "cnn",
        **kwargs: Any,
    ) -> None:
        super().__init__(sess, ob_space, ac_space, n_env, n_steps, n_batch, reuse)
        self.dueling = kwargs.pop("dueling", None)
        named = {"layers": layers, "net_arch": net_arch, "act_fun": act_fun}
        chosen = _chosen(
            self, {**named, "cnn_extractor": cnn_extractor, **kwargs}, feature_extraction
        )
        self._config = chosen
        self._architecture = chosen.architecture()
        self.shares_encoder = self._architecture.shares_encoder
        self.uniform_init = self._architecture.uniform_init

    def encoder(self, observation_space: Any) -> nn.Module:
        refuse_other_than_images(self._config, observation_space, type(self).__name__)
        return super().encoder(observation_space)


class LstmPolicy(_Configured):
    """A multilayer perceptron or a CNN, followed by an LSTM that all heads share, and more layers.

    Args:
        sess, ob_space, ac_space, n_env, n_steps, n_batch, reuse: as in `BasePolicy`.
        n_lstm: the number of units of the LSTM.
        layers: the sizes of the hidden layers before the LSTM; None means [64, 64].
        net_arch: the sizes of shared layers with `"lstm"` among them, then
            `dict(pi=[…], vf=[…])`.
        act_fun: the activation: a function of a tensor, or its name.
        cnn_extractor: a torch module, or a function of the observation space that returns one.
        layer_norm: whether the LSTM is layer-normalised.
        feature_extraction: `"cnn"` or `"mlp"`.
        kwargs: `features` and `channels` of the Nature CNN, and arguments of a function that is
            `cnn_extractor`.

    Raises:
        PlanError: for an unknown keyword, or an invalid value.
    """

    config = LstmPolicyConfig
    recurrent = True

    def __init__(
        self,
        sess: Any,
        ob_space: Any,
        ac_space: Any,
        n_env: int = 1,
        n_steps: int = 1,
        n_batch: int | None = None,
        n_lstm: int = 256,
        reuse: bool = False,
        layers: list[int] | None = None,
        net_arch: list[Any] | None = None,
        act_fun: str | Callable[[Any], Any] | None = None,
        cnn_extractor: Any = nature_cnn,
        layer_norm: bool = False,
        feature_extraction: str = "cnn",
        **kwargs: Any,
    ) -> None:
        super().__init__(sess, ob_space, ac_space, n_env, n_steps, n_batch, reuse)
        named = {"layers": layers, "net_arch": net_arch, "act_fun": act_fun, "n_lstm": n_lstm}
        named |= {"layer_norm": layer_norm, "cnn_extractor": cnn_extractor}
        self._architecture = Lstm(_chosen(self, {**named, **kwargs}, feature_extraction))


#: The name of the base class of `LstmPolicy` in Stable Baselines.
RecurrentActorCriticPolicy = LstmPolicy


def _chosen(policy: BasePolicy, keywords: dict[str, Any], feature_extraction: str) -> Any:
    """The settings of a policy: those of rlk, overridden by the keyword arguments."""
    given = {
        key: value
        for key, value in keywords.items()
        if value is not None and value is not nature_cnn and key not in _OF_THE_GRAPH
    }
    told, name = policy.settings, type(policy).__name__
    used = keywords_with_effect(
        {**given, "feature_extraction": feature_extraction}, OF_POLICIES, f"policy {name!r}"
    )
    return with_keywords(told if attrs.has(type(told)) else None, policy.config, used, name)
