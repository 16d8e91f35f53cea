"""Every rule is broken once, in a tree of one kernel and one plugin."""

import pytest

from rlk_scaffold import rules, sync, tree
from rlk_scaffold.manifest import Manifest, read_manifest, render_pyproject

ROOT = '[project]\nname = "rlk"\ndependencies = []\n'


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
    assert len(sync.drift(root)) == 2
    assert sync.write(root) == ["requirements.txt", "pyproject.toml"]
    assert sync.drift(root) == []
    assert '"rlk-clip>=0.1"' in (root / "pyproject.toml").read_text()


def test_what_else_stands_in_the_roots_pyproject_stays(root):
    with (root / "pyproject.toml").open("a") as file:
        file.write("[tool.ruff]\nline-length = 100\n")
    edit(root / "pyproject.toml", '    "rlk-ring>=0.1",\n', "")
    sync.write(root)
    text = (root / "pyproject.toml").read_text()
    assert '"rlk-ring>=0.1"' in text and text.endswith("[tool.ruff]\nline-length = 100\n")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "rlk-ring"', 'name = "rlk-rung"', "must be called rlk-ring"),
        ('name = "rlk_ring"', 'name = "ring"', "import name must be rlk_ring"),
        ('version = "0.1.0"', 'version = "new"', "version must be numbers"),
        ("rlk-kernel>=0.1", "rlk-kernel>=0.1,<1", "without an upper bound"),
        ("rlk-kernel>=0.1", "rlk-kernel==0.1", "without an upper bound"),
        ("rlk-kernel>=0.1", "attrs>=23", "does not require rlk-kernel"),
        ('"rlk-kernel>=0.1",', '"numpy==2.0",\n    "rlk-kernel>=0.1",', "pins a version"),
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


@pytest.mark.parametrize(
    "path", ["README.md", "src/rlk_ring/py.typed", "src/rlk_ring/__init__.py", "tests/test_it.py"]
)
def test_a_file_that_is_missing_is_named(ring, path):
    (ring / path).unlink()
    (problem,) = rules.problems(ring)
    assert path.removesuffix("test_it.py") in problem


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


def test_the_root_is_found_from_within(ring, root):
    assert tree.find_root(ring / "src") == root
    with pytest.raises(FileNotFoundError, match="--root"):
        tree.find_root(root.parent)
