"""Forged files: one test for every fault that was found."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import pytest
import torch
from faults.mutations import EVIL
from faults.watch import watching

import rlk
import rlk_sb3
from rlk import documents
from rlk.errors import BadFile, PlanError
from rlk.planning.parse import parse_value
from rlk.registry.kernel import default_kernel
from rlk.restoring.saved_plan import spec_of
from rlk.saving import saved_files
from rlk_callbacks.to_pass_again import to_pass_again
from rlk_testing.tools.forged_files import members, packed

KERNEL = default_kernel()
Run = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A checkpoint."""
    folder = tmp_path_factory.mktemp("made")
    settings: dict[str, Any] = {"learning_starts": 4, "batch_size": 4, "buffer_size": 32}
    with rlk.make("dqn", env="CartPole-v1", seed=1, policy={"layers": [4]}, **settings) as agent:
        agent.learn(12)
        return agent.save_checkpoint(folder / "1").read_bytes()


def forged(data: bytes, path: Path, change: Callable[[Any], None], member: int = 0) -> Path:
    """The file with a JSON member changed: 0 is the manifest, 1 the structure."""
    name = ("manifest.json", "state.json")[member]
    found = members(data)
    document = json.loads(found[name])
    change(document)
    found[name] = json.dumps(document).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(packed(list(found.items())))
    return path


def put(*keys: Any) -> Callable[[Any], Callable[[Any], None]]:
    """`put("a", "b")(1)` changes a document so that its a.b is 1."""

    def with_value(value: Any) -> Callable[[Any], None]:
        def change(document: Any) -> None:
            for key in keys[:-1]:
                document = document[key]
            document[keys[-1]] = value

        return change

    return with_value


# ---- a file imports a module ---------------------------------------------------------------------


def test_a_model_whose_environment_names_a_module_does_not_import_it(
    made: bytes, downloads: Path, command: Run
) -> None:
    name = f"{EVIL}:Id-v0"
    path = forged(made, downloads / "checkpoints" / "12.zip", put("plan", "env", "name")(name))
    with watching() as watched, pytest.raises(PlanError, match=f"Pass it again: --env {name}"):
        rlk.load(path)
    assert EVIL not in watched.imported
    for arguments in (["evaluate", path], ["resume", path], ["enjoy", path, "--no-render"]):
        code, printed = command(*arguments)
        assert code == 2 and f"Pass it again: --env {name}" in printed
    assert EVIL not in sys.modules and not (downloads / "it ran").exists()


def test_what_is_to_be_typed_again_can_be_pasted_into_a_shell(made: bytes, downloads: Path) -> None:
    path = forged(made, downloads / "m.zip", put("plan", "env", "name")("a:B-v0; rm -rf ~"))
    with pytest.raises(PlanError, match="--env 'a:B-v0; rm -rf ~'"):
        rlk.load(path)
    path = forged(made, downloads / "m.zip", put("plan", "env", "name")("a:B-v0\x1b[2J"))
    with pytest.raises(PlanError) as refused:
        rlk.load(path)
    assert "\x1b" not in str(refused.value)


@pytest.mark.parametrize(
    "code",
    [
        *(f"{EVIL}.Evil", f"{EVIL}:Evil", f"./{EVIL}.py"),
        *(f"{EVIL}:Id-v0", f"{EVIL}:space/Id-v0", f"{EVIL}.inner:Id-v0", f"{EVIL}: not an id"),
    ],
)
def test_a_keyword_of_the_environment_that_names_code_is_passed_again(
    made: bytes, downloads: Path, code: str
) -> None:
    kwargs = {"vehicle": ["plain", code]}
    path = forged(made, downloads / "m.zip", put("plan", "env", "kwargs")(kwargs))
    with pytest.raises(PlanError, match=r"Pass it again: --set 'env\.vehicle="):
        rlk.load(path)
    with pytest.raises(PlanError, match="unexpected keyword argument 'vehicle'"):
        rlk.load(path, **{"env.vehicle": code})


class MakesAnId(gymnasium.Wrapper[Any, Any, Any, Any]):
    """As Gymnasium's `GymV26Environment-v0`, it makes the id that a keyword names."""

    def __init__(self, env_id: str = "CartPole-v1") -> None:
        super().__init__(gymnasium.make(env_id))


