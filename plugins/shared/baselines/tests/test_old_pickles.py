"""`VecNormalize` reads files of Stable Baselines 2.10 and 3 without running code from them."""

from __future__ import annotations

import os
import pickle
from collections import OrderedDict

import gymnasium
import numpy as np
import pytest

from rlk.errors import BadFile
from rlk_baselines.common import make_vec_env
from rlk_baselines.common.vec_env import VecNormalize
from rlk_baselines.foreign_files.inert_pickle import (
    RefusedPickle,
    inert_load,
    is_plain,
    path_of,
    plain_load,
)
from rlk_testing.tools.stable_baselines_pickles import stand_in
from rlk_testing.tools.states import same


class Trap:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder) -> None:
        self.folder = str(folder)

    def __reduce__(self):
        return os.mkdir, (self.folder,)


@pytest.fixture(params=["stable_baselines", "stable_baselines3"])
def there(request):
    """The two classes to which a package's pickles refer."""
    with (
        stand_in(f"{request.param}.common.vec_env.vec_normalize.VecNormalize") as vector,
        stand_in(f"{request.param}.common.running_mean_std.RunningMeanStd") as statistics,
    ):
        yield {"VecNormalize": vector, "RunningMeanStd": statistics}


def filled(kind, **attributes):
    made = kind()
    vars(made).update(attributes)
    return made


def statistics(there, mean):
    kind = there["RunningMeanStd"]
    return filled(kind, mean=np.asarray(mean), var=np.asarray(mean) + 1.0, count=5.0)


def normalize(there, **others):
    space = gymnasium.spaces.Box(-1.0, 1.0, (3,), np.float32, seed=0)
    space.sample()  # now it holds a generator of random numbers
    return filled(
        there["VecNormalize"],
        **{
            "num_envs": 2,
            "observation_space": space,
            "action_space": gymnasium.spaces.Dict({"a": gymnasium.spaces.Discrete(2)}),
            "obs_rms": statistics(there, [0.0, 1.0, 2.0]),
            "ret_rms": statistics(there, np.float64(3.0)),
            "clip_obs": 10.0,
            "clip_reward": 4.0,
            "gamma": 0.9,
            "epsilon": 1e-6,
            "training": False,
            "norm_obs": True,
            "norm_reward": False,
            "old_obs": np.zeros((2, 3)),
            **others,
        },
    )


def written(path, value):
    path.write_bytes(pickle.dumps(value))
    return path


def test_a_file_from_there_is_read_with_its_statistics_and_settings(there, tmp_path) -> None:
    path = written(tmp_path / "it.pkl", normalize(there))
    found = VecNormalize.load(path, make_vec_env("Pendulum-v1", 1))
    assert found.obs_rms.mean.tolist() == [0.0, 1.0, 2.0]
    assert (float(found.ret_rms.mean), float(found.ret_rms.var), found.ret_rms.count) == (3, 4, 5)
    assert (found.clip_obs, found.clip_reward, found.gamma, found.epsilon) == (10, 4, 0.9, 1e-6)
    assert (found.training, found.norm_obs, found.norm_reward) == (False, True, False)
    assert found.num_envs == 1
    assert found.reset().shape == (1, 3)


def test_statistics_from_there_are_read(there, tmp_path) -> None:
    written(tmp_path / "obs_rms.pkl", statistics(there, [0.0, 1.0, 2.0]))
    written(tmp_path / "ret_rms.pkl", statistics(there, np.float64(3.0)))
    found = VecNormalize(make_vec_env("Pendulum-v1", 1))
    found.load_running_average(tmp_path)
    assert found.obs_rms.mean.tolist() == [0.0, 1.0, 2.0]
    assert found.ret_rms.count == 5.0


def test_observations_that_were_not_normalised_have_no_statistics_there(there, tmp_path) -> None:
    value = normalize(there, norm_obs=False)
    del value.obs_rms
    path = written(tmp_path / "it.pkl", value)
    found = VecNormalize.load(path, make_vec_env("Pendulum-v1", 1))
    assert not found.norm_obs
    assert found.obs_rms.mean.tolist() == [0.0, 0.0, 0.0]


