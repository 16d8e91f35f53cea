"""Every rule is broken once, in a tree of one kernel and one plugin."""

import attrs
import pytest

from rlk_scaffold import rules, sync, tree
from rlk_scaffold.manifest import Manifest, read_manifest, render_pyproject

ROOT = '[project]\nname = "rlk"\nversion = "0.1.0"\ndependencies = []\n'


def write_dist(folder, name, module, entry_points=None, dependencies=("rlk-kernel>=0.1",)):
    source = folder / "src" / module
    source.mkdir(parents=True)
    (folder / "tests").mkdir()
    (folder / "tests" / "test_it.py").write_text("def test_it(): assert 1 + 1 == 2\n")
    (folder / "README.md").write_text(f"# {name}\n")
    (source / "py.typed").touch()
    (source / "__init__.py").write_text('"""A plugin."""\n')
    (source / "component.py").write_text(
        '"""Its component."""\n\nfrom rlk.component import Component\n\ncomponent = Component\n'
    )
    made = Manifest(
        name=name,
        module=module,
        description="Something.",
        dependencies=tuple(dependencies),
        entry_points=entry_points or {},
    )
    (folder / "pyproject.toml").write_text(render_pyproject(made))


@pytest.fixture
def root(tmp_path):
    (tmp_path / "pyproject.toml").write_text(ROOT)
    (tmp_path / "LICENSE").write_text("Do with it what you like.\n")
    write_dist(tmp_path / "kernel", "rlk-kernel", "rlk", dependencies=())
    write_dist(
        tmp_path / "plugins" / "storage" / "ring",
        "rlk-ring",
        "rlk_ring",
        {"rlk.storages": {"ring": "rlk_ring.component:component"}},
    )
    sync.write(tmp_path)
    return tmp_path


@pytest.fixture
def ring(root):
    return root / "plugins" / "storage" / "ring"


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_tree_that_keeps_the_rules_has_no_problems_and_no_drift(root):
    assert sync.broken_rules(root) == []
    assert sync.drift(root) == []


def test_the_requirements_list_the_kernel_first_and_every_folder(root):
    assert (root / "requirements.txt").read_text().splitlines()[1:] == [
        "-c constraints.txt",
        "-e ./kernel",
        "-e ./plugins/storage/ring",
    ]


def test_a_new_distribution_is_drift_until_it_is_written(root):
    write_dist(root / "plugins" / "wrappers" / "clip", "rlk-clip", "rlk_clip")
    assert len(sync.drift(root)) == 3
    assert sync.write(root) == [
        "requirements.txt",
        "pyproject.toml",
        "plugins/wrappers/clip/LICENSE",
    ]
    assert sync.drift(root) == []
    assert '"rlk-clip>=0.1.0"' in (root / "pyproject.toml").read_text()


def test_every_distribution_has_the_licence_of_the_root(root, ring):
    (ring / "LICENSE").write_text("All rights reserved.\n")
    assert len(sync.drift(root)) == 1
    assert sync.write(root) == ["plugins/storage/ring/LICENSE"]
    assert (ring / "LICENSE").read_text() == "Do with it what you like.\n"


def test_the_version_of_the_root_gets_into_every_distribution_and_into_all_bounds(root, ring):
    edit(root / "pyproject.toml", 'version = "0.1.0"', 'version = "0.2.1"')
    with (root / "pyproject.toml").open("a") as file:
        file.write('[project.optional-dependencies]\nall = ["rlk-ring[all]>=0.1.0", "numpy>=2"]\n')
    edit(ring / "pyproject.toml", '"rlk-kernel>=0.1",', '"attrs>=24.3",\n    "rlk-kernel",')
    more = '\n[project.optional-dependencies]\nall = ["rlk-zip[all]>=0.1"]\n[tool.flit.module]'
    edit(ring / "pyproject.toml", "\n[tool.flit.module]", more)
    sync.write(root)
    assert sync.drift(root) == [] and sync.broken_rules(root) == []
    manifests = [read_manifest(folder / "pyproject.toml") for folder in tree.distributions(root)]
    assert [manifest.version for manifest in manifests] == ["0.2.1", "0.2.1"]
    assert manifests[1].dependencies == ("attrs>=24.3", "rlk-kernel>=0.2")
    assert manifests[1].extras == {"all": ("rlk-zip[all]>=0.2",)}
    text = (root / "pyproject.toml").read_text()
    assert '    "rlk-kernel>=0.2.1",\n    "rlk-ring>=0.2.1",\n' in text
    assert 'all = ["rlk-ring[all]>=0.2.1", "numpy>=2"]' in text


