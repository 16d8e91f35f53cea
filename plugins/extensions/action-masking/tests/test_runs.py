"""Masks in runs: policies, backends, statistics, files. The game refuses what is not allowed, so a
run that gets through has chosen nothing else. `tests/matrix` has every algorithm with masks."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import rlk
from rlk.errors import PlanError
from rlk.running.device import threads_of
from rlk.saving import checkpoint
from rlk_action_masking import ActionMasks
from rlk_evaluation.evaluate import evaluate_agent
from rlk_testing.environments import MaskedGame
from rlk_testing.tools.states import same
from rlk_testing.tools.torch_threads import one_thread

GAME = "rlk_testing.environments:MaskedGame"
SMALL = {"n_envs": 2, "n_steps": 16, "noptepochs": 2, "seed": 3, "n_threads": 1}


@pytest.fixture(autouse=True)
def thread():
    with one_thread():
        yield


def agent(env=GAME, **settings):
    given = {**SMALL, "plugins": ["action-masking"]}
    if settings.get("policy") in (None, "mlp"):
        given["policy.layers"] = [16]
    return rlk.make("ppo2", env=env, **{**given, **settings})


@pytest.mark.parametrize(
    ("observation", "policy"),
    [("Dict", "multi-input"), ("Image", "cnn"), ("Discrete", "mlp")],
)
def test_policies_see_the_observation_without_its_mask(observation, policy):
    size = {"policy.features": 8} if policy == "cnn" else {}
    with agent(policy=policy, noptepochs=1, **size, **{"env.observation": observation}) as one:
        one.learn(64)
        assert one.run.policy.shared.encoder.features == one.run.policy.shared.features - 6


class Predicts:
    """An auxiliary loss: what is before a head predicts the return, by one weight for all."""

    def __init__(self, head):
        self.head, self.seen = head, []

    @rlk.hookimpl
    def rlk_wrap_loss(self, run):
        def wrapper(loss_fn):
            def with_prediction(batch, *args):
                loss, hidden = loss_fn(batch, *args), batch.hidden(run.policy, self.head)
                (output,) = batch.outputs(run.policy, self.head)
                self.seen.append((hidden, output))
                return loss._replace(value=loss.value + (hidden.mean(1) - batch.return_).var())

            return with_prediction

        return wrapper


@pytest.mark.parametrize("head", ["pi", "vf"])
@pytest.mark.parametrize("policy", ["mlp", "lstm"])
def test_an_auxiliary_loss_reaches_what_is_before_a_head(policy, head):
    plugin = Predicts(head)
    size = {"policy.layers": [16]} if policy == "mlp" else {"policy.n_lstm": 16}
    given = {**size, "policy": policy, "nminibatches": 1, "noptepochs": 1}
    with agent(plugins=["action-masking", plugin], **given) as one, agent(**given) as other:
        for each in (one, other):
            each.learn(32)
        assert not one.run.parameters.flat.equal(other.run.parameters.flat)
        (hidden, output), *_ = plugin.seen
        assert hidden.shape == (32, 16), "without the mask"
        if head == "vf":
            with agent(**given) as untrained, torch.no_grad():
                first = untrained.run.policy.vf.head.out(hidden)
            assert torch.equal(first, output)


@pytest.mark.parametrize("plugins", [["action-masking"], ["action-masking", "no:numpy-acting"]])
def test_an_agent_does_not_choose_where_nothing_is_allowed(plugins):
    with agent(plugins=plugins) as one:
        seen = one.get_env().reset(seed=0)[0]
        assert one.predict(seen)[0].shape == (2,)
        for mask, told in ((0, "allows no action"), (-1, "takes observations of")):
            spoilt = {**seen, "action_mask": np.full_like(seen["action_mask"], mask)}
            with pytest.raises(ValueError, match=told):
                one.predict(spoilt)
            with pytest.raises(ValueError, match=told):
                one.action_probability(spoilt)


def test_images_beside_a_mask_are_images_still(rlk_one_thread):
    torch.set_num_threads(2)
    with agent(n_threads=None, **{"env.observation": "Image"}) as one:
        assert any("observations are images" in note for note in one.plan.notes)
        assert threads_of(one.run) == 2  # a network that sees no images gets one


def test_a_policy_for_other_observations_is_refused_by_what_it_would_see():
    with pytest.raises(PlanError, match=r"policy 'multi-input'.*are Dict.*environment's are Box"):
        agent(policy="multi-input")


def test_masks_pass_the_statistics_of_normalize_by():
    with agent(plugins=["normalize", "action-masking"]) as one:
        one.learn(96)
        (statistics,) = one.run.policy.filters
        assert [(key, shape) for key, *_, shape in statistics.parts] == [("observation", (3,))]
        assert statistics.mean.abs().min() > 0


def test_workers_give_what_one_process_gives():
    def learnt(backend):
        with agent(vec_env=backend) as one:
            one.learn(64)
            return one.run.parameters.flat.clone()

    assert learnt("dummy").equal(learnt("subprocess"))


def test_a_vector_that_was_passed_gives_what_its_environments_give():
    """A game ends otherwise than it is cut off: there, what a vector's mask says is not used."""

    def learnt(env):
        with agent(env=env) as one:
            one.learn(64)
            return one.run.parameters.flat.clone()

    vector = SyncVectorEnv([MaskedGame] * 2, autoreset_mode=AutoresetMode.SAME_STEP)
    assert learnt(vector).equal(learnt(MaskedGame))
    by_hand = SyncVectorEnv([MaskedGame] * 2)  # restarts in the next step, which rlk changes
    assert learnt(by_hand).equal(learnt(MaskedGame))


