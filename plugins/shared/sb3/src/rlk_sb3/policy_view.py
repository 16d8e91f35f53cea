"""`model.policy`: rlk's policy module with the methods of Stable-Baselines3's policies.

Shapes: B observations.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import attrs
import torch
from torch import Tensor, nn

from rlk import spaces
from rlk.program_warnings import warn_program
from rlk.records import Array
from rlk_baselines.common.math_util import scale_action, unscale_action
from rlk_baselines.policies.classes import refuse_load
from rlk_baselines.refusals import Refused
from rlk_networks import Policy, as_tensor
from rlk_networks.recurrent import is_recurrent
from rlk_sb3.action_distribution import ActionDistribution
from rlk_sb3.copied_policy import acting_by
from rlk_sb3.elsewhere import with_hint
from rlk_sb3.extractors import Turning
from rlk_sb3.images import channels_first
from rlk_sb3.parameter_names import by_torchs_names

#: The attributes in which torch looks for parameters. They are shared with rlk's module, so that
#: parameters have the same names.
_SHARED = ("_parameters", "_buffers", "_non_persistent_buffers_set", "_modules")


class PolicyView(nn.Module):
    """The policy of a model; its parameters are the model's own.

    Other attributes of rlk's module (`encode`, `preprocess`) can be accessed, too. A copy by
    `copy.deepcopy` has parameters of its own, with which it acts; the model does not train them.
    What `pickle` writes is rlk's module alone, without `predict`.

    Args:
        model: the model.

    Attributes:
        module: rlk's module.
    """

    module: Policy
    load: ClassVar[Any] = classmethod(refuse_load)

    def __init__(self, model: Any) -> None:
        super().__init__()
        # Not by nn.Module's __setattr__: the model is not a part of the module.
        vars(self).update(_model=model, _acting=None)
        self.follow(model.agent.run.policy)

    def follow(self, module: Policy) -> None:
        """Use another module from now on, because the model has rebuilt its agent."""
        vars(self).update({name: vars(module)[name] for name in _SHARED}, module=module)
        self.training = module.training

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if "module" not in vars(self):
                raise
            try:
                return getattr(self.module, name)
            except AttributeError as error:
                raise with_hint(error, name) from None

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = type(self)(self._model)
        copied.follow(copy.deepcopy(self.module, memo))
        vars(copied)["_acting"] = acting_by(self._run, copied.module)
        return copied

    def __reduce__(self) -> tuple[Any, tuple[Policy]]:
        return _itself, (self.module,)

    @property
    def _run(self) -> Any:
        return self._model.agent.run

    @property
    def action_space(self) -> Any:
        """The action space of one environment."""
        return self._model.action_space

    @property
    def device(self) -> torch.device:
        """The device of the parameters."""
        return torch.device(self._run.device)

    @property
    def features_extractor(self) -> nn.Module:
        """The module of the class `features_extractor_class`, which all networks share.

        It takes preprocessed observations, with images between 0 and 1 and channels first.

        Raises:
            AttributeError: if there is no such class, or each network has its own module.
        """
        found = [one.extractor for one in self.module.modules() if isinstance(one, Turning)]
        if len(found) != 1:
            raise AttributeError("features_extractor")
        return found[0]

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:
        """As in torch; it also takes `get_parameters()["policy"]` of a model.

        The targets and coefficients in that become the model's own; a copy of a policy has none.
        Values are always copied, also with `assign`: the optimiser moves these parameters alone.
        """
        own, others = by_torchs_names(state_dict, self)
        if not own:
            if not strict and not state_dict.keys() & self.state_dict().keys():
                self._warn_of_other_names(state_dict)
            return super().load_state_dict(state_dict, strict)
        if others and self._acting is None:
            self._model.load_parameters(others, exact_match=False)
        return super().load_state_dict(own, strict)

    def _warn_of_other_names(self, state_dict: Mapping[str, Any]) -> None:
        warn_program(
            f"no parameter here has a name of this state_dict, {[*state_dict][:3]}, so nothing "
            f"changed. The names are {[*self.state_dict()][:3]} and so on: policy.state_dict()."
        )

    def train(self, mode: bool = True) -> Self:
        """Set training mode, or evaluation mode, of all modules."""
        self.module.train(mode)
        self.training = mode
        return self

    def set_training_mode(self, mode: bool) -> None:
        """As `train`."""
        self.train(mode)

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[Any, Any]:
        """As `predict` of the model."""
        if self._acting is not None:
            seen = channels_first(observation, self._model.observation_space)
            return self._acting.predict(seen, state, episode_start, deterministic)
        return self._model.predict(observation, state, episode_start, deterministic)

    def obs_to_tensor(self, observation: Any) -> tuple[Any, bool]:
        """Convert observations to a tensor [B, ...], or a dict of tensors.

        Images get the order of axes that the model learns from. The second result tells whether
        `observation` was a batch.

        Raises:
            ValueError: if the observations do not fit the space.
        """
        turned = channels_first(observation, self._model.observation_space)
        batch, is_vectorized = spaces.batched(self._space_of(observation), turned)
        return as_tensor(batch, self._run.device), is_vectorized

    def scale_action(self, action: Array) -> Array:
        """Scale actions from the bounds of their Box to -1 to 1, as a replay holds them."""
        return scale_action(self.action_space, action)

    def unscale_action(self, scaled_action: Array) -> Array:
        """Scale actions from -1 to 1 to the bounds of their Box."""
        return unscale_action(self.action_space, scaled_action)

    def forward(self, obs: Any, *asked: Any, deterministic: bool = False) -> Any:
        """Actions of observations [B, ...], differentiable where they are continuous.

        For A2C and PPO also values float [B, 1] and log-probabilities float [B].

        Args:
            obs: tensors, as `obs_to_tensor` returns them, or arrays.
            asked: `deterministic` as a positional argument; or names of heads, whose outputs are
                then returned instead, as in `rlk_networks.Policy`.
            deterministic: whether to take the most likely actions instead of samples.
        """
        if asked and isinstance(asked[0], str):
            return self.module(obs, *asked)
        return self._acted(obs, *asked or (deterministic,))

    def _acted(self, obs: Any, deterministic: bool) -> Any:
        """What `forward` returns."""
        raise NotImplementedError

    def _distribution(self, parameters: Tensor) -> ActionDistribution:
        run = self._run
        rng = run.streams.numpy("predict")
        return ActionDistribution(run.distribution, parameters, self.action_space, rng)

    def _space_of(self, observation: Any) -> Any:
        """The space of such observations."""
        return self._run.plan.observation_space

    def _tensors(self, obs: Any) -> Any:
        """Observations as tensors [B, ...] on the policy's device; ValueError for other shapes."""
        if isinstance(obs, Tensor):
            return _fitting(obs, self._space_of(obs), self.device)
        if isinstance(obs, Mapping) and all(isinstance(part, Tensor) for part in obs.values()):
            space = self._space_of(obs)
            parts = getattr(space, "spaces", {})
            if not isinstance(parts, Mapping) or parts.keys() != obs.keys():
                raise ValueError(f"observations of this policy are {space}, got {sorted(obs)}.")
            return {key: _fitting(obs[key], part, self.device) for key, part in parts.items()}
        return self.obs_to_tensor(obs)[0]