def test_an_example_requires_what_it_is_tried_with_and_keeps_its_own_version(root):
    path = root / "examples" / "acme" / "pyproject.toml"
    path.parent.mkdir(parents=True)
    needs = 'dependencies = ["rlk-ring>=0.1", "rlk-clip>=0.1,<1"]\n'
    text = f'[project]\nname = "acme"\nversion = "0.1.0"\n{needs}'
    path.write_text(text)
    edit(root / "pyproject.toml", 'version = "0.1.0"', 'version = "0.2.1"')
    sync.write(root)
    assert path.read_text() == text.replace("rlk-ring>=0.1", "rlk-ring>=0.2")


def test_a_distribution_of_another_version_is_drift(root, ring):
    edit(ring / "pyproject.toml", 'version = "0.1.0"', 'version = "0.1.1"')
    (difference,) = sync.drift(root)
    assert '-version = "0.1.1"\n+version = "0.1.0"' in difference


@pytest.mark.parametrize("line", ["", 'version = "new"\n', 'version = "1"\n'])
def test_a_root_without_a_version_of_numbers_with_dots_is_refused(root, line):
    edit(root / "pyproject.toml", 'version = "0.1.0"\n', line)
    with pytest.raises(ValueError, match=r"must have one 'version = \"0.2.0\"', numbers with dots"):
        sync.drift(root)


def test_what_else_stands_in_the_roots_pyproject_stays(root):
    with (root / "pyproject.toml").open("a") as file:
        file.write("[tool.ruff]\nline-length = 100\n")
    edit(root / "pyproject.toml", '    "rlk-ring>=0.1.0",\n', "")
    sync.write(root)
    text = (root / "pyproject.toml").read_text()
    assert '"rlk-ring>=0.1.0"' in text and text.endswith("[tool.ruff]\nline-length = 100\n")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "rlk-ring"', 'name = "rlk-rung"', "must be called rlk-ring"),
        ('name = "rlk_ring"', 'name = "ring"', "import name must be rlk_ring"),
        ("rlk-kernel>=0.1", "rlk-kernel>=0.1,<1", "without an upper bound"),
        ("rlk-kernel>=0.1", "rlk-kernel==0.1", "without an upper bound"),
        ("rlk-kernel>=0.1", "attrs>=23", "does not require rlk-kernel"),
        ('"rlk-kernel>=0.1",', '"numpy==2.0",\n    "rlk-kernel>=0.1",', "pins a version"),
        ('"rlk-kernel>=0.1",', '"a or b",\n    "rlk-kernel>=0.1",', "is no requirement"),
        (
            '"rlk-kernel>=0.1",',
            '"attrs>=23",\n    "attrs>=24",\n    "rlk-kernel>=0.1",',
            "requires attrs twice",
        ),
        (
            '"rlk-kernel>=0.1",',
            '"My_Dist>=23",\n    "my-dist>=24",\n    "rlk-kernel>=0.1",',
            "requires my-dist twice",
        ),
        ("[tool.flit", "[tool.ruff]\n[tool.flit", "configures ruff"),
        ('license = "MIT"', 'license = "GPL-3.0"', "not in canonical form"),
        ('"rlk.storages"', '"rlk.storage"', "unknown entry-point group 'rlk.storage'"),
        ("component:component", "things:component", "rlk_ring.things, which is not in src/"),
        ("component:component", "component:ring", "defines no 'ring'"),
    ],
)
def test_a_manifest_that_breaks_a_rule_is_told_so(ring, old, new, message):
    edit(ring / "pyproject.toml", old, new)
    assert any(message in problem for problem in rules.problems(ring))


def test_a_requirement_may_have_extras_and_a_marker(ring):
    more = '"rlk-kernel>=0.1",\n    "rlk-networks[all]>=0.1; python_version == \'3.11\'",'
    edit(ring / "pyproject.toml", '"rlk-kernel>=0.1",', more)
    assert rules.problems(ring) == []


def test_an_entry_point_may_name_the_package_itself(ring):
    edit(ring / "src" / "rlk_ring" / "__init__.py", '"""A plugin."""', "component = 1")
    edit(ring / "pyproject.toml", "rlk_ring.component:component", "rlk_ring:component")
    assert rules.problems(ring) == []


def test_a_manifest_that_is_no_toml_is_named(ring):
    (ring / "pyproject.toml").write_text("[project")
    (problem,) = rules.problems(ring)
    assert problem.startswith("ring: ") and "pyproject.toml is not TOML" in problem


@pytest.mark.parametrize(
    "path", ["README.md", "src/rlk_ring/py.typed", "src/rlk_ring/__init__.py", "tests/test_it.py"]
)
def test_a_file_that_is_missing_is_named(ring, path):
    (ring / path).unlink()
    (problem,) = rules.problems(ring)
    assert path.removesuffix("test_it.py") in problem


