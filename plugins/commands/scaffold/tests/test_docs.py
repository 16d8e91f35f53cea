"""The generated tables of READMEs."""

import attrs
import pytest

from rlk.component import Component
from rlk.registry.entry import Entry
from rlk_scaffold import docs
from rlk_scaffold.components_table import components_table
from rlk_scaffold.markers import arguments, filled
from rlk_scaffold.settings_table import settings_table


@attrs.frozen(kw_only=True)
class Config:
    rate: float | None = attrs.field(default=None, metadata={"help": "a | b"})
    layers: list[int] = attrs.field(factory=lambda: [64, 64], metadata={"help": "sizes"})
    dueling: bool = attrs.field(default=True, metadata={"help": "two streams"})


def entry(name, component_name=None, dist="rlk-mlp", kind="policies", summary="hidden | layers."):
    component = Component(name=component_name or name, factory=dict, summary=summary)
    return Entry(kind, name, dist, "0.1.0", lambda: component)


def test_a_component_is_a_row_with_its_aliases_kind_folder_and_summary():
    entries = [entry("MlpPolicy", "mlp"), entry("mlp")]
    assert components_table(entries, {"rlk-mlp": "plugins/policies/mlp"}).splitlines()[2:] == [
        "| `mlp`, `MlpPolicy` | policy | [rlk-mlp](plugins/policies/mlp) | hidden \\| layers |"
    ]


def test_what_other_distributions_register_is_left_out():
    assert "theirs" not in components_table([entry("theirs", dist="acme-rlk")], {"rlk-mlp": "x"})


def test_a_setting_is_a_row_with_its_default_as_one_types_it():
    component = Component(name="mine", factory=dict, config=Config)
    assert settings_table(component).splitlines()[2:] == [
        "| `rate` | none | a \\| b |",
        "| `layers` | [64, 64] | sizes |",
        "| `dueling` | true | two streams |",
    ]


def test_what_a_name_fixes_is_its_default():
    component = Component(name="mine", factory=dict, config=Config, own_defaults={"dueling": False})
    assert "| `dueling` | false |" in settings_table(component)


def test_a_setting_that_puts_in_a_plugin_names_it():
    component = Component(name="mine", factory=dict, config=Config, activates={"dueling": "two"})
    row = "| `dueling` | true | two streams; true is the same as `--plugin two` |"
    assert row in settings_table(component).splitlines()


def test_a_component_without_settings_has_no_table():
    with pytest.raises(ValueError, match="'mine' has no settings"):
        settings_table(Component(name="mine", factory=dict))


def test_only_what_stands_between_the_markers_is_replaced():
    text = "before\n<!-- components -->\nold\n<!-- /components -->\nafter\n"
    new = filled(text, "components", lambda about: f"new{about}")
    assert new == "before\n<!-- components -->\n\nnew\n\n<!-- /components -->\nafter\n"
    assert filled(new, "components", lambda about: "new") == new


def test_each_part_gets_what_it_is_about():
    parts = ("<!-- settings: a -->", "<!-- /settings -->", "<!-- settings: b -->")
    text = "\n".join((*parts, "<!-- /settings -->"))
    assert arguments(text, "settings") == ["a", "b"]
    assert filled(text, "settings", str.upper).splitlines()[2::5] == ["A", "B"]


def test_a_marker_within_a_sentence_is_only_text():
    text = "Put `<!-- settings: dqn -->` there.\n"
    assert arguments(text, "settings") == []
    assert filled(text, "settings", str.upper) == text


@pytest.mark.parametrize(
    "text",
    [
        "<!-- settings: a -->",
        "<!-- /settings -->\n<!-- settings: a -->",
        "<!-- settings: a -->\n<!-- settings: b -->\n<!-- /settings -->",
        "<!-- settings: a -->\n<!-- /settings -->\n<!-- /settings -->",
    ],
)
def test_markers_that_do_not_match_are_refused(text):
    with pytest.raises(ValueError, match="must be followed by one"):
        filled(text, "settings", str.upper)


def test_a_folder_of_somebody_else_is_written_once_and_then_up_to_date(tmp_path, capsys):
    readme = tmp_path / "README.md"
    readme.write_text("# … é\n\n<!-- settings: n-step -->\n<!-- /settings -->\n\nThe end.\n")
    at = ["--root", str(tmp_path)]
    assert docs.main([*at, "--check"]) == 1
    assert capsys.readouterr().out.endswith(f"run: python -m rlk_scaffold.docs --root {tmp_path}\n")
    assert docs.main(at) == 0
    assert "| `n_steps` | 3 | " in readme.read_text()
    assert readme.read_text(encoding="utf-8").startswith("# … é\n")
    assert readme.read_text().endswith("<!-- /settings -->\n\nThe end.\n")
    assert docs.main([*at, "--check"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "wrote README.md"


def test_hidden_folders_within_the_folder_are_left_alone_but_it_may_be_in_one(tmp_path, capsys):
    text, folder = "<!-- settings: n-step -->\n<!-- /settings -->\n", tmp_path / ".mine" / "plugin"
    for readme in (folder / "README.md", folder / ".venv" / "lib" / "README.md"):
        readme.parent.mkdir(parents=True)
        readme.write_text(text)
    assert docs.main(["--root", str(folder)]) == 0
    assert capsys.readouterr().out == "wrote README.md\n"
    assert "n_steps" in (folder / "README.md").read_text()
    assert (folder / ".venv" / "lib" / "README.md").read_text() == text


def test_a_folder_that_does_not_exist_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        docs.main(["--check", "--root", str(tmp_path / "nowhere")])
    assert f"--root {tmp_path / 'nowhere'} is not a folder" in capsys.readouterr().err


def test_outside_of_a_repository_it_asks_for_the_folder(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        docs.main([])
    assert f"{tmp_path} is in no rlk repository" in capsys.readouterr().err


def test_a_readme_that_is_no_text_is_named(tmp_path, capsys):
    (tmp_path / "README.md").write_bytes(b"\xff")
    assert docs.main(["--root", str(tmp_path)]) == 1
    assert capsys.readouterr().out.startswith("README.md: 'utf-8' codec can't decode")


def test_a_component_that_is_not_installed_is_refused_with_the_file_that_names_it(tmp_path, capsys):
    (tmp_path / "README.md").write_text("<!-- settings: n-stop -->\n<!-- /settings -->\n")
    assert docs.main(["--root", str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("README.md: unknown plugin 'n-stop'") and "'n-step'" in printed
