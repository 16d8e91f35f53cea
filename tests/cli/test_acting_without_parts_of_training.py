"""Commands that only act, where a part that only training uses is not installed any more."""

from importlib.metadata import version

import attrs
import pytest
import torch

from rlk.registry.kernel import default_kernel
from rlk_cli.model_file import load_to_act


@pytest.fixture
def run(rlk, small, tmp_path):
    """The folder of a run whose storage is not there any more."""
    storages = default_kernel().registries.storages
    storages.register("acme", attrs.evolve(storages.get("rollout").component(), name="acme"))
    try:
        folder = tmp_path / "run"
        ended = rlk(*small, "--storage", "acme", "--quiet", "--out", folder)
        assert ended.code == 0, ended.err
    finally:
        storages.unregister("acme")
    return folder


@pytest.mark.parametrize(
    "command",
    [
        ["evaluate", "--episodes", 1],
        ["enjoy", "--no-render", "--episodes", 1],
        ["export", "--out", "policy.pt2"],
    ],
)
def test_they_act_without_it(rlk, run, command):
    name, *options = command
    ended = rlk(name, run, *options)
    assert (ended.code, ended.err) == (0, "")


def test_training_on_names_the_package_and_what_to_type(rlk, run):
    ended = rlk("resume", run, "--timesteps", 32)
    assert ended.code == 2
    assert "register 'acme' as that program did, or use another storage" in ended.err
    assert "--set storage=NAME. To predict alone" in ended.err


def test_a_part_of_acting_that_is_left_out_is_named(rlk, small, tmp_path):
    folder = tmp_path / "run"
    ended = rlk(*small, "--plugin", "action-repeat", "--quiet", "--out", folder)
    assert ended.code == 0, ended.err
    ended = rlk("evaluate", folder, "--episodes", 1, "--plugin", "no:action-repeat")
    package = f"rlk-wrappers {version('rlk-wrappers')}"
    assert f"note: wrapper 'action-repeat' ({package}) was part of how" in ended.err


def test_they_act_on_as_many_threads_as_training_had(run, rlk_one_thread):
    torch.set_num_threads(3)
    with load_to_act(run / "model.zip"):
        assert torch.get_num_threads() == 1
