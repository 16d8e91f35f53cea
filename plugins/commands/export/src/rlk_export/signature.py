"""The inputs and outputs of an exported program, described for people without rlk.

B is the batch: any number of observations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import gymnasium as gym
import numpy as np

from rlk.documents import json_text
from rlk.records import Array
from rlk.settings import unstructure
from rlk.spaces import Space, action_size, is_image

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.running.run import Run

#: The first axis of every input and output.
BATCH = "batch"
#: At most this many bounds of a Box are listed.
LISTED = 32


@attrs.frozen
class Port:
    """An input or an output.

    Attributes:
        name: in ONNX; for an output, in both formats.
        shape: `batch` first.
        dtype: its name in numpy.
        meaning: what its numbers mean.
        key: of an input from a Dict space, its key there; otherwise None.
    """

    name: str
    shape: tuple[str | int, ...]
    dtype: str
    meaning: str
    key: str | None = None


@attrs.frozen
class Signature:
    """Inputs and outputs, in their order."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]

    def feeds(self, arguments: Iterable[Any]) -> dict[str, Array]:
        """The inputs by name, from the arguments of the module."""
        flat: list[Array] = []
        for argument in arguments:
            flat += argument.values() if isinstance(argument, Mapping) else [argument]
        return dict(zip([port.name for port in self.inputs], flat, strict=True))


def signature_of(plan: Plan, actions: Array, state_size: int | None) -> Signature:
    """The signature of the program for a run.

    Args:
        plan: of the run.
        actions: [B, *shape], as the agent returns them.
        state_size: S, numbers of state of a recurrent policy; None for any other.
    """
    inputs = [*_observations(plan.observation_space)]
    outputs = [_port("action", actions.shape[1:], actions.dtype, in_words(plan.action_space))]
    if state_size is not None:
        said = "recurrent state: zeros at first, then next_state of the step before"
        begins = (
            "true where an episode begins with this observation: there the state counts as zeros"
        )
        inputs += [_port("state", (state_size,), "float32", said)]
        inputs += [_port("episode_start", (), "bool", begins)]
        after = "recurrent state after this step"
        outputs += [_port("next_state", (state_size,), "float32", after)]
    return Signature(tuple(inputs), tuple(outputs))


def metadata(run: Run, signature: Signature) -> dict[str, str]:
    """The description that a file contains: names and texts, or JSON for several values."""
    plan = run.plan
    wrappers = [{"name": c.name, "settings": unstructure(c.config)} for c in plan.wrappers]
    return {
        "made_by": "rlk export",
        "algorithm": plan.algorithm.name,
        "policy": plan.policy.name,
        "environment": plan.env.name,
        "wrappers": json_text(wrappers),
        "timesteps": str(run.timesteps),
        "acting": "deterministic, as agent.predict(observation, deterministic=True)",
        "observation_space": in_words(plan.observation_space),
        "action_space": in_words(plan.action_space),
        "inputs": json_text([attrs.asdict(port) for port in signature.inputs]),
        "outputs": json_text([attrs.asdict(port) for port in signature.outputs]),
    }


def in_words(space: Space) -> str:
    """An element of a space, described without Gymnasium's terms."""
    if isinstance(space, gym.spaces.Dict):
        return "; ".join(f"{key}: {in_words(part)}" for key, part in space.spaces.items())
    if isinstance(space, gym.spaces.Discrete):
        first = int(space.start)
        return f"a whole number from {first} to {first + int(space.n) - 1}"
    if isinstance(space, gym.spaces.MultiDiscrete):
        last = space.start + space.nvec - 1
        return f"{action_size(space)} whole numbers {_bounds(space.start, last)}"
    if isinstance(space, gym.spaces.MultiBinary):
        return f"{action_size(space)} switches, 0 or 1"
    if isinstance(space, gym.spaces.Box):
        what = "an image, numbers" if is_image(space) else f"{action_size(space)} numbers"
        return f"{what} {_bounds(space.low, space.high)}"
    return " ".join(str(space).split())


def _bounds(low: Array, high: Array) -> str:
    """`from -2 to 2`, for each number if they differ."""
    pairs = zip(low.reshape(-1).tolist(), high.reshape(-1).tolist(), strict=True)
    ranges = [f"{one:.6g} to {other:.6g}" for one, other in pairs]
    if len(set(ranges)) == 1:
        return f"from {ranges[0]}"
    if len(ranges) > LISTED:
        return f"from {low.min():.6g} to {high.max():.6g}, not all alike"
    return f"from {', '.join(ranges)}"


def _observations(space: Space) -> Iterable[Port]:
    """One input, or one for each key of a Dict."""
    if not isinstance(space, gym.spaces.Dict):
        yield _port("observation", space.shape or (), space.dtype, in_words(space))
        return
    taken: set[str] = set()
    for key, part in space.spaces.items():
        name = "observation_" + re.sub(r"\W", "_", str(key), flags=re.ASCII)
        while name in taken:
            name += "_"
        taken.add(name)
        yield _port(name, part.shape or (), part.dtype, in_words(part), str(key))


def _port(
    name: str, shape: Iterable[int], dtype: Any, meaning: str, key: str | None = None
) -> Port:
    return Port(name, (BATCH, *map(int, shape)), np.dtype(dtype).name, meaning, key)