def test_no_code_in_it_runs(there, tmp_path) -> None:
    trap = Trap(tmp_path / "made")
    path = written(tmp_path / "it.pkl", normalize(there, old_rews=trap))
    VecNormalize.load(path, make_vec_env("Pendulum-v1", 1))
    written(tmp_path / "it.pkl", normalize(there, obs_rms=trap))
    with pytest.raises(BadFile, match="and not of a RunningMeanStd"):
        VecNormalize.load(path, make_vec_env("Pendulum-v1", 1))
    assert not (tmp_path / "made").exists()


def test_what_is_something_else_is_refused(there, tmp_path) -> None:
    vector = make_vec_env("Pendulum-v1", 1)
    for value, problem in (
        (normalize(there, gamma="much"), "damaged: ValueError"),
        (normalize(there, obs_rms={"a": 3.0}), "a pickle of float, and not of a Running"),
        (statistics(there, [0.0]), "and not of a VecNormalize"),
        ({"gamma": 0.9}, "a pickle of dict"),
        (vector.observation_space, "a pickle of gymnasium.spaces.box.Box"),
    ):
        with pytest.raises(BadFile, match=problem):
            VecNormalize.load(written(tmp_path / "it.pkl", value), vector)
    (tmp_path / "it.pkl").write_bytes(b"nothing")
    with pytest.raises(BadFile, match="is not a pickle"):
        VecNormalize.load(tmp_path / "it.pkl", vector)


def test_statistics_of_other_observations_are_refused(there, tmp_path) -> None:
    written(tmp_path / "obs_rms.pkl", statistics(there, [0.0, 1.0, 2.0]))
    written(tmp_path / "ret_rms.pkl", statistics(there, np.float64(3.0)))
    found = VecNormalize(make_vec_env("CartPole-v1", 1))
    with pytest.raises(ValueError, match=r"statistics are of observations .*3.* vector's are .*4"):
        found.load_running_average(tmp_path)
    assert found.obs_rms.mean.shape == (4,)


def test_a_damage_that_no_reader_of_pickles_foresees_is_named(tmp_path) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(b"\x80\x04\x8e" + b"\xff" * 8 + b".")  # bytes of 2^64 - 1 bytes
    with pytest.raises(BadFile, match=r"model.pkl is not a pickle: OverflowError"):
        plain_load(path)


@pytest.mark.parametrize("protocol", range(3, pickle.HIGHEST_PROTOCOL + 1))
def test_only_arrays_numbers_and_containers_are_made_from_a_pickle(protocol, tmp_path) -> None:
    path = tmp_path / "model.pkl"
    rows = OrderedDict(a=np.arange(3.0), b=[np.float32(2), np.ones((2, 2), np.uint8)[:, 1]])
    path.write_bytes(pickle.dumps(rows, protocol))
    for found in (plain_load(path), inert_load(path.read_bytes())):
        assert same(found, rows)
    path.write_bytes(pickle.dumps({"rows": rows, "a": Trap(tmp_path / "made")}, protocol))
    with pytest.raises(RefusedPickle, match=r"model.pkl is a pickle with (posix|nt).mkdir in it"):
        plain_load(path)
    assert not is_plain(inert_load(path.read_bytes()))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("name", ["ndarray.__class__", "ndarray.__init_subclass__", "load"])
def test_what_a_plain_class_has_is_not_plain(name, tmp_path) -> None:
    path = tmp_path / "model.pkl"
    texts = (b"\x8c" + bytes([len(text)]) + text.encode() for text in ("numpy", name))
    path.write_bytes(b"\x80\x04" + b"".join(texts) + b"\x93.")  # looks up numpy.NAME
    with pytest.raises(RefusedPickle, match=rf"numpy\.{name} in it"):
        plain_load(path)
    assert path_of(inert_load(path.read_bytes())) == f"numpy.{name}"
