"""`FiveValues` gives an environment of either interface the interface of Gymnasium."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from rlk.errors import EnvironmentFailed, PlanError
from rlk.program_warnings import warn_program
from rlk_old_gym.interface import (
    layers,
    observation_of_reset,
    seeds_by_method,
    takes,
    takes_seed,
    without_makers_wrappers,
)
from rlk_old_gym.registration import as_gymnasium_spec
from rlk_old_gym.spaces import as_gymnasium_space
from rlk_vector_environments.env_state import Unsupported, capture, restore

#: The key of gym's info that says whether a time limit ended the episode.
TRUNCATED = "TimeLimit.truncated"
#: The mode in which environments render frames.
FRAMES = "rgb_array"
#: The attribute of gym's and Gymnasium's `TimeLimit` that holds the limit.
LIMIT = "_max_episode_steps"
#: Methods that a vector calls on this wrapper, although the environment inside may have them too.
_REACHING = ("has_wrapper_attr", "get_wrapper_attr", "set_wrapper_attr")


class FiveValues(gymnasium.Env[Any, Any]):
    """An environment with Gymnasium's interface, whichever interface it was written for.

    If `step` returns four values, an episode was truncated if its last info says so
    (`TimeLimit.truncated`), or if the environment declares a time limit (`spec`,
    `_max_episode_steps`) and the episode reached it; otherwise it has terminated, as in Stable
    Baselines.

    Args:
        env: the environment; any object with `reset`, `step` and spaces.

    Attributes:
        env: the environment, without the wrappers of `gymnasium.make` if it returns four values.

    Raises:
        PlanError: if it lacks `reset`, `step` or a space, or is a class.
    """

    is_adapted = True  #: see `rlk_old_gym.interface.is_old`

    def __init__(self, env: Any) -> None:
        if isinstance(env, type):
            name = env.__name__
            raise PlanError(f"{name} is a class, not an environment. Write {name}(…).")
        for name in ("reset", "step", "observation_space", "action_space"):
            if not hasattr(env, name):
                raise PlanError(
                    f"{type(env).__name__} is not an environment: it has no {name}. An environment "
                    "has reset, step, observation_space and action_space."
                )
        self.env, limit = without_makers_wrappers(env)
        name = type(self.env).__name__
        space, action = self.env.observation_space, self.env.action_space
        self.observation_space = as_gymnasium_space(space, f"{name}.observation_space")
        self.action_space = as_gymnasium_space(action, f"{name}.action_space")
        self.metadata = dict(getattr(env, "metadata", None) or {})
        self.render_mode = getattr(self.env, "render_mode", None)
        if self._renders_by_mode():
            self.render_mode, self.metadata["render_modes"] = FRAMES, [FRAMES]
        self.spec = as_gymnasium_spec(getattr(env, "spec", None))
        self._takes_seed = takes_seed(self.env)
        self._seeds_by_method = not self._takes_seed or seeds_by_method(self.env)
        self._own_limit = limit
        self._said_limit = limit or _limit_of(self.env)
        self._length = 0
        self._has_warned = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        self._length = 0
        if seed is not None and self._seeds_by_method:
            self._seed(seed)
        if self._takes_seed:
            given = {} if options is None else {"options": options}  # some resets take no options
            result = self.env.reset(seed=seed, **given)
        else:
            result = self.env.reset()
        observation = observation_of_reset(result, self.observation_space)
        return observation, (result[1] if observation is not result else {})

    def _seed(self, seed: int) -> None:
        """Call the method `seed` of the outermost layer that has one, or else set `np_random`.

        Only a generator of Gymnasium's base class may be set for sure.
        """
        inner = self.unwrapped
        seeding = next((one.seed for one in layers(self.env) if hasattr(one, "seed")), None)
        if seeding is not None:
            seeding(seed)
        elif isinstance(inner, gymnasium.Env) and isinstance(inner.np_random, np.random.Generator):
            inner.np_random, _ = gymnasium.utils.seeding.np_random(seed)
        elif not self._has_warned:
            self._has_warned = True
            warn_program(
                f"{type(self.unwrapped).__name__} cannot be seeded: it has neither a method seed "
                "nor a generator np_random, so random numbers that it draws may differ between "
                "runs of one seed. Give it a method seed(seed), or derive it from gymnasium.Env "
                "and draw them from self.np_random."
            )

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        result = self.env.step(action)
        self._length += 1
        if not isinstance(result, tuple) or len(result) not in (4, 5):
            raise EnvironmentFailed(
                f"step of {type(self.env).__name__} gave {_shown(result)}; expected (observation, "
                "reward, done, info), or Gymnasium's (observation, reward, terminated, truncated, "
                "info)."
            )
        if len(result) == 5:
            observation, reward, terminated, truncated, info = result
            truncated = bool(truncated) or self._is_at_limit()
            return observation, _number(reward), bool(terminated), truncated, info
        observation, reward, done, info = result
        truncated = self._is_truncated(bool(done), info)
        terminated = bool(done) and not truncated
        return observation, _number(reward), terminated, truncated, info

    def _is_truncated(self, done: bool, info: Any) -> bool:
        if self._is_at_limit() and not done:
            return True
        said = info.get(TRUNCATED) if isinstance(info, dict) else None
        if said is not None:
            return done and bool(said)
        # A limit that was taken off cannot be why the environment says that it is over.
        return done and self._own_limit is None and self._length == self._said_limit

    def _is_at_limit(self) -> bool:
        """Whether the time limit that was taken off would end the episode now."""
        return self._own_limit is not None and self._length >= self._own_limit

    def render(self) -> Any:
        """A frame, or whatever the environment's `render` returns."""
        if takes(self.env.render, "mode"):
            return self.env.render(mode=FRAMES)
        return self.env.render()

    def _renders_by_mode(self) -> bool:
        """Whether it gives frames as environments of gym do: by `render(mode="rgb_array")`."""
        render, modes = getattr(self.env, "render", None), self.metadata.get("render.modes", ())
        can = render is not None and FRAMES in modes and takes(render, "mode")
        return can and self.render_mode is None

    def close(self) -> None:
        if hasattr(self.env, "close"):
            self.env.close()

    @property
    def unwrapped(self) -> Any:
        """The environment inside all of its wrappers."""
        return list(layers(self.env))[-1]

    # ---- reaching into it ------------------------------------------------------------------------

    def has_wrapper_attr(self, name: str) -> bool:
        """Whether the environment or one of its wrappers has that attribute."""
        if name == LIMIT and self._own_limit is not None:
            return True
        return any(hasattr(layer, name) for layer in layers(self.env))

    def get_wrapper_attr(self, name: str) -> Any:
        """That attribute, from the outermost layer that has it, or from this object (`spec`)."""
        if name == LIMIT and self._own_limit is not None:
            return self._own_limit
        if name in _REACHING:
            return getattr(self, name)
        for layer in layers(self.env):
            if hasattr(layer, name):
                return getattr(layer, name)
        if name in ("metadata", "render_mode", "spec"):
            return getattr(self, name)
        raise AttributeError(f"{type(self.env).__name__} has no attribute {name!r}")

    def set_wrapper_attr(self, name: str, value: Any, *, force: bool = True) -> bool:
        """Set that attribute on the outermost layer that has it, or else on the outermost one."""
        if name == LIMIT and self._own_limit is not None:
            self._own_limit = int(value)
            return True
        for layer in layers(self.env):
            if hasattr(layer, name):
                setattr(layer, name, value)
                return True
        if force:
            setattr(self.env, name, value)
        return force

    def get_state(self) -> dict[str, Any]:
        """The state of the environment: see `rlk_vector_environments.env_state`.

        Raises:
            Unsupported: if a layer is not a Gymnasium environment, or holds something that cannot
                be captured.
        """
        for layer in list(layers(self.env))[:-1]:
            if not isinstance(layer, gymnasium.Wrapper):
                raise Unsupported(
                    f"{type(layer).__name__} wraps an environment and is not a gymnasium.Wrapper."
                )
        return {"env": capture(self.env), "length": self._length}

    def set_state(self, state: dict[str, Any]) -> None:
        restore(self.env, state["env"])
        self._length = int(state["length"])


def _limit_of(env: Any) -> int | None:
    """The time limit that an environment declares for its episodes."""
    for layer in layers(env):
        limit = vars(layer).get(LIMIT) if hasattr(layer, "__dict__") else None
        if isinstance(limit, int):
            return limit
    said = getattr(getattr(env, "spec", None), "max_episode_steps", None)
    return said if isinstance(said, int) else None


def _number(reward: Any) -> Any:
    """The reward as a number, also if the environment returns an array of one number."""
    if isinstance(reward, np.ndarray) and reward.size == 1:
        return reward.item()
    return reward


def _shown(result: Any) -> str:
    return f"{len(result)} values" if isinstance(result, tuple) else type(result).__name__