@pytest.mark.parametrize("path", ["README.md", "src/rlk_ring/__init__.py"])
def test_a_file_that_is_empty_is_named(ring, path):
    (ring / path).write_text("\n")
    (problem,) = rules.problems(ring)
    assert f"{path} is missing or empty" in problem


def test_a_file_beside_the_tests_is_none(ring):
    (ring / "tests" / "test_it.py").rename(ring / "tests" / "conftest.py")
    (problem,) = rules.problems(ring)
    assert "has no tests/test_*.py" in problem


@pytest.mark.parametrize(
    "source",
    [
        "component = object()",
        "component: object = object()",
        "from rlk.component import Component as component",
        "class component:\n    ring = 1",
    ],
)
def test_whatever_binds_a_name_defines_it(ring, source):
    (ring / "src" / "rlk_ring" / "component.py").write_text(f"{source}\n")
    edit(ring / "pyproject.toml", "component:component", "component:component.ring")
    assert rules.problems(ring) == []


def test_a_script_that_is_not_there_is_named(ring):
    manifest = attrs.evolve(
        read_manifest(ring / "pyproject.toml"), scripts={"ring": "rlk_ring.main:main"}
    )
    (ring / "pyproject.toml").write_text(render_pyproject(manifest))
    (problem,) = rules.problems(ring)
    assert "'ring' names rlk_ring.main, which is not in src/" in problem


def test_a_file_that_is_no_python_is_named(ring):
    (ring / "src" / "rlk_ring" / "component.py").write_text("def broken(:\n")
    (problem,) = rules.problems(ring)
    assert "component.py, line 1" in problem


def test_one_name_in_two_distributions_is_a_clash(root):
    write_dist(
        root / "plugins" / "wrappers" / "clip",
        "rlk-clip",
        "rlk_clip",
        {"rlk.wrappers": {"ring": "rlk_clip.component:component"}},
    )
    (problem,) = rules.clashes(tree.distributions(root))
    assert "'ring'" in problem and "rlk-ring" in problem and "rlk-clip" in problem


def test_one_name_in_groups_of_others_is_no_clash(root):
    for name in ("left", "right"):
        folder = root / "plugins" / "wrappers" / name
        write_dist(folder, f"rlk-{name}", f"rlk_{name}", {"pytest11": {"fixtures": f"rlk_{name}"}})
    assert rules.clashes(tree.distributions(root)) == []


def test_the_check_fails_for_drift_alone(root, capsys):
    (root / "requirements.txt").write_text("")
    (root / "requirements-lowest.txt").unlink()
    assert sync.main(["--check", "--root", str(root)]) == 1
    assert "2 files differ, 0 rules broken" in capsys.readouterr().out


def test_the_check_fails_for_broken_rules_alone_and_clashes_are_among_them(root, ring, capsys):
    write_dist(
        root / "plugins" / "wrappers" / "clip",
        "rlk-clip",
        "rlk_clip",
        {"rlk.wrappers": {"ring": "rlk_clip.component:component"}},
    )
    (ring / "README.md").unlink()
    sync.write(root)
    assert sync.main(["--check", "--root", str(root)]) == 1
    printed = capsys.readouterr().out
    assert "README.md is missing" in printed and "names are unique across kinds" in printed
    assert "0 files differ, 2 rules broken" in printed


def test_a_root_without_one_list_of_dependencies_is_refused(root):
    (root / "pyproject.toml").write_text('[project]\nname = "rlk"\nversion = "0.1.0"\n')
    with pytest.raises(ValueError, match=r"must have one 'dependencies = \[\.\.\.\]'"):
        sync.drift(root)


def test_the_check_fails_and_writes_nothing(root, ring, capsys):
    edit(ring / "pyproject.toml", "Something.", "Some  thing.")
    edit(ring / "pyproject.toml", "dependencies = [\n", "dependencies = [  \n")
    before = (ring / "pyproject.toml").read_text()
    assert sync.main(["--check", "--root", str(root)]) == 1
    assert (ring / "pyproject.toml").read_text() == before
    assert "not in canonical form" in capsys.readouterr().out
    assert sync.main(["--root", str(root)]) == 0
    assert read_manifest(ring / "pyproject.toml").description == "Some  thing."
    assert sync.main(["--check", "--root", str(root)]) == 0


def test_a_manifest_that_is_no_toml_is_named_without_a_traceback(root, ring, capsys):
    (ring / "pyproject.toml").write_text("no TOML")
    with pytest.raises(SystemExit, match="2"):
        sync.main(["--root", str(root)])
    assert f"{ring / 'pyproject.toml'} is not TOML" in capsys.readouterr().err


def test_the_root_is_found_from_within(ring, root):
    assert tree.find_root(ring / "src") == root
    with pytest.raises(FileNotFoundError, match="--root"):
        tree.find_root(root.parent)