class QView(PolicyView):
    """The policy of DQN, with its Q function."""

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[Any, Any]:
        """The actions with the largest Q values, whatever `deterministic` is."""
        return super().predict(observation, state, episode_start, deterministic=True)

    def q_net(self, obs: Any) -> Tensor:
        """The Q values of observations [B, ...], float [B, A], differentiable in the parameters.

        Args:
            obs: tensors, as `obs_to_tensor` returns them, or arrays.
        """
        (values,) = self.module(self._tensors(obs), "qf")
        return values

    def _acted(self, obs: Any, deterministic: bool) -> Tensor:
        """The actions with the largest Q values, int64 [B]."""
        return self.q_net(obs).argmax(1) + int(self.action_space.start)


class CriticsView(PolicyView):
    """What the policies of DDPG, SAC and TD3 share: critics."""

    @property
    def critic(self) -> Critics:
        """The critics, to be called: `critic(obs, actions)`."""
        return Critics(self)

    def q_values(self, obs: Any, actions: Any) -> tuple[Tensor, ...]:
        """As a call of `Critics`."""
        module: Any = self.module
        taken = torch.as_tensor(actions, dtype=torch.float32, device=self.device).flatten(1)
        return tuple(module.qf(module.encode(self._tensors(obs)), taken)[..., None])


