"""Expert data: recorded as whole episodes, read back, checked, and given in batches."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from matplotlib import pyplot
from PIL import Image

import rlk
from rlk.errors import BadFile, PlanError
from rlk_expert_data import DataLoader, ExpertDataset, Trajectories, generate_expert_traj, read
from rlk_expert_data.fitting import actions_in, observations_in
from rlk_expert_data.source import of_episodes


class Counting(gym.Env[Any, Any]):
    """Shows how many steps it has made; an episode has so many."""

    def __init__(self, length: int = 3) -> None:
        self.length, self.steps = length, 0
        self.observation_space = spaces.Box(0.0, 100.0, (2,), np.float32)
        self.action_space = spaces.Discrete(2)

    def reset(self, **_: Any) -> tuple[Any, dict[str, Any]]:
        self.steps = 0
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        return self._seen(), 1.0, self.steps == self.length, False, {}

    def _seen(self) -> Any:
        return np.array([self.steps, 7], np.float32)


class Pictures(Counting):
    """The same as an image."""

    def __init__(self, channels: int = 3) -> None:
        super().__init__()
        self.observation_space = spaces.Box(0, 255, (4, 5, channels), np.uint8)

    def _seen(self) -> Any:
        return np.full(self.observation_space.shape, self.steps, np.uint8)


def expert(observation: Any) -> int:
    return int(observation.flat[0] > 1)


def quiet(data: Any = None, **keywords: Any) -> ExpertDataset:
    return ExpertDataset(traj_data=data, verbose=0, seed=0, **keywords)


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return generate_expert_traj(expert, env=Counting(), n_episodes=4)


@pytest.mark.parametrize("folder", [".", "", Path()])
def test_a_folder_is_refused_before_anything_is_recorded(folder: object) -> None:
    env = Counting()
    env.step = None
    with pytest.raises(PlanError, match="is a folder: name a file in it"):
        generate_expert_traj(expert, folder, env, n_episodes=1)


def test_episodes_are_whole_and_each_environment_plays_its_share(tmp_path: Path) -> None:
    mode = {"autoreset_mode": gym.vector.AutoresetMode.SAME_STEP}
    env = gym.vector.SyncVectorEnv([lambda: Counting(1), lambda: Counting(3)], **mode)
    found = generate_expert_traj(expert, tmp_path / "here" / "expert", env, n_episodes=3)
    assert found["episode_starts"].tolist() == [True, True, True, False, False]
    assert found["obs"][:, 0].tolist() == [0, 0, 0, 1, 2]
    assert found["actions"].tolist() == [[0], [0], [0], [0], [1]]
    assert found["episode_returns"].tolist() == [1, 1, 3]
    back = read(tmp_path / "here" / "expert")
    assert all(np.array_equal(found[key], array) for key, array in back.arrays().items())


def test_the_first_episodes_are_used(data: Any, capsys: pytest.CaptureFixture[str]) -> None:
    dataset = ExpertDataset(traj_data=data, traj_limitation=2, batch_size=2, train_fraction=0.5)
    assert (dataset.num_traj, dataset.num_transition, dataset.avg_ret) == (2, 6, 3.0)
    assert "Total trajectories: 2" in capsys.readouterr().out
    assert (len(dataset.train_loader or ()), len(dataset.val_loader or ())) == (2, 2)
    assert quiet(data, traj_limitation=9).num_traj == 4


def test_a_pass_has_every_transition_once(data: Any) -> None:
    dataset = quiet({**data, "obs": np.arange(24.0).reshape(12, 2)}, train_fraction=0.75)
    parts = {}
    for split, size in (("train", 9), ("val", 3)):
        observations, actions = dataset.get_next_batch(split)
        assert observations.shape == (size, 2) and actions.shape == (size, 1)
        parts[split] = set(observations[:, 0].tolist())
    assert parts["train"] | parts["val"] == set(np.arange(0.0, 24.0, 2.0).tolist())
    dataset.init_dataloader(5)
    assert [len(dataset.get_next_batch()[0]) for _ in range(4)] == [5, 5, 2, 5]
    dataset.init_dataloader(1024)
    assert [len(dataset.get_next_batch()[0]) for _ in range(2)] == [12, 12]


def test_a_loader_may_leave_out_the_remainder_and_end() -> None:
    rows = np.arange(5)
    loader = DataLoader(rows, rows, rows, 2, infinite_loop=False, partial_minibatch=False)
    assert [observation.tolist() for observation, _ in loader] == [[0, 1], [2, 3]]
    with pytest.raises(StopIteration):
        next(loader)
    endless = DataLoader(rows, rows, rows, 2)
    for _ in range(2):
        assert [observation.tolist() for observation, _ in endless] == [[0, 1], [2, 3], [4]]
    with pytest.raises(PlanError, match="the number of transitions, 5, is below batch_size=6"):
        DataLoader(rows, rows, rows, 6, partial_minibatch=False)


def test_images_are_kept_in_files_that_move_with_the_expert(tmp_path: Path) -> None:
    for name in ("expert", "other"):
        given = generate_expert_traj(expert, tmp_path / "a" / name, Pictures(), n_episodes=1)
    names = sorted(path.name for path in (tmp_path / "a" / "recorded_images").iterdir())
    assert names == [f"{name}-{i}.png" for name in ("expert", "other") for i in range(4)]
    assert quiet(given, batch_size=3).get_next_batch("val")[0].shape == (1, 4, 5, 3)
    (tmp_path / "a").rename(tmp_path / "b")
    found = read(tmp_path / "b" / "expert.npz")
    fitted = found.fitted(Pictures().observation_space, spaces.Discrete(2))
    assert fitted.observation[:, 0, 0, 0].tolist() == [0, 1, 2]
    with pytest.raises(PlanError, match="images in files"):
        found.fitted(Counting().observation_space, spaces.Discrete(2))


def test_images_are_replaced_together_with_their_file_or_stay_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, images = tmp_path / "expert", tmp_path / "recorded_images"

    def seen() -> Any:
        found = read(path).fitted(Pictures().observation_space, spaces.Discrete(2))
        return found.observation[:, 0, 0, 0].tolist()

    class Later(Pictures):
        def _seen(self) -> Any:
            return super()._seen() + np.uint8(7)

    generate_expert_traj(expert, path, Pictures(), n_episodes=1)
    with monkeypatch.context() as patch:
        patch.setattr(Image.Image, "save", fails_at_the_second(Image.Image.save))
        with pytest.raises(OSError, match="no space"):
            generate_expert_traj(expert, path, Later(), n_episodes=1)
    with monkeypatch.context() as patch:
        patch.setattr(np, "savez", fails_at_the_second(np.savez, calls=1))
        with pytest.raises(OSError, match="no space"):
            generate_expert_traj(expert, path, Later(), n_episodes=1)
    assert seen() == [0, 1, 2]
    assert sorted(one.name for one in images.iterdir()) == [f"expert-{i}.png" for i in range(4)]
    (images / "expert-9.png").write_bytes(b"of the user's own")
    for begun in ("expert-2", "expert"):
        generate_expert_traj(expert, path, Later(), n_episodes=1)
        assert seen() == [7, 8, 9]
        names = sorted(one.name for one in images.iterdir())
        assert names == sorted(["expert-9.png", *(f"{begun}-{i}.png" for i in range(4))])


def fails_at_the_second(write: Any, calls: int = 0) -> Any:
    """A function that writes once, and then has no space; `calls` have been made already."""
    made = iter(range(calls, 9))

    def writes(*given: Any, **keywords: Any) -> Any:
        if next(made):
            raise OSError("no space")
        return write(*given, **keywords)

    return writes


def test_images_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    generate_expert_traj(expert, tmp_path / "expert", Pictures(), n_episodes=1)
    found, images = read(tmp_path / "expert"), tmp_path / "recorded_images"
    (images / "expert-1.png").write_bytes((images / "expert-1.png").read_bytes()[:40])
    with pytest.raises(BadFile, match=r"expert-1.png of the expert's data cannot be read"):
        found.fitted(Pictures().observation_space, spaces.Discrete(2))
    Image.new("RGB", (2, 2)).save(images / "expert-1.png")
    with pytest.raises(BadFile, match=r"is \(2, 2, 3\), and others are \(4, 5, 3\)"):
        found.fitted(Pictures().observation_space, spaces.Discrete(2))


def test_images_without_a_file_and_those_that_no_file_holds_stay_arrays(tmp_path: Path) -> None:
    found = generate_expert_traj(expert, None, Pictures(), n_episodes=1)
    assert found["obs"].shape == (3, 4, 5, 3)
    found = generate_expert_traj(expert, tmp_path / "expert", Pictures(12), n_episodes=1)
    assert found["obs"].shape == (3, 4, 5, 12) and not (tmp_path / "recorded_images").exists()


def test_a_recording_can_be_repeated() -> None:
    def recorded(seed: int | None) -> Any:
        return generate_expert_traj(expert, env="CartPole-v1", n_episodes=2, seed=seed)["obs"]

    assert np.array_equal(recorded(1), recorded(1))
    assert not np.array_equal(recorded(1)[0], recorded(2)[0])


@pytest.mark.parametrize("plugin", ["normalize", "reward-clip"])
def test_a_recording_has_the_environments_rewards_and_leaves_the_agent_as_it_is(
    plugin: str,
) -> None:
    given: dict[str, Any] = {"seed": 1, "n_threads": 1, "preset": "none", "n_steps": 64}
    given |= {"env": "Pendulum-v1", "plugins": [plugin], "n_envs": 2}
    with rlk.make("ppo2", **given) as agent, rlk.make("ppo2", **given) as other:
        found = [
            generate_expert_traj(one, n_timesteps=128, n_episodes=2, seed=3)
            for one in (agent, other)
        ]
        assert all(np.array_equal(found[0][key], found[1][key]) for key in found[0])
        assert (found[0]["episode_returns"] < -400).all(), "Pendulum's own are about -1000"
        again = generate_expert_traj(agent, n_episodes=2, seed=3)
        assert np.array_equal(again["obs"], found[0]["obs"])
        drawn = [generate_expert_traj(one, n_episodes=2)["obs"] for one in (agent, other)]
        assert np.array_equal(*drawn) and not np.array_equal(drawn[0], again["obs"])
        given["env"] = "CartPole-v1"
    with rlk.make("ppo2", **given) as agent, rlk.make("ppo2", **given) as other:
        for one in (agent, other):
            one.learn(128)
        generate_expert_traj(agent, n_episodes=3)
        for one in (agent, other):
            one.learn(128, reset_num_timesteps=False)
        assert agent.run.parameters.flat.equal(other.run.parameters.flat)


def test_an_environment_that_was_passed_is_recorded_in_and_then_begins_anew() -> None:
    env = Counting()
    with rlk.make("a2c", env=env, plugins=["normalize"], seed=0, n_threads=1) as agent:
        agent.learn(10)
        found = generate_expert_traj(agent, n_episodes=2)
        assert found["rewards"].tolist() == [1.0] * 6
        assert found["obs"][:, 0].tolist() == [0, 1, 2] * 2
        agent.learn(10)
        assert agent.num_timesteps == 10


def test_the_returns_of_a_dataset_are_plotted(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []

    def show() -> None:
        (axes,) = pyplot.gcf().axes
        shown.append([bar.get_height() for bar in axes.patches])
        pyplot.close()

    monkeypatch.setattr(pyplot, "show", show)
    quiet(data).plot()
    assert sum(shown[0]) == 4 and max(shown[0]) == 4


def test_actions_are_those_that_a_storage_keeps() -> None:
    assert actions_in(spaces.Discrete(3, start=5), np.array([[5], [7]]), "it").tolist() == [0, 2]
    space = spaces.MultiDiscrete([2, 3], start=[1, 4])
    assert actions_in(space, np.array([[1, 6]]), "it").tolist() == [[0, 2]]
    box = actions_in(spaces.Box(-1, 1, (2, 2)), np.zeros((1, 2, 2)), "it")
    assert box.shape == (1, 4) and box.dtype == np.float32
    for wrong in ([[3]], [[-1]], [[0.5]]):
        with pytest.raises(PlanError, match="not all in Discrete"):
            actions_in(spaces.Discrete(3), np.array(wrong), "it")


def test_observations_of_another_space_are_refused() -> None:
    box = spaces.Box(-1, 1, (2,), np.float32)
    for wrong, told in ((np.zeros((3, 4)), "another form"), (np.full((3, 2), np.nan), "finite")):
        with pytest.raises(PlanError, match=told):
            observations_in(box, wrong, "it")
    with pytest.raises(PlanError, match="imitation learns nothing from"):
        observations_in(spaces.Dict({"a": box}), np.zeros((3, 2)), "it")


BYTES = spaces.Box(0, 255, (2,), np.uint8)


@pytest.mark.parametrize(
    ("space", "row", "told"),
    [
        (BYTES, [1.0, 0.25], "0.25"),
        (BYTES, [-1, 0], "-1"),
        (BYTES, [300, 0], "300"),
        (spaces.Box(-9, 9, (1,), np.float32), [1e300], r"1e\+300"),
        (spaces.Discrete(3), [3], "3"),
        (spaces.Discrete(3, start=1), [0], "0"),
        (spaces.Discrete(3), [0.5], "0.5"),
        (spaces.MultiDiscrete([3, 4]), [2, 4], "4"),
        (spaces.MultiDiscrete([[3, 4]]), [[-2, 0]], "-2"),
        (spaces.MultiBinary(2), [1, 2], "2"),
    ],
)
def test_numbers_that_the_space_does_not_have_are_refused(space: Any, row: Any, told: str) -> None:
    with pytest.raises(PlanError, match=rf"it: .* not all in .*: {told} is not\. Record it"):
        observations_in(space, np.array([row]), "it")


def test_numbers_of_another_type_that_the_space_has_are_converted() -> None:
    assert observations_in(BYTES, np.array([[255.0, 0.0]]), "it").tolist() == [[255, 0]]
    start = spaces.Discrete(3, start=5)
    assert observations_in(start, np.array([[5.0], [7.0]]), "it").tolist() == [5, 7]
    assert observations_in(spaces.MultiBinary(2), np.array([[True, False]]), "it").tolist() == [
        [1, 0]
    ]
    with pytest.raises(PlanError, match="some actions are too large for float32"):
        actions_in(spaces.Box(-1, 1, (1,)), np.array([[1e300]]), "it")


def test_episodes_of_minari_hold_one_observation_more_than_actions() -> None:
    episode = SimpleNamespace(
        observations=np.arange(3.0)[:, None],
        actions=np.array([1, 0]),
        rewards=np.array([1.0, 2.0]),
        terminations=np.array([False, True]),
    )
    goes_on = SimpleNamespace(**{**vars(episode), "terminations": np.zeros(2, bool)})
    found = of_episodes([episode, goes_on], "minari:x")
    assert found.observation[:, 0].tolist() == [0, 1, 0, 1] and found.returns.tolist() == [3, 3]
    assert found.final_observation is not None and found.terminated is not None
    assert found.final_observation.tolist() == [[2], [2]]
    assert found.terminated.tolist() == [True, False]
    with pytest.raises(PlanError, match="are not arrays"):
        of_episodes([SimpleNamespace(**{**vars(episode), "observations": {}})], "minari:x")
    none = {name: array[:0] for name, array in vars(episode).items()}
    for wrong, told in (({"observations": np.ones(2)}, "2 obs.* 2 rew"), (none, "0 obs.* 0 rew")):
        with pytest.raises(BadFile, match=f"an episode has {told}"):
            of_episodes([SimpleNamespace(**{**vars(episode), **wrong})], "it")


def test_datasets_of_minari_are_found_by_their_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """By what Minari 0.5 returns and raises; the package itself is an extra."""
    episode = SimpleNamespace(
        observations=np.zeros((3, 1)),
        actions=np.array([1, 0]),
        rewards=np.ones(2),
        terminations=np.zeros(2, bool),
    )

    def load_dataset(dataset_id: str) -> Any:
        if dataset_id == "door/damaged-v0":
            raise OSError("truncated file")
        if dataset_id != "door/human-v2":
            raise FileNotFoundError(dataset_id)
        return SimpleNamespace(iterate_episodes=lambda: iter([episode, episode]))

    monkeypatch.setitem(sys.modules, "minari", SimpleNamespace(load_dataset=load_dataset))
    assert read("minari:door/human-v2", 1).returns.tolist() == [2.0]
    with pytest.raises(BadFile, match="Download it: minari download door/none-v0"):
        read("minari:door/none-v0")
    with pytest.raises(BadFile, match="cannot be read: truncated file"):
        read("minari:door/damaged-v0")
    monkeypatch.setitem(sys.modules, "minari", None)
    with pytest.raises(BadFile, match=r"needs minari. Install it"):
        read("minari:door/human-v2")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"actions": None}, "has no actions: expert data has the keys"),
        ({"obs": np.zeros((2, 2))}, "lengths"),
        ({"rewards": np.zeros(5)}, "lengths"),
        ({"obs": np.zeros(())}, r"its obs are float64 \(\)"),
        ({"actions": np.array(["a"] * 12)}, "its actions are <U1"),
        ({"actions": [[1], [1, 2]]}, "its actions are not an array"),
        ({"episode_returns": np.zeros(3)}, "number of episodes is 4, and of returns 3"),
        ({"episode_starts": np.zeros(12, bool)}, "does not begin with"),
    ],
)
def test_what_is_no_expert_data_is_refused(data: Any, change: dict[str, Any], told: str) -> None:
    given = {key: value for key, value in {**data, **change}.items() if value is not None}
    with pytest.raises(BadFile, match=told):
        Trajectories.of(given)


def test_wrong_arguments_are_refused(data: Any, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="does not exist"):
        read(tmp_path / "nothing")
    with pytest.raises(PlanError, match="one of them"):
        ExpertDataset()
    with pytest.raises(PlanError, match="init_dataloader"):
        quiet(data).get_next_batch()
    with pytest.raises(PlanError, match="pass env"):
        generate_expert_traj(expert)
    with pytest.raises(PlanError, match="SAME_STEP"):
        generate_expert_traj(expert, env=gym.vector.SyncVectorEnv([Counting]))
