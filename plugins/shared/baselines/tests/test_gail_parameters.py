"""The parameters and settings of GAIL are those of its policy and those of its discriminator."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from rlk.errors import BadFile
from rlk_baselines import GAIL
from rlk_baselines.gail import ExpertDataset, generate_expert_traj
from rlk_schedules import Linear
from rlk_testing.tools.forged_files import members, packed


@pytest.fixture
def made(counting: Any) -> Any:
    data = generate_expert_traj(lambda _: 1, None, counting(), n_episodes=10)
    settings: Any = {"timesteps_per_batch": 60, "g_step": 1, "hidden_size_adversary": 8}

    def make(seed: int, **more: Any) -> GAIL:
        dataset = ExpertDataset(traj_data=data, verbose=0)
        keywords = {**settings, **more}
        return GAIL("MlpPolicy", counting(), dataset, seed=seed, n_cpu_tf_sess=1, **keywords)

    return make


def logits(model: Any) -> Any:
    adversary = model._adversary
    adversary.prepare()
    return adversary.discriminator.logits(adversary.expert, None).detach().numpy()


def test_they_go_from_one_model_to_another_with_the_discriminator(made: Any) -> None:
    first, second = made(0).learn(120), made(1)
    parameters = first.get_parameters()
    names = [name for name in parameters if name.startswith("adversary/")]
    assert "adversary/network/0/weight" in names
    assert "adversary/rows/mean" in names
    assert names == [one.name for one in first.get_parameter_list() if "adversary" in one.name]
    before = logits(second)
    second.load_parameters(parameters)
    np.testing.assert_array_equal(logits(second), logits(first))
    assert (before != logits(first)).any()
    for name, value in second.get_parameters().items():
        np.testing.assert_array_equal(value, parameters[name])
    parameters["adversary/network/0/weight"][:] = 0.0
    np.testing.assert_array_equal(logits(second), logits(first))  # they are copies


def test_a_file_has_them_too(made: Any, tmp_path: Any) -> None:
    first, second = made(0).learn(120), made(1)
    first.save(tmp_path / "model")
    second.load_parameters(str(tmp_path / "model"))
    np.testing.assert_array_equal(logits(second), logits(first))


def test_they_are_not_read_from_a_damaged_file(made: Any, tmp_path: Any) -> None:
    model, path = made(0), tmp_path / "model.zip"
    model.save(path)
    found = members(path.read_bytes())
    found["state.json"] = found["state.json"].replace(b'"network"', b'"networks"')
    path.write_bytes(packed(list(found.items())))
    with pytest.raises(BadFile, match="damaged: its parameters cannot be read: KeyError"):
        model.load_parameters(str(path))


def test_a_loaded_model_has_the_discriminator_and_its_settings(
    made: Any, counting: Any, tmp_path: Any
) -> None:
    first = made(0).learn(60)
    first.save(tmp_path / "model")
    expert = first.expert_dataset
    same = GAIL.load(tmp_path / "model", env=counting(), expert_dataset=expert)
    np.testing.assert_array_equal(logits(same), logits(first))
    assert (same.hidden_size_adversary, same.g_step, same.d_step) == (8, 1, 1)
    other = GAIL.load(tmp_path / "model", env=counting(), expert_dataset=expert, d_step=3)
    assert (other.hidden_size_adversary, other.g_step, other.d_step) == (8, 1, 3)


def test_a_scheduled_step_size_is_the_same_after_saving_and_loading(
    made: Any, tmp_path: Any
) -> None:
    made(0, d_stepsize=Linear(1e-3, 1e-4)).save(tmp_path / "model")
    loaded = GAIL.load(tmp_path / "model")
    assert loaded.d_stepsize == "linear:initial=0.001,final=0.0001"
    assert loaded._adversary.config.d_stepsize == Linear(1e-3, 1e-4)


def test_a_step_size_that_is_a_function_is_passed_again(
    made: Any, counting: Any, tmp_path: Any
) -> None:
    first = made(0, d_stepsize=lambda remaining: 1e-3 * remaining).learn(60)
    first.save(tmp_path / "model")
    loaded = GAIL.load(tmp_path / "model", env=counting(), expert_dataset=first.expert_dataset)
    told = "^d_stepsize was the callable .*<lambda>, which no file holds.*: d_stepsize=…$"
    with pytest.warns(UserWarning, match=told):
        loaded.learn(60)
    loaded.d_stepsize = first.d_stepsize
    with warnings.catch_warnings(action="error"):
        loaded.learn(60)


@pytest.mark.parametrize("name", ["g_step", "d_step", "hidden_size_adversary"])
def test_its_own_settings_are_checked_where_they_are_given(made: Any, name: str) -> None:
    with pytest.raises(ValueError, match=f"gail-reward.*: {name} must be a whole number, got 2.5"):
        made(0, **{name: 2.5})


def test_the_size_of_a_discriminator_that_is_made_cannot_be_changed(
    made: Any, tmp_path: Any
) -> None:
    model = made(0)
    with pytest.raises(ValueError, match="hidden_size_adversary cannot be set any more"):
        model.hidden_size_adversary = 16
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match="networks were made with hidden_size_adversary=8"):
        GAIL.load(tmp_path / "model", hidden_size_adversary=16)


def test_some_of_them_or_wrong_ones(made: Any) -> None:
    model = made(0)
    own = model.get_parameters()
    some = {"adversary/network/4/bias": np.array([3.0], np.float32)}
    model.load_parameters(some, exact_match=False)
    now = model.get_parameters()
    assert now.pop("adversary/network/4/bias") == 3.0
    for name, value in now.items():
        np.testing.assert_array_equal(value, own[name])
    with pytest.raises(RuntimeError, match=r"discriminator of this GAIL: missing \['adversary/n"):
        model.load_parameters({k: v for k, v in own.items() if not k.startswith("adversary/")})
    with pytest.raises(RuntimeError, match=r"no parameters \['adversary/other'\]"):
        model.load_parameters({**own, "adversary/other": np.zeros(1)})
    with pytest.raises(RuntimeError, match=r"has shape \(1,\) here and \(2,\) there"):
        model.load_parameters({**own, "adversary/network/4/bias": np.zeros(2)})
