"""Runs that begin with an expert's transitions: what is refused, and what a saved run does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from recorded_walks import WORLDS

import rlk
from rlk.agent import Agent
from rlk.errors import BadFile, PlanError
from rlk.hookspecs import hookimpl
from rlk.records import Field
from rlk_demonstrations.config import DemonstrationsConfig
from rlk_demonstrations.extension import Demonstrations
from rlk_expert_data import generate_expert_traj
from rlk_testing.environments import Walk
from rlk_testing.tools.states import same
from rlk_testing.tools.thread_ranks import ThreadRank, on_ranks

SMALL: dict[str, Any] = {"buffer_size": 200, "batch_size": 8, "learning_starts": 10, "seed": 1}


def made(path: Any, world: str = "array", algo: str = "dqn", **given: Any) -> Agent:
    plugins = [f"demonstrations:expert_path={path}", *given.pop("plugins", ())]
    settings = {**SMALL, "n_threads": 1, "verbose": 0, **given}
    return rlk.make(algo, env=WORLDS[world], plugins=plugins, **settings)


@pytest.mark.parametrize("algo", ["ddpg", "td3", "sac"])
@pytest.mark.parametrize("plugins", [[], ["prioritized-replay", "n-step"]])
def test_every_algorithm_of_continuous_actions_learns_from_them(
    record: Any, algo: str, plugins: list[str]
) -> None:
    path, truth = record("continuous")
    with made(path, "continuous", algo, plugins=plugins, n_envs=2, buffer_size=999) as agent:
        before = agent.run.parameters.flat.clone()
        agent.learn(100)
        assert agent.run.clock.updates > 0 and not agent.run.parameters.flat.equal(before)
        assert len(agent.run.storage) == len(truth) // 2 * 2 + agent.num_timesteps


def test_they_are_added_once(record: Any) -> None:
    path, truth = record("array")
    with made(path) as agent:
        for timesteps in (5, 10):
            agent.learn(5, reset_num_timesteps=False)
            assert len(agent.run.storage) == len(truth) + timesteps


def test_a_resumed_run_has_them_already(record: Any, tmp_path: Path) -> None:
    path, _ = record("array")
    with made(path) as agent:
        saved = agent.learn(5).save_checkpoint(tmp_path / "checkpoint")
        with rlk.load(saved, env=WORLDS["array"]) as resumed:
            for one in (agent, resumed):
                one.learn(5, reset_num_timesteps=False)
            assert same(agent.run.storage.state_dict(), resumed.run.storage.state_dict())


def test_where_the_replay_was_left_out_they_are_added_again(record: Any, tmp_path: Path) -> None:
    path, truth = record("array")
    with made(path) as agent:
        agent.learn(5)
        files = [agent.save_checkpoint(tmp_path / "checkpoint", replay=False)]
        files.append(agent.save(tmp_path / "model"))
    for file in files:
        with rlk.load(file, env=WORLDS["array"]) as agent:
            agent.learn(5)
            assert len(agent.run.storage) == len(truth) + 5


def test_a_model_is_loaded_without_the_file(changed: Any, tmp_path: Path) -> None:
    path = changed("array")
    with made(path) as agent:
        saved = agent.learn(5).save(tmp_path / "model")
    path.unlink()
    with rlk.load(saved, env=WORLDS["array"]) as agent:
        agent.predict(np.zeros(3, np.float32))
        with pytest.raises(BadFile, match=r"changed\.npz does not exist"):
            agent.learn(5)


def test_they_come_after_the_replay_of_another_run(record: Any, tmp_path: Path) -> None:
    path, truth = record("array")
    with rlk.make("dqn", env=WORLDS["array"], **SMALL) as first:
        first.learn(7).save_replay_buffer(tmp_path / "first")
    with made(path, plugins=[f"replay-start:run={tmp_path / 'first.zip'}"]) as agent:
        agent.learn(1)
        assert len(agent.run.storage) == 7 + len(truth) + 1
        found = agent.run.storage.window(np.array([6, 7]), 2)
    assert np.array_equal(found.observation[0, 1], truth[0].observation)
    assert found.length[0] == 1, "the episode of the other run ends there"


class Still(Walk):
    """Shows the same all the time, so that observations do not tell where episodes begin."""

    def step(self, action: Any) -> Any:
        self.steps += 1
        return self._observation(), 0.0, False, self.steps == 5, {}

    def _observation(self) -> Any:
        return np.zeros(3, np.float32)


def test_their_episodes_are_apart_from_those_that_are_under_way(tmp_path: Path) -> None:
    path = tmp_path / "expert.npz"
    generate_expert_traj(lambda _: 0, path, Still(), n_episodes=3)
    plugin = Demonstrations(DemonstrationsConfig(expert_path=str(path)))
    with rlk.make("dqn", env=Still, n_envs=2, n_threads=1, **SMALL) as agent:
        agent.learn(6)
        plugin.rlk_training_start(agent.run)
        agent.learn(2, reset_num_timesteps=False)
        storage = agent.run.storage
        assert len(storage) == 6 + 14 + 2
        # The last of both environments before, and the last of the first part: its episode is cut.
        assert storage.steps_to_end(np.array([4, 5, 18])).tolist() == [0, 0, 0]
        assert storage.steps_to_end(np.array([6, 17])).tolist() == [3, 1]


def test_wrappers_of_add_see_them(record: Any) -> None:
    path, truth = record("array")
    with made(path) as agent:
        add, seen = agent.run.add, []
        agent.run.add = lambda step: (seen.append(step), add(step))
        agent.learn(1)
    assert len(seen) == len(truth) + 1


def test_plugins_that_keep_something_of_episodes_are_told_where_they_begin_and_end(
    record: Any,
) -> None:
    class Bonus:
        def __init__(self) -> None:
            self.added, self.told = 0, list[int]()

        @hookimpl
        def rlk_wrap_add(self) -> Any:
            return self.counting

        def counting(self, add: Any) -> Any:
            def counted(step: Any) -> None:
                self.added += 1
                add(step)

            return counted

        def interrupt(self) -> None:
            self.told.append(self.added)

    bonus, (path, truth) = Bonus(), record("array")
    with made(path, plugins=[bonus]) as agent:
        agent.run.notify("rlk_training_start")
    assert bonus.told == [0, len(truth)]


def test_every_rank_has_all_of_them_and_one_says_so(
    record: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path, truth = record("array")
    sizes = {}

    def begins(communicator: ThreadRank) -> None:
        with made(path, verbose=1) as agent:
            agent.run.communicator = communicator
            agent.run.notify("rlk_training_start")
            sizes[communicator.rank] = len(agent.run.storage)

    on_ranks(2, begins)
    assert sizes == {0: len(truth), 1: len(truth)}
    told = capsys.readouterr().err
    assert (
        told.count(f"demonstrations: the replay begins with {len(truth)} transitions, 17 ep") == 1
    )


def nan_at(array: Any) -> Any:
    found = np.array(array, np.float64)
    found.flat[-1] = np.nan
    return found


def arrays_of(path: Path) -> dict[str, Any]:
    with np.load(path) as file:
        return dict(file)


@pytest.mark.parametrize(
    ("key", "change", "told"),
    [
        ("rewards", nan_at, "some rewards are not finite as float32"),
        ("rewards", lambda found: found * 1e300, "some rewards are not finite as float32"),
        ("rewards", lambda found: None, r"has none\. Record it with .*generate_expert_traj"),
        ("obs", nan_at, "some observations are not finite"),
        ("episode_final_obs", nan_at, "some observations are not finite"),
        ("obs", lambda found: found[:, :2], r"damaged: its obs are numbers \(2,\), and its ep"),
        ("actions", nan_at, "some actions are not finite"),
        ("actions", lambda found: found * 2, r"not all in Box.*is not\. Record what .*numpy.clip"),
        ("actions", lambda found: found[:, :1], "actions have another form"),
    ],
)
def test_data_that_does_not_fit_is_refused_while_planning(
    record: Any, changed: Any, key: str, change: Any, told: str
) -> None:
    path = changed("continuous", **{key: change(arrays_of(record("continuous")[0])[key])})
    with pytest.raises(PlanError, match=told):
        made(path, "continuous", "td3")


def test_data_of_another_environment_is_refused(record: Any) -> None:
    for world, algo in (("continuous", "td3"), ("dict", "dqn"), ("image", "dqn")):
        with pytest.raises(PlanError, match="have another form"):
            made(record("array")[0], world, algo)


def test_more_than_the_replay_holds_is_refused_with_what_to_type(record: Any) -> None:
    path, truth = record("array")
    size = len(truth) // 2 * 2
    match = rf"has {len(truth)} transitions, more .*Set buffer_size to {size} or more.*traj_limit"
    with pytest.raises(PlanError, match=match):
        made(path, n_envs=2, buffer_size=size - 1)
    with made(path, n_envs=2, buffer_size=size) as agent:
        agent.run.notify("rlk_training_start")
        assert len(agent.run.storage) == size
    limited = f"{path},traj_limitation=1"
    with made(limited, buffer_size=8) as agent:
        agent.run.notify("rlk_training_start")
        assert len(agent.run.storage) == 1 + [true.last for true in truth].index(True)


def test_fewer_than_there_are_environments_are_refused(record: Any) -> None:
    path, truth = record("array")
    with pytest.raises(PlanError, match=rf"fewer than there are environments, n_envs={len(truth)}"):
        made(f"{path},traj_limitation=2", n_envs=len(truth))


@pytest.mark.parametrize("algo", ["a2c", "acer", "bc"])
def test_an_algorithm_without_a_replay_is_refused(record: Any, algo: str) -> None:
    with pytest.raises(PlanError, match=r"fills a replay|is for off-policy algorithms"):
        rlk.make(
            algo,
            env=WORLDS["array"],
            plugins=[f"demonstrations:expert_path={record('array')[0]}"],
            **({"expert_path": str(record("array")[0])} if algo == "bc" else {}),
        )


def test_an_algorithm_that_does_not_say_how_it_learns_may_have_a_replay(record: Any) -> None:
    path, truth = record("array")
    kernel = rlk.Kernel()
    dqn = kernel.registries.algorithms.get("dqn").component()
    kernel.registries.algorithms.register("mine", attrs.evolve(dqn, name="mine", collects=None))
    with made(path, algo="mine", kernel=kernel) as agent:
        agent.learn(1)
        assert len(agent.run.storage) == len(truth) + 1
    plugins = [f"demonstrations:expert_path={path}"]
    with pytest.raises(
        PlanError, match=r"fills a replay, but storage 'rollout' .* is none\. Leave"
    ):
        rlk.make("mine", env=WORLDS["array"], plugins=plugins, storage="rollout", kernel=kernel)


def test_a_file_is_needed(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"needs an expert's data. Use --plugin demonstrations:exp"):
        rlk.make("dqn", env=WORLDS["array"], plugins=["demonstrations"])
    with pytest.raises(PlanError, match=r"'demonstrations' .*nowhere\.npz does not exist"):
        made(tmp_path / "nowhere.npz")


def test_what_is_stored_beside_the_step_must_be_in_the_data(tmp_path: Path, record: Any) -> None:
    with rlk.make("her", model="dqn") as agent:
        generate_expert_traj(agent, tmp_path / "expert", n_episodes=1)
    plugins = [f"demonstrations:expert_path={tmp_path / 'expert'}"]
    plugins.append("hindsight-replay:info_keys=['x']")
    with pytest.raises(PlanError, match=r"keep infos with every step \(x\).* Leave info_keys out"):
        rlk.make("her", model="dqn", plugins=plugins)
    with made(record("array")[0]) as agent:
        agent.run.algorithm.extras = lambda: {"log_prob": Field(())}
        with pytest.raises(PlanError, match="stores log_prob with every step, which an expert's"):
            agent.learn(1)
