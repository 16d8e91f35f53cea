"""The examples of docs/custom-policies.md run, and the page shows what they have."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from example_code import module_of

from rlk.component import Component
from rlk.registry.external import as_component
from rlk.registry.kernel import default_kernel
from rlk_testing import PolicyContract
from rlk_testing.contracts.policy.observations import OBSERVATION_SPACES

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
    with module_of(path).main(timesteps=512) as agent:
        assert agent.num_timesteps == 512
        action, _ = agent.predict(np.zeros((3, 4), np.float32))
        assert action.shape == (3,)


class TestGruPolicy(PolicyContract):
    policy_class = module_of(
        ROOT / "examples" / "custom_policies" / "recurrent_encoder.py"
    ).GruPolicy
    component = Component(name="gru", factory=policy_class, summary="a GRU", recurrent=True)
    observation_spaces = tuple(OBSERVATION_SPACES[name] for name in ("Box", "Discrete", "Dict"))


def test_the_class_of_the_recurrent_example_says_that_it_is_recurrent():
    assert as_component(TestGruPolicy.policy_class).recurrent


def test_the_code_that_the_page_shows_stands_in_its_example():
    blocks = re.findall(r"```python\n# (\S+\.py)\n(.*?)```", PAGE, re.DOTALL)
    assert [name for name, _ in blocks] == ["recurrent_encoder.py"] * 2
    for name, code in blocks:
        assert code in (ROOT / "examples" / "custom_policies" / name).read_text(encoding="utf-8")


def test_the_page_names_every_example():
    assert {path.name for path in EXAMPLES} == set(re.findall(r"[\w]+\.py(?=`)", PAGE)) - {
        "my_file.py"
    }


def test_every_documented_name_of_a_policy_is_there():
    documented = "MlpPolicy MlpLstmPolicy MlpLnLstmPolicy CnnPolicy CnnLstmPolicy CnnLnLstmPolicy"
    for name in [*documented.split(), "LnMlpPolicy", "LnCnnPolicy", "MultiInputPolicy"]:
        assert name in default_kernel().registries.policies and f"`{name}`" in PAGE
