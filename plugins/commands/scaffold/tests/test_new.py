"""`rlk plugins new`: what it writes, prints and refuses."""

import ast
import errno
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from rlk.errors import PlanError, RlkError, UnknownName
from rlk.registry.kernel import Kernel
from rlk_scaffold import rules
from rlk_scaffold.command import new
from rlk_scaffold.kinds import VARIANTS, example, kinds
from rlk_scaffold.manifest import import_name
from rlk_scaffold.package import check_free, names, render_package, write_package

EVERY = [(kind, "") for kind in kinds()] + [(kind, variant) for variant, kind in VARIANTS.items()]


def run(*arguments):
    return CliRunner().invoke(new, arguments, catch_exceptions=False)


@pytest.mark.parametrize(("kind", "variant"), EVERY)
def test_a_package_of_every_kind_keeps_this_repositorys_rules(tmp_path, kind, variant):
    made = names("my-plugin")
    files = render_package(made, example(kind, variant))
    write_package(tmp_path / "my-plugin", files)
    assert rules.problems(tmp_path / "my-plugin") == []


def test_no_example_of_this_repository_writes_a_bound_that_its_version_decides():
    examples = [example(kind, variant) for kind, variant in EVERY]
    needs = [need for one in examples for need in (*one.dependencies, *one.test)]
    assert "rlk-networks" in needs
    assert not [need for need in needs if need.startswith("rlk-") and ">" in need]


def bound(text):
    """The names of all imports and classes in a source, as often as they occur."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.ClassDef):
            yield node.name


@pytest.mark.parametrize(("kind", "variant"), EVERY)
def test_the_class_of_a_package_hides_no_name_that_its_example_uses(kind, variant):
    plain = render_package(names("mine"), example(kind, variant))
    used = {name for path, text in plain.items() if path.endswith(".py") for name in bound(text)}
    for name in filter(str.isalpha, used):
        files = render_package(names(name), example(kind, variant))
        for path in files:
            found = list(bound(files[path])) if path.endswith(".py") else []
            assert len(found) == len(set(found)), (name, path)


def test_only_the_class_has_the_kind_appended():
    files = render_package(names("patch"), example("extensions"))
    assert 'factory="rlk_patch.extension:PatchExtension"' in files["src/rlk_patch/component.py"]
    assert 'name="patch"' in files["src/rlk_patch/component.py"]


def test_the_class_can_be_given(tmp_path):
    arguments = ("--kind", "algorithm", "--off-policy", "--class", "QRDQN")
    run("qrdqn", *arguments, "--out", str(tmp_path / "qrdqn"))
    source = tmp_path / "qrdqn" / "src" / "rlk_qrdqn"
    assert "class QRDQN:" in (source / "algorithm.py").read_text()
    assert "class QRDQNConfig:" in (source / "config.py").read_text()
    assert 'name="qrdqn"' in (source / "component.py").read_text()


def test_capitals_of_a_name_are_kept_in_its_class():
    assert names("my-QRdqn.v2").class_name == "MyQRdqnV2"


@pytest.mark.parametrize("given", ["QR-DQN", "2DQN"])
def test_a_bad_name_of_a_class_is_refused(given):
    with pytest.raises(PlanError, match=f"'{given}' cannot be the name of a class"):
        names("qrdqn", None, given)


def imports(text):
    """The modules that a source imports."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