def test_an_environment_that_makes_an_id_does_not_import_the_module_of_a_files_id(
    made: bytes, downloads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gymnasium.register("MakesAnId-v0", entry_point=MakesAnId)
    monkeypatch.setitem(gymnasium.registry, "MakesAnId-v0", gymnasium.registry.pop("MakesAnId-v0"))
    path = downloads / "m.zip"
    forged(made, path, put("plan", "env", "name")("MakesAnId-v0"))
    forged(path.read_bytes(), path, put("plan", "env", "kwargs")({"env_id": f"{EVIL}:Id-v0"}))
    with watching() as watched, pytest.raises(PlanError, match=r"again: --set env\.env_id="):
        rlk.load(path)
    assert EVIL not in watched.imported and EVIL not in sys.modules


def test_a_keyword_of_the_environment_of_evaluations_is_not_run_either(
    downloads: Path, command: Run
) -> None:
    def change(manifest: Any) -> None:
        (own,) = (one for one in manifest["plan"]["components"] if one["name"] == "evaluation")
        own["settings"]["env_kwargs"] = {"vehicle": f"{EVIL}.Evil"}

    with rlk.make("dqn", env="CartPole-v1", plugins=["evaluation"]) as agent:
        data = agent.save_checkpoint("m.zip").read_bytes()
    code, printed = command("resume", forged(data, downloads / "checkpoints" / "0.zip", change))
    assert code == 2 and "evaluation.env_kwargs was {'vehicle': 'evilmod.Evil'}, " in printed


@pytest.mark.parametrize("text", ["unittest.__main__: x", "this: x", "antigravity: x", "json:x"])
def test_a_module_of_python_that_does_something_is_no_harmless_text(
    made: bytes, downloads: Path, text: str
) -> None:
    path = forged(made, downloads / "m.zip", put("plan", "env", "kwargs")({"file": text}))
    with pytest.raises(PlanError, match="names code, which no file may run by itself"):
        rlk.load(path)


@pytest.mark.parametrize(
    "text", ["ant.xml", r"C:\ant.xml", "http://a.b/ant.xml", "time: 3", "a: b", "12:30", "./a:b-v0"]
)
def test_a_keyword_that_only_looks_like_a_module_is_kept(
    made: bytes, downloads: Path, text: str
) -> None:
    path = forged(made, downloads / "m.zip", put("plan", "env", "kwargs")({"file": text}))
    with pytest.raises(PlanError, match="unexpected keyword argument 'file'"):
        rlk.load(path)


def test_a_file_does_not_choose_the_folder_that_is_written_to(made: bytes, downloads: Path) -> None:
    path = forged(made, downloads / "m.zip", put("plan", "run", "out")("elsewhere"))
    with pytest.raises(BadFile, match="'out' is not known here"):
        rlk.load(path)
    algorithm = put("plan", "components", 0, "settings", "out")("elsewhere")
    with pytest.raises(PlanError, match="unknown setting of algorithm 'dqn'"):
        rlk.load(forged(made, path, algorithm))
    assert not (downloads / "elsewhere").exists()


def test_a_file_does_not_choose_the_files_that_are_written_to(downloads: Path) -> None:
    settings = {"monitor.filename": "mine", "learning_starts": 8, "batch_size": 4}
    with rlk.make("dqn", env="CartPole-v1", plugins=["monitor"], **settings) as agent:
        agent.learn(40)
        path = agent.save_checkpoint("m.zip")
        again = to_pass_again(agent.plan, observers=True).options
    assert again == ["--set", "monitor.filename=mine"], "of the command that a stopped run prints"
    for file in Path().glob("mine*"):
        file.unlink()
    with rlk.load(path) as loaded:
        (sentence,) = loaded.differs
        assert "monitor.filename was 'mine', a file to write to" in sentence
        with pytest.warns(UserWarning, match=r"monitor\.filename"):
            loaded.learn(40)
    assert not list(Path().glob("mine*"))
    with rlk.load(path, **{"monitor.filename": "again"}) as loaded:
        assert not loaded.differs
    manifest = saved_files.read(path, KERNEL)["manifest"]
    with pytest.raises(
        PlanError, match=r"monitor\.filename was 'mine', [\s\S]*again: --set monitor"
    ):
        spec_of(manifest["plan"], KERNEL, resumes=True)


# ---- wrong types ---------------------------------------------------------------------------------


@pytest.mark.parametrize("timesteps", [{"$float": "nan"}, -1, "abc", None, 1.5])
def test_timesteps_that_are_not_a_count_are_refused(
    made: bytes, downloads: Path, timesteps: Any
) -> None:
    with pytest.raises(BadFile, match="timesteps"):
        rlk.load(forged(made, downloads / "m.zip", put("timesteps")(timesteps)))
    with pytest.raises(BadFile, match=r"clock.timesteps|the saved clock"):
        rlk.load(forged(made, downloads / "m.zip", put("clock", "timesteps")(timesteps), 1))


@pytest.mark.parametrize(
    ("keys", "value", "match"),
    [
        (("plan",), 3, "plan: must be SavedPlan"),
        (("plan", "components"), {}, "plan.components: must be list"),
        (("plan", "components", 1), None, r"plan.components\[1\]"),
        (("plan", "components", 1, "role"), 5, r"components\[1\].role: must be a string"),
        (("plan", "components", 1, "role"), "algorithm", "two components in one slot"),
        (("plan", "components", 0, "settings"), [], r"components\[0\].settings: must be dict"),
        (("plan", "run", "n_envs"), "two", "plan.run.n_envs: must be a whole number"),
        (("plan", "env", "kwargs"), "abc", "plan.env.kwargs: must be dict"),
        (("plan", "left_out"), "monitor", "plan.left_out: must be list of str"),
        (("contents",), ["model", "all"], r"contents\[1\]: must be 'model' or 'run'"),
        (("dists",), None, "dists: must be dict"),
    ],
)
def test_a_manifest_of_wrong_types_is_refused_by_its_place(
    made: bytes, downloads: Path, keys: tuple[Any, ...], value: Any, match: str
) -> None:
    with pytest.raises(BadFile, match=match):
        rlk.load(forged(made, downloads / "m.zip", put(*keys)(value)))


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        (("env",), "spaces"),
        (("env",), "spaces_inside"),
        (("env",), "tuples"),
        (("components", 0), "only_trains"),
    ],
)
def test_a_plan_that_lacks_a_part_is_refused(
    made: bytes, downloads: Path, keys: tuple[Any, ...], name: str
) -> None:
    def without(manifest: Any) -> None:
        part = manifest["plan"]
        for key in keys:
            part = part[key]
        del part[name]

    with pytest.raises(BadFile, match=f"{name}: '{name}' is missing"):
        rlk.load(forged(made, downloads / "m.zip", without))


