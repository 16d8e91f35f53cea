"""What a program reaches through a vector environment: methods, attributes, frames, the state."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.shared.contract import may_have
from rlk_testing.contracts.vec_env.plain_loop import Loop, check, check_same_step, maker, makers
from rlk_testing.contracts.vec_env.suite import VecEnvSuite
from rlk_testing.environments import Doomed
from rlk_testing.tools.states import plain


class VecEnvAccess(VecEnvSuite):
    """The part of `VecEnvContract` that is about reaching into environments."""

    @applies(lambda suite: suite.takes_functions)
    def test_call_reaches_a_method_of_every_environment(self) -> None:
        with self.env(length=9) as env:
            env.reset(seed=self.seeds())
            assert tuple(env.call("steps_left")) == (9,) * self.n_envs
            assert tuple(env.call("steps_left", extra=2)) == (11,) * self.n_envs

    @applies(lambda suite: suite.takes_functions)
    def test_get_attr_and_set_attr_reach_every_environment(self) -> None:
        with self.env() as env:
            assert tuple(env.get_attr("label")) == ("unset",) * self.n_envs
            env.set_attr("label", "same")
            assert tuple(env.get_attr("label")) == ("same",) * self.n_envs
            env.set_attr("label", [f"own {i}" for i in range(self.n_envs)])
            assert tuple(env.get_attr("label")) == tuple(f"own {i}" for i in range(self.n_envs))

    @applies(lambda suite: suite.takes_functions)
    def test_it_renders_a_frame_of_every_environment(self) -> None:
        twin = Loop(makers(self.n_envs, render_mode="rgb_array"))
        with self.env(render_mode="rgb_array") as env:
            assert env.render_mode == "rgb_array", (
                f"render_mode is {env.render_mode!r}, must be that of the environments: what films "
                "them asks for it"
            )
            env.reset(seed=self.seeds())
            twin.reset(self.seeds())
            env.step(twin.actions(0))
            twin.step(twin.actions(0))
            frames = env.render()
            assert frames is not None and len(frames) == self.n_envs, (
                f"render() returned {frames!r:.60}, must return the frames of all environments, "
                "in their order"
            )
            check(frames, [one.render() for one in twin.envs], "the frame after step 0")

    @applies(lambda suite: may_have(suite, "env_method", "get_images"))
    def test_environments_are_reached_by_the_names_of_stable_baselines_too(self) -> None:
        with self.env(length=9, render_mode="rgb_array") as env:
            env.reset(seed=self.seeds())
            env.set_attr("label", "other", indices=[1])
            assert list(env.get_attr("label", indices=[1, 0])) == ["other", "unset"]
            assert env.env_method("steps_left", 1, indices=[-1]) == [10]
            assert env.env_method("steps_left", extra=2) == [11] * self.n_envs
            images = env.get_images()
            assert isinstance(images, list) and len(images) == self.n_envs
            assert all(image.shape == (4, 4, 3) for image in images)

    @applies(lambda suite: may_have(suite, "get_state", "set_state"))
    def test_its_state_if_it_has_one_is_plain_and_goes_on_where_it_was(self) -> None:
        with self.env(length=3) as env, self.env(length=3) as twin:
            if not (hasattr(env, "get_state") and hasattr(env, "set_state")):
                pytest.skip("it saves no state: resumed runs start new episodes")
            env.reset(seed=self.seeds())
            actions = np.ones(self.n_envs, np.int64)
            for _ in range(5):
                env.step(actions)
            state = env.get_state()
            plain(state)
            twin.reset(seed=1)
            twin.set_state(state)
            for t in range(self.n_steps):
                expected = env.step(actions)
                check_same_step(twin.step(actions), expected, f"at step {t} after restoring")

    @applies(lambda suite: suite.takes_functions)
    def test_closing_it_closes_every_environment(self, tmp_path: Path) -> None:
        """What an environment holds, such as a simulator's process, its own `close` frees."""
        notes = [tmp_path / f"closed-{i}" for i in range(self.n_envs)]
        with self.made_of([maker(Doomed, note=str(note)) for note in notes]) as env:
            env.reset(seed=self.seeds())
            env.close()
            left = [i for i, note in enumerate(notes) if not note.exists()]
            assert not left, (
                f"after close(), environments {left} have not been closed: close each of them, and "
                "wait for workers that do so"
            )