def test_an_environment_that_has_its_mask_in_the_observation_is_taken_as_it_is():
    with agent(
        env=lambda: ActionMasks(MaskedGame()), plugins=["action-masking", "no:action-masks"]
    ) as one:
        one.learn(64)


def test_a_resumed_run_goes_on_as_if_it_had_not_stopped():
    with agent() as one, agent() as other:
        one.learn(96)
        state = checkpoint.run_state(one.run)
        checkpoint.restore(other.run, state)
        for each in (one, other):
            each.learn(96, reset_num_timesteps=False)
        assert one.run.parameters.flat.equal(other.run.parameters.flat)
        assert same(checkpoint.run_state(one.run), checkpoint.run_state(other.run))


def test_a_saved_model_is_masked_again(tmp_path):
    with agent() as one:
        one.learn(64)
        path = one.save(tmp_path / "model")
        seen, _ = one.get_env().reset(seed=1)
        action = one.predict(seen, deterministic=True)[0]
    with rlk.load(path, env=GAME) as loaded:
        assert np.array_equal(loaded.predict(seen, deterministic=True)[0], action)
        evaluate_agent(loaded, 3)


def test_predict_takes_an_observation_with_its_mask():
    with agent(**{"env.action": "MultiBinary"}) as one:
        seen = {"observation": np.ones(3, np.float32)}
        held = np.array([1, 0, 0, 1, 0, 1], np.int8)  # off, on, on
        for _ in range(5):
            assert one.predict({**seen, "action_mask": held})[0].tolist() == [0, 1, 1]
        many = {"observation": np.ones((2, 3), np.float32), "action_mask": np.stack([held] * 2)}
        assert one.predict(many)[0].tolist() == [[0, 1, 1]] * 2


def test_an_observation_without_its_mask_is_refused():
    with agent() as one, pytest.raises(ValueError, match=r"a dict with the keys.*action_mask"):
        one.predict(np.ones(3, np.float32))


def test_evaluation_plays_by_the_rules():
    with agent() as one:
        assert len(evaluate_agent(one, 5, n_envs=2).returns) == 5


def test_the_same_weights_are_drawn_with_masks_and_without():
    def flat(**settings):
        with agent(**settings) as one:
            return one.run.parameters.flat.clone()

    plain = flat(plugins=[])
    assert flat().equal(plain)


# ---- refusals ------------------------------------------------------------------------------------


class Deaf(gym.Env):
    observation_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)


class Wrong(Deaf):
    """Has a mask in its observations, of the wrong length."""

    observation_space = gym.spaces.Dict(
        {"observation": Deaf.observation_space, "action_mask": gym.spaces.MultiBinary(3)}
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"env": Deaf}, r"'Deaf' has no method action_masks\(\)"),
        ({"env.action": "Box"}, r"actions that can be counted.*Leave out --plugin action-masking"),
        (
            {"env": Wrong, "plugins": ["action-masking", "no:action-masks"]},
            r"masks of Discrete.2. must be MultiBinary.2., but .* is MultiBinary.3.",
        ),
        ({"plugins": ["action-masking", "no:action-masks"]}, "Use --plugin action-masks"),
    ],
)
def test_what_cannot_be_masked_is_refused_while_planning(settings, message):
    with pytest.raises(PlanError, match=message):
        agent(**settings)


def test_an_algorithm_that_learns_no_probabilities_is_refused():
    with pytest.raises(PlanError, match="learns none that it acts by"):
        rlk.make("dqn", env=GAME, plugins=["action-masking"])


def test_a_distribution_that_knows_no_masks_is_refused():
    class Own:
        """A distribution of another package."""

        def __init__(self, space):
            self.parameter_size, self.action = 2, rlk.records.Field((), "int64")

        def head(self, features):
            return torch.nn.Linear(features, 2)

    kernel = rlk.Kernel()
    kernel.registries.distributions.register("own", Own)
    with pytest.raises(PlanError, match=r"needs a distribution with mask_size.*'own'"):
        agent(kernel=kernel, distribution="own")


def test_a_policy_whose_parts_are_not_known_is_refused():
    class Own:
        """A policy of another package."""

        def build(self, space, heads):
            return torch.nn.Linear(3, 1)

        def flatten(self, module): ...

    kernel = rlk.Kernel()
    kernel.registries.policies.register("own-policy", Own)
    with pytest.raises(PlanError, match=r"'own-policy'.* makes a Linear"):
        agent(kernel=kernel, policy="own-policy")


def test_a_wrong_mask_ends_the_run_by_name():
    failed = pytest.raises(rlk.errors.EnvironmentFailed, match="allows no action")
    with agent(**{"env.spoil": "empty"}) as one, failed:
        one.learn(64)