@pytest.mark.parametrize(("kind", "variant"), EVERY)
def test_what_a_package_and_its_tests_import_is_what_they_ask_for(kind, variant):
    files = render_package(names("mine"), example(kind, variant))
    project = tomllib.loads(files["pyproject.toml"])["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    asked = {import_name(one.partition(">")[0]) for one in needed} | {"rlk_mine"}
    sources = [text for path, text in files.items() if path.endswith(".py")]
    imported = {module.partition(".")[0] for text in sources for module in imports(text)}
    missing = {"rlk_kernel" if one == "rlk" else one for one in imported} - asked
    assert missing <= sys.stdlib_module_names
    assert any(one.startswith("rlk-testing") for one in project["optional-dependencies"]["test"])


@pytest.mark.parametrize(("kind", "variant"), EVERY)
def test_every_readme_says_how_to_see_it_work_and_what_it_is(kind, variant):
    readme = render_package(names("mine"), example(kind, variant))["README.md"]
    assert readme.startswith("# rlk-mine\n") and "\n$ rlk " in readme
    assert "$" not in readme.replace("\n$ ", "\n")


def test_a_readme_with_settings_says_how_their_table_is_written_anew():
    renewed = "`python -m rlk_scaffold.docs --root .`"
    assert renewed in render_package(names("mine"), example("callbacks", ""))["README.md"]
    assert renewed not in render_package(names("mine"), example("loggers", ""))["README.md"]


def test_the_readme_of_a_decorating_storage_says_how_one_is_registered():
    readme = render_package(names("mine"), example("storages", "decorating"))["README.md"]
    assert 'register("mine", Mine, stages=("choose",))' in readme


def test_it_prints_the_files_and_what_to_type_next(tmp_path):
    folder = tmp_path / "recent"
    result = run("recent", "--kind", "storage", "--decorating", "--out", str(folder))
    assert result.exit_code == 0
    assert (folder / "src" / "rlk_recent" / "storage.py").is_file()
    lines = [line.strip() for line in result.output.splitlines()]
    assert str(folder / "pyproject.toml") in lines
    assert lines[lines.index("Next:") + 1 :] == [
        f"cd {folder}",
        'pip install -e ".[test]"',
        "pytest",
        "rlk run --algo dqn --plugin recent:power=3 --timesteps 5000",
    ]


def test_a_package_by_itself_has_settings_of_tools_and_one_in_this_repository_has_not(tmp_path):
    run("recent", "--kind", "logger", "--out", str(tmp_path / "alone"))
    alone = tomllib.loads((tmp_path / "alone" / "pyproject.toml").read_text())
    assert alone["tool"].keys() == {"flit", "mypy", "pytest", "ruff"}
    for place in ("kernel", "plugins"):
        (tmp_path / place).mkdir()
    (tmp_path / "kernel" / "pyproject.toml").touch()
    folder = tmp_path / "plugins" / "loggers" / "recent"
    run("recent", "--kind", "logger", "--out", str(folder))
    assert tomllib.loads((folder / "pyproject.toml").read_text())["tool"].keys() == {"flit"}


def test_the_folder_is_called_as_the_component_unless_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("recent", "--kind", "storages")
    assert (tmp_path / "recent" / "pyproject.toml").is_file()


def test_the_distribution_can_be_given(tmp_path):
    run("recent", "--kind", "callback", "--dist", "Acme.rlk", "--out", str(tmp_path / "x"))
    text = (tmp_path / "x" / "pyproject.toml").read_text()
    assert 'name = "Acme.rlk"' in text and 'recent = "acme_rlk.component:component"' in text


def test_a_kind_of_a_plugins_own_that_brings_no_example_is_refused_and_those_that_do_are_named():
    with pytest.raises(PlanError, match=r"no example of a gadget\. .*one: algorithm.*search-space"):
        example("gadgets")


def test_an_unknown_kind_is_refused_with_the_command_that_lists_what_can_be_written():
    with pytest.raises(UnknownName, match="listed by: rlk plugins new --help"):
        run("mine", "--kind", "gadget")


@pytest.fixture
def gadgets(tmp_path, monkeypatch):
    """An installed package that declares the kind `gadgets`, with an example of one."""
    folder = tmp_path / "acme_gadgets"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "example.toml").write_text(
        'summary = "A gadget."\nsuites = "acme_kit.suites"\ncontract = "Contract"\n'
        'dependencies = []\ntry_it = ["rlk $name"]\n'
    )
    (folder / "about.md.template").write_text("It is called $name.")
    (folder / "gadget.py.template").write_text('"""$summary"""\n')
    info = tmp_path / "acme_kit-1.4.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-kit\nVersion: 1.4.2\n")
    points = "[rlk_scaffold.examples]\ngadgets = acme_gadgets\n"
    (info / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(tmp_path)


def test_a_package_brings_the_example_of_a_kind_that_it_declares(gadgets, tmp_path):
    result = run("mine", "--kind", "gadget", "--out", str(tmp_path / "mine"))
    assert result.output.startswith("gadget 'mine', an example to change: A gadget.")
    assert (tmp_path / "mine" / "src" / "rlk_mine" / "gadget.py").read_text() == '"""A gadget."""\n'
    assert (
        '[project.entry-points."rlk.gadgets"]' in (tmp_path / "mine" / "pyproject.toml").read_text()
    )
    assert '"acme-kit>=1.4"' in (tmp_path / "mine" / "pyproject.toml").read_text()
    contract = (tmp_path / "mine" / "tests" / "test_contract.py").read_text()
    assert "from acme_kit.suites import Contract" in contract
    assert "It is called mine." in (tmp_path / "mine" / "README.md").read_text()


def test_an_example_that_a_kind_does_not_have_is_refused_with_the_kind_that_has_it():
    with pytest.raises(PlanError, match=r"--decorating is for storages.*--kind storage"):
        example("wrappers", "decorating")
    with pytest.raises(PlanError, match=r"--off-policy is for algorithms.*--kind algorithm"):
        example("storages", "off-policy")
    with pytest.raises(PlanError, match=r"--recurrent is for policies.*--kind policy"):
        run("mine", "--kind", "algorithm", "--recurrent")


def test_two_examples_at_once_are_refused(tmp_path):
    told = "--decorating is for storages, --recurrent is for policies: use one of them"
    with pytest.raises(PlanError, match=told):
        run("both", "--kind", "storage", "--decorating", "--recurrent", "--out", str(tmp_path))


def test_a_source_of_presets_has_a_file_for_each_algorithm():
    files = render_package(names("mine"), example("presets"))
    assert tomllib.loads(files["src/rlk_mine/data/dqn.toml"]).keys() == {"CartPole-v1"}
    assert "PresetFolder):" in files["src/rlk_mine/presets.py"]


def test_a_command_within_a_group_is_typed_with_spaces():
    readme = render_package(names("report.best"), example("commands"))["README.md"]
    assert "\n$ rlk report best" in readme and "rlk report.best" not in readme


def test_a_recurrent_policy_says_so_to_planning():
    files = render_package(names("mine"), example("policies", "recurrent"))
    assert "recurrent=True" in files["src/rlk_mine/component.py"]
    assert "def step(self, x: Any, state: Tensor" in files["src/rlk_mine/network.py"]


@pytest.mark.parametrize("name", ["", "7up", "two words", "ends-", "a/b", "ümlaut", "-x"])
def test_a_bad_name_is_refused(name):
    with pytest.raises(PlanError, match="cannot be the name of a component"):
        names(name)


@pytest.mark.parametrize(("name", "other"), [("my.mlp", "my-mlp"), ("policy", "my-policy")])
def test_a_name_that_settings_use_otherwise_is_refused_with_another_one(name, other):
    registries = Kernel(discover=False).registries
    with pytest.raises(PlanError, match=rf"policy '{name}' cannot be written: .* it '{other}'"):
        check_free(names(name), "policies", registries)


@pytest.mark.parametrize("dist", ["acme rlk", "9rlk", "rlk-"])
def test_a_bad_name_of_a_distribution_is_refused(dist):
    with pytest.raises(PlanError, match="cannot be the name of a distribution"):
        names("fine", dist)


@pytest.mark.parametrize(("name", "dist"), [("fine", "lambda"), ("none", None)])
def test_a_word_of_python_is_refused(name, dist):
    with pytest.raises(PlanError, match="word of Python"):
        names(name, dist)


def test_a_name_that_a_component_has_is_refused_with_its_owner():
    registries = Kernel(discover=False).registries
    registries.wrappers.register("mine", lambda env: env)
    with pytest.raises(PlanError, match="'mine' is taken by the wrapper of this program"):
        check_free(names("mine"), "wrappers", registries)


def test_a_name_in_a_group_of_a_kinds_own_is_refused_with_its_owner():
    registries = Kernel(discover=False).registries
    with pytest.raises(PlanError, match="'linear' is taken by the schedule of rlk-schedules"):
        check_free(names("linear"), "schedules", registries, example("schedules").group)
    check_free(names("cubic"), "schedules", registries, example("schedules").group)


@pytest.mark.parametrize("name", ["report", "report.best", "report.best.ever"])
def test_a_command_that_hides_another_or_is_hidden_is_refused(name):
    registries = Kernel(discover=False).registries
    registries.commands.register("report.best", lambda: None)
    with pytest.raises(PlanError, match="cannot exist beside `rlk report best` of this prog"):
        check_free(names(name), "commands", registries)
    check_free(names("report.worst"), "commands", registries)
    if name == "report":
        check_free(names(name), "wrappers", registries)


@pytest.mark.parametrize(("name", "kind"), [("linear", "schedule"), ("dqn", "wrapper")])
def test_the_command_writes_nothing_for_a_name_that_is_taken(tmp_path, name, kind):
    with pytest.raises(PlanError, match=f"'{name}' is taken by the"):
        run(name, "--kind", kind, "--dist", "acme-mine", "--out", str(tmp_path / "mine"))
    assert not list(tmp_path.iterdir())


def test_a_distribution_that_is_installed_is_refused_with_its_version():
    registries = Kernel(discover=False).registries
    with pytest.raises(PlanError, match=r"'rlk-scaffold' is installed already \(rlk-scaffold 0"):
        check_free(names("scaffold"), "wrappers", registries)


def test_a_module_that_is_installed_is_refused():
    registries = Kernel(discover=False).registries
    with pytest.raises(PlanError, match="a module 'json' is installed already"):
        check_free(names("mine", "json"), "wrappers", registries)


def test_a_folder_that_is_not_empty_is_refused_and_left_alone(tmp_path):
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(PlanError, match="--out DIR"):
        run("recent", "--kind", "logger", "--out", str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_folder_that_is_a_file_or_within_one_is_refused(tmp_path):
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(PlanError, match="--out DIR"):
        run("recent", "--kind", "logger", "--out", str(tmp_path / "mine"))
    with pytest.raises(RlkError, match=r"cannot write .*Not a directory"):
        run("recent", "--kind", "logger", "--out", str(tmp_path / "mine" / "recent"))


@pytest.mark.parametrize("folder", [".", "new", "new/deep"])
def test_a_full_disk_leaves_nothing_and_the_same_command_works_later(tmp_path, monkeypatch, folder):
    arguments = "recent", "--kind", "logger", "--out", str(tmp_path / folder)
    write_text, written = Path.write_text, []

    def fills(path, text, **keywords):
        written.append(path)
        full = len(written) == 3
        write_text(path, "" if full else text, **keywords)
        if full:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", fills)
        with pytest.raises(RlkError, match=r"cannot write .*No space left on device") as raised:
            run(*arguments)
    assert raised.value.exit_code == 1
    assert len(written) == 3 and not list(tmp_path.iterdir())
    assert run(*arguments).exit_code == 0