@pytest.mark.parametrize(
    ("keys", "value", "match"),
    [
        (("buffers",), None, "it holds no buffers"),
        (("noises",), None, "it holds no noises"),
        (("clock",), {"progress": 1}, "the saved clock"),
        (("metrics", "episodes"), [[1.0]], "the saved metrics"),
        (
            ("streams", "numpy", "storage", "state"),
            3,
            "the run's random streams: streams.numpy.storage",
        ),
        (("streams", "numpy", "new"), {"bit_generator": "MT19937"}, "the saved random streams"),
        (("streams", "torch", "update"), 3, "the run's random streams"),
        (("algorithm", "copied_at"), "abc", "algorithm 'dqn' .*: algorithm.copied_at"),
        (("optimise", "q", "count"), 1, "optimise"),
        (("storage", "time"), 2.5, "storage 'replay' .*: storage.time"),
        (("plugins",), [], "it holds no plugins"),
    ],
)
def test_a_state_of_wrong_types_is_refused_by_its_owner(
    made: bytes, downloads: Path, keys: tuple[Any, ...], value: Any, match: str
) -> None:
    with pytest.raises(BadFile, match=match):
        rlk.load(forged(made, downloads / "m.zip", put(*keys)(value), 1))


def test_parameters_of_another_type_are_not_loaded_into_an_agent(
    made: bytes, downloads: Path
) -> None:
    path = forged(made, downloads / "m.zip", put("parameters")({"x": "abc"}), 1)
    with rlk.make("dqn", env="CartPole-v1") as agent, pytest.raises(BadFile, match="damaged"):
        agent.load_parameters(path)


