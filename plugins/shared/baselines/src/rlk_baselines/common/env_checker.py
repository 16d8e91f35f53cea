"""`check_env`: checks that an environment follows gym's interface and suits the models."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from rlk.spaces import flat_observation, is_image
from rlk_old_gym.interface import layers, observation_of_reset, takes_seed
from rlk_old_gym.spaces import as_gymnasium_space

_FLAGS = (bool, np.bool_)
#: The number of random steps after the first one.
STEPS = 10
#: The modules whose classes pass `compute_reward` on to the environment inside, if it has one. None
#: stands for an attribute that is looked up there.
_FORWARDING = ("rlk_baselines.gym.core", "rlk_baselines.gym.making", "gym.core", None)
#: The action spaces that models support.
_ACTIONS = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


def check_env(env: Any, warn: bool = True, skip_render_check: bool = True) -> None:
    """Check an environment with the interface of gym or Gymnasium, by a few random steps.

    NaN and infinity always cause a warning.

    Args:
        env: the environment.
        warn: whether to warn of things that are allowed but make learning harder.
        skip_render_check: whether to leave `render` out. The check of `render` closes `env`.

    Raises:
        AssertionError: for the first violation; the message says what is expected.
    """
    _check_spaces(env)
    observation_space = as_gymnasium_space(env.observation_space)
    action_space = as_gymnasium_space(env.action_space)
    if warn:
        _warn_of_observations(observation_space)
        _warn_of_actions(action_space)
    first = _check_returned_values(env, observation_space, action_space)
    compute_reward = _reward_of_goals(env, observation_space)
    _check_numbers(_played(env, action_space, first), compute_reward)
    if not skip_render_check:
        _check_render(env)
    if warn and not takes_seed(env) and not hasattr(env, "seed"):
        warnings.warn(
            "the environment has no seed(seed): its episodes cannot be repeated.", stacklevel=2
        )


def _check_spaces(env: Any) -> None:
    assert not isinstance(env, type), (
        f"expected an environment, got the class {env.__name__}: pass {env.__name__}(…)"
    )
    assert not hasattr(env, "num_envs"), (
        "expected one environment, got a vector: pass one of them (vector.envs[0])"
    )
    assert hasattr(env, "reset") and hasattr(env, "step"), (
        "the environment must have reset and step (class MyEnv(gym.Env))"
    )
    for name in ("observation_space", "action_space"):
        assert hasattr(env, name), f"the environment must have {name} (set it in __init__)"
        space = getattr(env, name)
        is_space = isinstance(space, gymnasium.Space) or type(space).__module__.startswith("gym.")
        assert is_space, f"{name} must be one of gym.spaces, got {type(space).__name__}"


def _warn_of_observations(space: Any) -> None:
    if isinstance(space, spaces.Box) and len(space.shape) == 3:
        _warn_of_images(space)
    elif isinstance(space, spaces.Box) and len(space.shape) not in (0, 1):
        _say(
            f"observations have the shape {space.shape}, neither a row nor an image: MlpPolicy "
            "flattens them. A custom policy may do better."
        )


def _warn_of_images(space: spaces.Box) -> None:
    if space.dtype != np.uint8:
        _say(f"an image is expected to be np.uint8, got {space.dtype}: CnnPolicy takes no other.")
    elif not is_image(space):
        _say("an image is expected to have low=0 and high=255: CnnPolicy divides by 255.")
    height, width = sorted(space.shape)[-2:]
    if min(height, width) < 36:
        _say(
            f"the Nature CNN of CnnPolicy needs 36x36 pixels at least, got {space.shape}. Use a "
            "custom policy or MlpPolicy."
        )


def _warn_of_actions(space: Any) -> None:
    if not isinstance(space, _ACTIONS):
        names = ", ".join(one.__name__ for one in _ACTIONS)
        _say(f"actions are a {type(space).__name__}, which no model learns. Use one of {names}.")
    if not isinstance(space, spaces.Box):
        return
    is_symmetric = np.all(space.low == -space.high) and np.all(np.abs(space.low) == 1)
    if not is_symmetric:
        _say(
            "actions are expected to be symmetric and normalised (Box from -1 to 1): most models "
            "explore around 0 with a standard deviation of 1."
        )


def _check_returned_values(env: Any, observation_space: Any, action_space: Any) -> Any:
    """Check the results of `reset` and of one step; returns the tuple that `step` returned."""
    result = env.reset()
    five = isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], dict)
    observation = observation_of_reset(result, observation_space)
    _check_observation(observation, observation_space, "reset")
    data = env.step(action_space.sample())
    expected = "(obs, reward, terminated, truncated, info)" if five else "(obs, reward, done, info)"
    assert isinstance(data, tuple) and len(data) == (5 if five else 4), (
        f"step must return {expected}, got {len(data) if isinstance(data, tuple) else type(data)}"
    )
    observation, reward, *flags, info = data
    _check_observation(observation, observation_space, "step")
    is_number = isinstance(reward, (float, int, np.floating, np.integer))
    assert is_number, f"the reward returned by step must be a float, got {type(reward).__name__}"
    for flag in flags:
        assert isinstance(flag, _FLAGS), (
            f"the done signal returned by step must be a boolean, got {type(flag).__name__}"
        )
    assert isinstance(info, dict), (
        f"the info returned by step must be a dictionary, got {type(info).__name__}"
    )
    return data


def _reward_of_goals(env: Any, observation_space: Any) -> Callable[..., Any] | None:
    """The `compute_reward` of a goal environment, or None for any other environment."""
    found = [layer for layer in layers(env) if hasattr(layer, "compute_reward")]
    computes = any(map(_computes_reward, found))
    if not computes or not isinstance(observation_space, spaces.Dict):
        return None
    keys = ("observation", "achieved_goal", "desired_goal")
    missing = [key for key in keys if key not in observation_space.spaces]
    assert not missing, (
        f"a goal environment shows {', '.join(keys)}; here there is no {' and no '.join(missing)}"
    )
    compute_reward: Callable[..., Any] = found[0].compute_reward
    return compute_reward


def _computes_reward(layer: Any) -> bool:
    """Whether a layer has a `compute_reward` that does more than call that of the next layer."""
    method = getattr(type(layer), "compute_reward", None)
    return "compute_reward" in vars(layer) or getattr(method, "__module__", None) not in _FORWARDING


def _check_numbers(steps: Iterable[Any], compute_reward: Callable[..., Any] | None) -> None:
    """Check that observations and rewards are finite, and rewards equal to `compute_reward`."""
    for observation, reward, *_, info in steps:
        named = {"observation": observation, "reward": reward}
        wrong = [name for name, value in named.items() if not _is_finite(value)]
        if wrong:
            what = " and the ".join(wrong)
            _say(f"found NaN or inf in the {what} returned by step: {observation!r}, {reward!r}")
            return
        if compute_reward is not None:
            computed = compute_reward(
                observation["achieved_goal"], observation["desired_goal"], info
            )
            assert np.isclose(float(computed), float(reward)), (
                f"step returned the reward {reward}, but compute_reward of its goals gives "
                f"{computed}. They must be the same number, because HER learns from both"
            )


def _played(env: Any, action_space: Any, first: Any) -> Iterator[Any]:
    """The results of the first step, and then of `STEPS` random ones."""
    yield first
    last = first
    for _ in range(STEPS):
        if any(last[2:-1]):
            env.reset()
        last = env.step(action_space.sample())
        yield last


def _is_finite(value: Any) -> bool:
    """Whether a value, or every part of a dict or tuple, has neither NaN nor infinity."""
    parts = flat_observation(value)
    arrays = map(np.asarray, parts.values() if isinstance(parts, dict) else [parts])
    return all(array.dtype.kind != "f" or bool(np.isfinite(array).all()) for array in arrays)


def _check_observation(observation: Any, space: Any, method: str) -> None:
    whose = f"the observation returned by {method}"
    if isinstance(space, spaces.Dict):
        assert isinstance(observation, dict), (
            f"{whose} must be a dict, got {type(observation).__name__}"
        )
        for key, part in space.spaces.items():
            assert key in observation, f"{whose} has no {key!r}"
            _check_observation(observation[key], part, method)
        others = [key for key in observation if key not in space.spaces]
        assert not others, f"{whose} has keys that its space has not: {others}"
        return
    if not isinstance(space, spaces.Tuple):
        assert not isinstance(observation, tuple), (
            f"{whose} must be a single value, not a tuple: reset returns the observation alone, or "
            "(observation, info), where info is a dict, if it takes a seed"
        )
    if isinstance(space, spaces.Discrete):
        is_whole = isinstance(observation, (int, np.integer)) or (
            isinstance(observation, np.ndarray) and observation.shape == ()
        )
        assert is_whole, f"{whose} must be an int, got {type(observation).__name__}"
    elif isinstance(space, spaces.Box):
        assert isinstance(observation, np.ndarray), (
            f"{whose} must be a numpy array, got {type(observation).__name__}"
        )
        assert observation.shape == space.shape, (
            f"{whose} must have the shape of the observation space, {space.shape}, got "
            f"{observation.shape}"
        )
    assert space.contains(observation), (
        f"{whose} is not in the observation space {space}: {_difference(observation, space)}"
    )


def _difference(observation: Any, space: Any) -> str:
    dtype = getattr(observation, "dtype", None)
    if isinstance(space, spaces.Box) and dtype is not None:
        if not np.can_cast(dtype, space.dtype):
            return f"its dtype is {dtype}, not {space.dtype}"
        return f"it goes from {observation.min()} to {observation.max()}"
    return f"it is {observation!r}"


def _check_render(env: Any) -> None:
    modes = dict(getattr(env, "metadata", None) or {})
    known = modes.get("render.modes", modes.get("render_modes"))
    if not known:
        _say("no render modes are declared (metadata={'render.modes': ['human']}).")
        return
    if takes_seed(env):
        env.render()
    else:
        for mode in known:
            env.render(mode=mode)
    env.close()


def _say(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=4)
