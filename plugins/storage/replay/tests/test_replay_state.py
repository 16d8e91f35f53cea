"""A replay storage saved and restored is the same, bit for bit, and goes on the same way."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from rlk.component import Component
from rlk.errors import PlanError, RlkError
from rlk.records import Field, Schema, Step
from rlk_replay.component import component
from rlk_replay.config import ReplayConfig
from rlk_replay.storage import Replay
from rlk_testing.contracts.storage.trajectory import schema_for
from rlk_testing.tools.states import same

SPACE = gym.spaces.Dict(
    {
        "small": gym.spaces.Box(-np.inf, np.inf, (2,), np.float32),
        "large": gym.spaces.Box(-np.inf, np.inf, (1500,), np.float32),
    }
)


def opened(buffer_size: int = 12, n_envs: int = 2, space: Any = SPACE, seed: int = 0) -> Replay:
    storage = Replay(ReplayConfig(buffer_size=buffer_size))
    storage.open(
        schema_for(
            space,
            gym.spaces.Box(-1, 1, (2,), np.float32),
            n_envs,
            rng=np.random.default_rng(seed),
            extras={"log_prob": Field(())},
        )
    )
    return storage


def steps(n: int, seed: int = 1) -> list[Step]:
    """Steps of two environments with episodes of random length."""
    rng = np.random.default_rng(seed)

    def observe() -> dict[str, Any]:
        return {
            key: rng.normal(size=(2, *part.shape)).astype(np.float32)
            for key, part in SPACE.spaces.items()
        }

    made, observation = [], observe()
    for _ in range(n):
        terminated, truncated = rng.random(2) < 0.2, rng.random(2) < 0.2
        final = {env: {k: v[env] for k, v in observe().items()} for env in range(2)}
        following = observe()
        made.append(
            Step(
                observation=observation,
                action=rng.normal(size=(2, 2)),
                reward=rng.normal(size=2),
                terminated=terminated,
                truncated=truncated,
                next_observation=following,
                final_observation={e: o for e, o in final.items() if terminated[e] or truncated[e]},
                extras={"log_prob": rng.normal(size=2)},
            )
        )
        observation = following
    return made


@pytest.mark.parametrize("before", [0, 3, 6, 17])
def test_a_restored_storage_equals_the_saved_one_now_and_later(before: int) -> None:
    played = steps(before + 9)
    one = opened()
    for step in played[:before]:
        one.add(step)
    saved = copy.deepcopy(one.state_dict())
    other = opened()
    other.load_state_dict(saved)
    assert same(other.state_dict(), saved)
    for step in played[before:]:
        one.add(step)
        other.add(step)
        a, b = one.sample(16), other.sample(16)
        assert a.index.tolist() == b.index.tolist()
        for key in SPACE.spaces:
            assert a.observation[key].equal(b.observation[key])
            assert a.next_observation[key].equal(b.next_observation[key])
        assert a.action.equal(b.action) and a.discount.equal(b.discount)
    assert same(other.state_dict(), one.state_dict())


def test_only_rows_in_use_are_saved() -> None:
    storage = opened(buffer_size=1000)
    for step in steps(3):
        storage.add(step)
    state = storage.state_dict()
    assert state["observations"][0].shape == (3, 2, 1500)
    assert state["records"].dtype == np.uint8
    assert len(state["records"]) == 3 * 2 * storage._ring._records.dtype.itemsize


def test_a_decorator_is_restored_with_its_base_and_a_new_one_learns_what_is_there() -> None:
    class Chooses:
        def __init__(self) -> None:
            self.told: list[Any] = []

        def choose(self, n: int) -> Any: ...
        def open(self, base: Any, schema: Schema) -> None: ...
        def feedback(self, batch: Any, update: Any) -> None: ...

        def added(self, slots: Any) -> None:
            self.told.append(slots.tolist())

        def state_dict(self) -> dict[str, Any]:
            return {"told": len(self.told)}

        def load_state_dict(self, state: dict[str, Any]) -> None:
            self.told = ["restored", state["told"]]

    one, bare, saves, loads, new = opened(), opened(), Chooses(), Chooses(), Chooses()
    one.decorate(saves)
    for step in steps(2):
        one.add(step)
        bare.add(step)
    other = opened()
    other.decorate(loads)
    other.load_state_dict(one.state_dict())
    assert loads.told == ["restored", 2]
    other = opened()
    other.decorate(new)
    other.load_state_dict(bare.state_dict())
    assert new.told == [[0, 1, 2, 3]]


def test_a_memory_of_another_size_is_refused_by_name() -> None:
    saved = opened(buffer_size=12).state_dict()
    with pytest.raises(RlkError, match="capacity is 6 there, 10 here"):
        opened(buffer_size=20).load_state_dict(saved)


def test_a_memory_of_another_space_is_refused_by_name() -> None:
    other = gym.spaces.Dict({**SPACE.spaces, "small": gym.spaces.Box(-1, 1, (3,), np.float32)})
    with pytest.raises(RlkError, match=r"observation.small is <f4\[2\] there, <f4\[3\] here"):
        opened(space=other).load_state_dict(opened().state_dict())


def checked(n_envs: int, buffer_size: int, **settings: Any) -> None:
    config = SimpleNamespace(**settings)
    algorithm = SimpleNamespace(title="algorithm 'mine' (mine 1.0)", config=config)
    assert component.check is not None
    plan = SimpleNamespace(algorithm=algorithm, n_envs=n_envs)
    component.check(ReplayConfig(buffer_size=buffer_size), plan)


def test_a_memory_that_never_holds_a_batch_is_refused_while_planning() -> None:
    with pytest.raises(
        PlanError, match=r"'mine'.*buffer_size=8 with n_envs=3.*batch_size=8.*to 9 or more"
    ):
        checked(3, 8, batch_size=8)
    checked(4, 8, batch_size=8)
    checked(3, 9, batch_size=8)
    checked(3, 1)  # an algorithm without batches of one size


def test_the_component_names_what_it_is() -> None:
    assert isinstance(component, Component)
    assert (component.name, component.collects, component.stages) == ("replay", "off-policy", ())
    assert component.load() is Replay
    assert ReplayConfig().buffer_size == 50_000


def test_the_observations_of_all_transitions_come_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlk_replay.storage._PART", 5)
    storage, added = opened(), steps(9)
    for step in added:
        storage.add(step)
    parts = list(storage.observations())
    assert [len(part["small"]) for part in parts] == [5, 5, 2]
    for key in SPACE.spaces:
        found = np.concatenate([part[key] for part in parts])
        kept = np.concatenate([step.observation[key] for step in added[-6:]])
        assert sorted(found[:, 0].tolist()) == sorted(kept[:, 0].tolist())
