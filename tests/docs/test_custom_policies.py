"""The examples of docs/custom-policies.md run, and the page shows what they have."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

from rlk.registry.kernel import default_kernel

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples" / "custom_policies").glob("*.py"))
PAGE = (ROOT / "docs" / "custom-policies.md").read_text(encoding="utf-8")


@pytest.fixture
def names_forgotten():
    policies = default_kernel().registries.policies
    before = set(policies.names())
    yield
    for name in set(policies.names()) - before:
        policies.unregister(name)


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_trains_saves_and_loads_what_it_saved(
    path, names_forgotten, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with module.main(timesteps=512) as agent:
        assert agent.num_timesteps == 512
        action, _ = agent.predict(np.zeros((3, 4), np.float32))
        assert action.shape == (3,)


def test_the_page_names_every_example():
    assert {path.name for path in EXAMPLES} == set(re.findall(r"[\w]+\.py(?=`)", PAGE)) - {
        "my_file.py"
    }


def test_every_documented_name_of_a_policy_is_there():
    documented = "MlpPolicy MlpLstmPolicy MlpLnLstmPolicy CnnPolicy CnnLstmPolicy CnnLnLstmPolicy"
    for name in [*documented.split(), "LnMlpPolicy", "LnCnnPolicy", "MultiInputPolicy"]:
        assert name in default_kernel().registries.policies and f"`{name}`" in PAGE