@pytest.mark.parametrize(
    ("keys", "value", "match"),
    [
        (("buffers",), [1], "damaged: it holds no buffers"),
        (("buffers", "seen"), "abc", "damaged: its parameters cannot be read: TypeError"),
    ],
)
def test_set_parameters_of_stable_baselines3_names_a_damaged_file(
    downloads: Path, keys: tuple[str, ...], value: Any, match: str
) -> None:
    model = rlk_sb3.PPO("MlpPolicy", "CartPole-v1", n_steps=8, batch_size=8)
    model.save(downloads / "m.zip")
    model.agent.run.policy.register_buffer("seen", torch.zeros(1))
    data = (downloads / "m.zip").read_bytes()
    path = forged(data, downloads / "damaged.zip", put(*keys)(value), 1)
    with pytest.raises(BadFile, match=match):
        model.set_parameters(str(path))


def test_a_replay_memory_that_no_computer_has_is_a_bad_file(made: bytes, downloads: Path) -> None:
    def change(document: Any) -> None:
        for one in document["plan"]["components"]:
            if "buffer_size" in one["settings"]:
                one["settings"]["buffer_size"] = 10**15

    with pytest.raises(BadFile, match=r"capacity is 32 there, 1000000000000000 here"):
        rlk.load(forged(made, downloads / "m.zip", change))


def test_layers_that_no_computer_has_are_a_bad_file(made: bytes, downloads: Path) -> None:
    def change(document: Any) -> None:
        (mlp,) = [one for one in document["plan"]["components"] if one["name"] == "mlp"]
        mlp["settings"]["layers"] = [10**9, 10**9]

    with pytest.raises(BadFile, match=r"has 2,000,000,0.* parameters, but the file holds 55"):
        rlk.load(forged(made, downloads / "m.zip", change))


def test_an_environment_keeps_its_methods_and_is_whole_when_a_state_is_refused(
    made: bytes, downloads: Path
) -> None:
    layer = ("environments", 0, "layers", -1, "attributes")
    with pytest.raises(BadFile, match=r"CartPoleEnv\.step, which is not a state"):
        rlk.load(forged(made, downloads / "m.zip", put(*layer, "step")(5), 1))
    with pytest.raises(BadFile, match="a saved environment state is damaged"):
        rlk.load(forged(made, downloads / "m.zip", put(*layer, "new")({"kind": "tuple"}), 1))


# ---- bombs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["[],", "{},", '"",', '{"a":'])
def test_json_that_asks_for_gigabytes_is_refused_in_little_memory(
    made: bytes, downloads: Path, unit: str
) -> None:
    found = members(made) | {"state.json": f"[{unit * 3_000_000}".encode()}
    path = downloads / "bomb.zip"
    path.write_bytes(packed(list(found.items()), zipfile.ZIP_DEFLATED))
    with watching() as watched, pytest.raises(BadFile, match=r"values \(at most"):
        rlk.load(path)
    assert watched.bytes < 500 << 20


@pytest.mark.parametrize("text", ["a = " + "[" * 3000, "a = " + "{b = " * 3000, ".a" * 3000 + "=1"])
def test_toml_nested_three_thousand_deep_is_refused(
    downloads: Path, command: Run, text: str
) -> None:
    text = text.lstrip(".")
    (downloads / "spec.toml").write_text(text)
    code, printed = command("run", "spec.toml")
    assert code == 2 and "spec.toml is not a TOML file: it is nested too deep" in printed
    code, printed = command("run", "--algo", "dqn", "--set", f"gamma={text}")
    assert code == 2 and "gamma" in printed


def test_deep_values_of_settings_stay_text() -> None:
    assert parse_value("[" * 3000) == "[" * 3000


def test_toml_that_is_too_large_is_refused_before_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rlk.documents.tomllib", None)
    with pytest.raises(ValueError, match="it has 300,005 characters"):
        documents.parse_toml("a = 1" + " " * 300_000)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("plugins = 5", "plugins must be a list of names"),
        ("plugins = [5]", "plugins must be a list of names"),
        ("settings = 5", "settings must be a table"),
        ("preset = 5", "preset must be a name"),
        ("out = [1]", "out must be a name"),
    ],
)
def test_a_spec_of_wrong_types_is_refused(
    downloads: Path, command: Run, text: str, match: str
) -> None:
    (downloads / "spec.toml").write_text(f'algo = "dqn"\n{text}\n')
    code, printed = command("run", "spec.toml")
    assert code == 2 and match in printed
