"""How episodes of an expert ended, and observations in a Dict: recorded, read and checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from rlk.errors import BadFile, PlanError
from rlk_expert_data import Player, Trajectories, generate_expert_traj, read, record
from rlk_expert_data.fitting import observations_in, parts_in
from rlk_expert_data.player import Ending

PLACE = spaces.Box(-9.0, 9.0, (2,), np.float32)
GOALS = spaces.Dict({"seen": PLACE, "goal": spaces.Discrete(3)})


class Ends(gym.Env[Any, Any]):
    """Counts its steps; its episodes, of two steps, are terminated and truncated in turn."""

    def __init__(self) -> None:
        self.observation_space: Any = PLACE
        self.action_space = spaces.Discrete(2)
        self.episodes = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.episodes += 1
        self.place = np.zeros(2, np.float32)
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self.place += 1.0
        is_over, odd = bool(self.place[0] == 2.0), self.episodes % 2 == 1
        return self._seen(), 1.0, is_over and odd, is_over and not odd, {}

    def _seen(self) -> Any:
        return self.place


class SameArray(Ends):
    """The same, which returns one array for all observations."""

    array = np.zeros(2, np.float32)

    def _seen(self) -> Any:
        self.array[:] = self.place
        return self.array


class Goals(Ends):
    """The same with observations in a Dict."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = GOALS

    def _seen(self) -> Any:
        return {"seen": self.place, "goal": 1}


def vector_of(cls: type[Ends]) -> Any:
    mode = {"autoreset_mode": gym.vector.AutoresetMode.SAME_STEP}
    return gym.vector.SyncVectorEnv([cls], **mode)


@pytest.mark.parametrize("env", [Ends, SameArray, lambda: vector_of(Ends)])
def test_the_end_of_every_episode_is_recorded(env: Any, tmp_path: Path) -> None:
    generate_expert_traj(lambda seen: 0, tmp_path / "expert", env(), n_episodes=3)
    found = read(tmp_path / "expert", 2)
    assert found.observation[:, 0].tolist() == [0, 1, 0, 1]
    assert found.final_observation is not None and found.terminated is not None
    assert found.final_observation.tolist() == [[2, 2], [2, 2]]
    assert found.terminated.tolist() == [True, False]


@pytest.mark.parametrize("env", [Goals, lambda: vector_of(Goals)])
def test_observations_of_a_dict_are_recorded(env: Any, tmp_path: Path) -> None:
    def expert(seen: Any) -> int:
        assert np.shape(seen["seen"]) == (2,)
        return int(seen["seen"][0])

    generate_expert_traj(expert, tmp_path / "expert", env(), n_episodes=2)
    found = read(tmp_path / "expert")
    assert found.action.tolist() == [[0], [1], [0], [1]]
    parts = parts_in(GOALS, found.observation, "it")
    assert parts["seen"][:, 0].tolist() == [0, 1, 0, 1] and parts["goal"].tolist() == [1] * 4
    assert found.final_observation is not None
    assert parts_in(GOALS, found.final_observation, "it")["seen"].tolist() == [[2, 2], [2, 2]]


def test_observations_of_a_dict_fit_no_other_space(tmp_path: Path) -> None:
    found = Trajectories.of(generate_expert_traj(lambda seen: 0, env=Goals(), n_episodes=1))
    with pytest.raises(
        PlanError, match=r"another form \(the keys goal, seen\) than the run's, Box"
    ):
        observations_in(PLACE, found.observation, "it")
    with pytest.raises(PlanError, match=r"^it: imitation learns nothing from .* in Dict.*Flatten"):
        observations_in(GOALS, found.observation, "it")
    for names in ({"seen": PLACE}, {"seen": PLACE, "other": PLACE}):
        with pytest.raises(PlanError, match=r"the keys goal, seen\) than the run's"):
            parts_in(spaces.Dict(names), found.observation, "it")
    with pytest.raises(PlanError, match="key 'goal': the expert's observations are not all in"):
        parts_in(spaces.Dict({"seen": PLACE, "goal": spaces.Discrete(1)}), found.observation, "it")
    nested = Goals()
    nested.observation_space = spaces.Dict({"seen": GOALS})
    with pytest.raises(
        PlanError, match="only Box and Discrete, and observations in a Dict of arrays, are"
    ):
        generate_expert_traj(lambda seen: 0, env=nested, n_episodes=1)


def test_a_recording_in_which_an_end_is_not_known_has_none() -> None:
    endings: list[Ending | None] = [Ending(np.ones(2), True), None]
    player = Player(
        n_envs=1,
        observation_space=PLACE,
        action_space=spaces.Discrete(2),
        reset=lambda: np.zeros((1, 2)),
        step=lambda actions: (np.zeros((1, 2)), np.ones(1), {0: endings.pop(0)}),
    )
    found = record(player, lambda observation, begun: np.zeros(1), 2)
    assert found["episode_starts"].tolist() == [True, True]
    assert Trajectories.of(found).final_observation is None


def test_a_vector_that_tells_no_final_observation_is_recorded_without() -> None:
    class Silent(gym.vector.VectorWrapper):
        def step(self, actions: Any) -> Any:
            *result, _ = self.env.step(actions)
            return *result, {}

    found = generate_expert_traj(lambda seen: 0, env=Silent(vector_of(Ends)), n_episodes=2)
    assert len(found["obs"]) == 4 and "episode_final_obs" not in found


@pytest.mark.parametrize("key", ["episode_final_obs", "episode_terminated"])
def test_ends_that_do_not_fit_the_episodes_are_refused(key: str) -> None:
    data = generate_expert_traj(lambda seen: 0, env=Ends(), n_episodes=2)
    with pytest.raises(BadFile, match=rf"episodes is 2, and of their ends .*'{key}': 1"):
        Trajectories.of({**data, key: data[key][:1]})
    with pytest.raises(BadFile, match="it is to have episode_final_obs and episode_terminated, or"):
        Trajectories.of({name: array for name, array in data.items() if name != key})
    for wrong in (np.array(["1.png", "2.png"]), np.zeros(2, [("seen", float)]), np.zeros((2, 3))):
        with pytest.raises(BadFile, match=r"obs are numbers \(2,\), and its episode_final_obs"):
            Trajectories.of({**data, "episode_final_obs": wrong})
    with pytest.raises(BadFile, match=r"of their ends .*'episode_terminated': 4"):
        Trajectories.of({**data, "episode_terminated": np.ones((2, 2))})


@pytest.mark.parametrize(
    ("key", "parts", "told"),
    [
        (
            "episode_final_obs",
            {"seen": "3f4"},
            r"obs are goal \(\), seen \(2,\), and .*seen \(3,\)",
        ),
        ("episode_final_obs", {"seen": "2U9"}, "its episode_final_obs are .*<U9"),
        ("obs", {"seen": "2M8[s]"}, "its obs are .*<M8"),
        ("obs", {"seen": [("x", "f4")]}, "its obs are .*'x'"),
    ],
)
def test_parts_of_observations_that_are_no_numbers_or_differ_at_the_end_are_refused(
    key: str, parts: dict[str, Any], told: str
) -> None:
    data = generate_expert_traj(lambda seen: 0, env=Goals(), n_episodes=2)
    fields = [("goal", "i8"), *parts.items()]
    with pytest.raises(BadFile, match=told):
        Trajectories.of({**data, key: np.zeros(len(data[key]), fields)})