class DeterministicView(CriticsView):
    """The policy of DDPG and TD3, whose actions are never samples."""

    def _acted(self, obs: Any, deterministic: bool) -> Tensor:
        """Actions float [B, D], scaled to -1 to 1."""
        (actions,) = self.module(self._tensors(obs), "pi")
        return actions


class StochasticView(CriticsView):
    """The policy of SAC, with a distribution of actions."""

    def _acted(self, obs: Any, deterministic: bool) -> Tensor:
        """Actions float [B, D], scaled to -1 to 1."""
        (parameters,) = self.module(self._tensors(obs), "pi")
        return self._distribution(parameters).get_actions(deterministic)


@attrs.frozen
class Critics:
    """The critics of a policy of DDPG, SAC or TD3, as functions with the policy's parameters."""

    _policy: CriticsView

    def __call__(self, obs: Any, actions: Any) -> tuple[Tensor, ...]:
        """The Q values by each critic, float [B, 1], differentiable in parameters and actions.

        Args:
            obs: [B, ...], tensors, as `obs_to_tensor` returns them, or arrays.
            actions: float [B, D], scaled to -1 to 1, as a replay holds them.
        """
        return self._policy.q_values(obs, actions)

    def q1_forward(self, obs: Any, actions: Any) -> Tensor:
        """The Q values by the first critic alone, as a call returns them."""
        return self(obs, actions)[0]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"critic has no {name!r}: networks have rlk's parts and names here, which "
            "print(model.policy) shows"
        )


class ActorCriticView(PolicyView):
    """The policy of A2C and PPO, with a distribution of actions and a value function.

    Observations are tensors [B, ...], as `obs_to_tensor` returns them, or arrays.
    """

    def _acted(self, obs: Any, deterministic: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Actions [B, *shape], values float [B, 1] and log-probabilities float [B]."""
        parameters, values = self._heads(obs, "pi", "vf")
        distribution = self._distribution(parameters)
        actions = distribution.get_actions(deterministic)
        log_prob = distribution.log_prob(actions)
        return actions.reshape(-1, *self.action_space.shape), values, log_prob

    def evaluate_actions(self, obs: Any, actions: Any) -> tuple[Tensor, Tensor, Tensor | None]:
        """Values float [B, 1], log-probabilities float [B] and entropies float [B].

        They are differentiable in the policy's parameters. Entropies are None if they have no
        closed form.

        Args:
            obs: [B, ...].
            actions: [B, ...], as `forward` returns them.
        """
        parameters, values = self._heads(obs, "pi", "vf")
        distribution = self._distribution(parameters)
        return values, distribution.log_prob(actions), distribution.entropy()

    def get_distribution(self, obs: Any) -> ActionDistribution:
        """The distribution of actions for observations [B, ...]."""
        (parameters,) = self._heads(obs, "pi")
        return self._distribution(parameters)

    def predict_values(self, obs: Any) -> Tensor:
        """The values of observations [B, ...], float [B, 1]."""
        (values,) = self._heads(obs, "vf")
        return values

    def _heads(self, obs: Any, *names: str) -> tuple[Tensor, ...]:
        if is_recurrent(self.module):
            raise Refused(
                f"the policy of this {type(self._model).__name__} remembers, so that observations "
                "alone do not tell what it does. Use model.predict(obs, state, episode_start)."
            )
        return self.module(self._tensors(obs), *names)


def _itself(module: Policy) -> Policy:
    return module


def _fitting(obs: Tensor, space: Any, device: torch.device) -> Tensor:
    """Observations [B, ...] on a device, float64 as float32; ValueError for another shape."""
    shape = tuple(space.shape or ())
    if obs.ndim == 0 or tuple(obs.shape[1:]) != shape:
        raise ValueError(
            f"observations of this policy are a tensor [B, {', '.join(map(str, shape))}], got "
            f"{list(obs.shape)}. model.policy.obs_to_tensor(obs)[0] makes one."
        )
    return obs.to(device, torch.float32 if obs.dtype == torch.float64 else obs.dtype)
