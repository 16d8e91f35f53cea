"""Settings in the form of other libraries and their zoos: refused, with what to type instead.

Which words are a component's is in its record (`Component.instead_of`); those here are of a run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from rlk import settings
from rlk.component import Component
from rlk.errors import BrokenPlugin, PlanError
from rlk.planning.choice import Choice
from rlk.planning.conflicts import fits
from rlk.planning.draft import Draft
from rlk.planning.gather import gather
from rlk.planning.instead import OFF, Instead, from_record, is_off, name_of
from rlk.planning.parse import parse_value
from rlk.planning.python_values import parse_python
from rlk.planning.recipes import expanded
from rlk.planning.select import filling, select
from rlk.planning.spec import ENV_PREFIX, RunSpec, with_key
from rlk.registry.kinds import LISTS, SLOTS
from rlk.registry.registries import Registries
from rlk.registry.registry import dotted_class

if TYPE_CHECKING:
    from rlk.registry.kernel import Kernel

#: Tables of keywords, and the slots whose components take them here.
TABLES: Mapping[str, tuple[str, ...]] = {
    "policy_kwargs": ("policy", "distribution"),
    "replay_buffer_kwargs": ("storage",),
    "features_extractor_kwargs": ("policy",),
    "optimizer_kwargs": ("optimiser",),
}
_NOTHING = "rlk has no such setting and needs none. Leave it out."
_OF_WRAPPERS = ("env_wrapper", "wrapper_class", "vec_env_wrapper")
_WRAPPERS = (
    "wrappers are plugins: plugins=[…] with the class, or a name (--plugin NAME) of: "
    "rlk plugins list --kind wrappers"
)
#: What is said of words about a run itself.
OF_A_RUN: Mapping[str, str] = {
    "full_tensorboard_log": _NOTHING,
    "_init_setup_model": _NOTHING,
    **dict.fromkeys(("n_cpu_tf_sess", "num_procs", "nprocs"), "torch's threads are n_threads=…"),
    **dict.fromkeys(("num_env", "num_envs"), "the number of environments is n_envs=… (--n-envs …)"),
    "n_timesteps": "the length of a run is total_timesteps=… (--timesteps …)",
    **dict.fromkeys(
        ("callback", "eval_env"),
        "what is called during training is a plugin: plugins=[…] with an object whose "
        "methods are hooks (@rlk.hookimpl), or one of: rlk plugins list --kind callbacks",
    ),
    **dict.fromkeys(_OF_WRAPPERS, _WRAPPERS),
    "env_kwargs": "keywords of the environment have dotted keys: settings={'env.NAME': VALUE}, and "
    "on the command line --set env.NAME=VALUE",
    **dict.fromkeys(
        ("vec_env_cls", "vec_env_class"),
        "vector environments have names: vec_env='NAME' (--vec-env NAME) with one of: "
        "rlk plugins list --kind vec_envs",
    ),
    "monitor_dir": "every run is monitored: out='FOLDER' has its monitor.csv",
}


#: What is said of a table that cannot be read.
_FORM = "write dict(name=value, …), with numbers, texts, lists, tables and names (nn.ReLU)"


def refuse_words_of_others(draft: Draft, chosen: Iterable[Choice]) -> None:
    """PlanError for a setting by another library's name that its component does not have.

    Of several, it is the first for which there is something to type, maybe with the others' values.

    Args:
        draft: all settings. Those of the algorithm and of the policy are looked at.
        chosen: the components of the run, the algorithm first.
    """
    chosen = tuple(chosen)
    names = {name for choice in chosen for name in (choice.name, choice.alias)}
    owners = {"env", *draft.layers.slots, *names}
    for choice in chosen:
        own = settings.names(choice.component.config)
        given = _given(draft, choice, owners) if choice.slot in ("algorithm", "policy") else {}
        found: dict[str, Instead] = {}
        for word in (word for word in given if word not in own):
            words = WordsOfOthers(draft.registries, in_run(draft, chosen))
            if choice.slot == "policy":
                one = words.keyword(word, given[word], TABLES["policy_kwargs"])
            else:
                one = words.instead(word, given[word], given)
            if one is not None:
                found[word] = one
        if found:
            word = max(found, key=lambda one: bool(found[one].typed()))
            raise PlanError(f"{word}: {found[word]}")


def in_run(draft: Draft, chosen: Iterable[Choice]) -> tuple[Choice, ...]:
    """The components of a run, and every distribution that it may have."""
    asked = draft.layers.find("distribution").value
    spaces = asked if isinstance(asked, Mapping) else ()
    return (*chosen, *(one for space in spaces for one in filling(draft, "distribution", space)))


def _given(draft: Draft, choice: Choice, owners: set[str]) -> dict[str, Any]:
    """What the user or a file sets of a component; the keys of one table are put together.

    Args:
        draft: all settings.
        choice: the component.
        owners: what may be before the dot of a setting of this run. Keys below anything else that
            is not installed, such as `policy_kwargs.layers`, are a table of the algorithm.
    """
    found: dict[str, Any] = {}
    for key, setting in draft.layers:
        owner, dot, own = key.partition(".")
        is_table = owner not in owners and owner not in draft.registries
        if not dot or not setting.is_demand:
            continue
        if owner in (choice.slot, choice.name, choice.alias):
            found = with_key(found, own, setting.value)
        elif choice.slot == "algorithm" and is_table:
            found = with_key(found, key, setting.value)
    return found


@attrs.frozen
class WordsOfOthers:
    """Looks up the words of other libraries in the records of components."""

    registries: Registries
    choices: tuple[Choice, ...] = ()  #: of the run, the algorithm first; empty if they are unknown

    @classmethod
    def of(cls, kernel: Kernel, spec: RunSpec) -> WordsOfOthers:
        """Those of the run of a spec, whose settings may be wrong; PlanError for a wrong name."""
        draft = gather(kernel, expanded(spec, kernel.registries), moments=("always", "run"))
        return cls(draft.registries, in_run(draft, select(draft)))

    def instead(self, word: str, value: Any, given: Mapping[str, Any]) -> Instead | None:
        """What to use instead of a setting; None if its name is unknown.

        Args:
            word: its name.
            value: its value; a text may be Python's, as `dict(norm_obs=True)`.
            given: every setting that was given, with its value: one may need another's.
        """
        value = _read(value)
        if word in TABLES:
            return self._of_table(word, value)
        if word == "env_kwargs" and isinstance(value, Mapping):
            return Instead({f"{ENV_PREFIX}{key}": one for key, one in value.items()})
        found = self._of_choices(word, value, given) or self._of_class(word, value)
        if found is None and word in OF_A_RUN:
            return Instead.said(OF_A_RUN[word])
        kinds = (*SLOTS.values(), *LISTS)
        return found or self._of_absent(word, value, kinds, given) or self._of_name(word, value)

    def keyword(self, word: str, value: Any, slots: Iterable[str]) -> Instead | None:
        """What to use instead of one keyword of a table; None if it is unknown.

        The components of these slots may have such a setting, as in `TABLES`.
        """
        value = _read(value)
        if word in TABLES:
            return self._of_table(word, value)
        if found := self._of_choices(word, value, {}):
            return found
        for choice in self.choices:
            has_it = word in settings.names(choice.component.config)
            if has_it and choice.slot in ("algorithm", *slots):
                return Instead.of_choice(choice, {word: value})
        kinds = [SLOTS[slot] for slot in slots]
        known = (*kinds, "optimisers")  # a policy has optimizer_class there
        if found := self._of_absent(word, value, known, {}) or self._of_class(word, value):
            return found
        having = (one for one in self._absent(kinds) if word in settings.names(one.config))
        return next((Instead(plugins={one.name: {word: value}}) for one in having), None)

    def _of_table(self, word: str, table: Any) -> Instead:
        """What to use instead of a table of keywords."""
        if table is not None and not isinstance(table, Mapping):
            return Instead.said(f"{_FORM}, got {table!r:.80}.")
        if not table:
            return Instead.said("it has no settings. Leave it out.")
        found = []
        for key, value in table.items():
            known = self.keyword(key, value, TABLES[word])
            found.append(known or Instead.said(f"No component has {key}: leave it out."))
        return Instead.joined(found)

    def _of_choices(self, word: str, value: Any, given: Mapping[str, Any]) -> Instead | None:
        """By the record of a component of the run."""
        for choice in self.choices:
            found = from_record(choice.component, word, value, given)
            if isinstance(found, str):
                return Instead.said(found)
            if found == {} and is_off(choice.component, word, value):
                return Instead(plugins={f"no:{choice.name}": {}})
            if found is not None:
                return Instead.of_choice(choice, found)
        return None

    def _of_absent(
        self, word: str, value: Any, kinds: Iterable[str], given: Mapping[str, Any]
    ) -> Instead | None:
        """By the record of an installed component that is not in the run."""
        for component in self._absent(kinds):
            found = from_record(component, word, value, given)
            if isinstance(found, str):
                return Instead.said(found)
            if found is not None and is_off(component, word, value):
                return Instead.said(OFF) if found else Instead.without(component)
            if found is not None and self._would_be_unused(component):
                return Instead.said(self._of_unused_distribution(component))
            if found is not None:
                return Instead(plugins={component.name: found})
        return None

    def _would_be_unused(self, component: Component) -> bool:
        """Whether it is a distribution, and the algorithm of the run draws actions from none."""
        distributions = self.registries.distributions.named(component.name)
        is_distribution = any(entry.component() is component for entry in distributions)
        return is_distribution and not all(map(_draws, self._algorithms()))

    def _of_unused_distribution(self, component: Component) -> str:
        """A sentence: the algorithms that may have a distribution, for a run of another one."""
        others = (entry.component() for entry in self.registries.algorithms)
        names = [o.name for o in others if _draws(o) and fits(component, "distributions", o)]
        return (
            f"it is of the distribution {component.name}, and {self.choices[0].title} draws its "
            f"actions from no distribution. Leave it out, or use --plugin {component.name} with "
            f"an algorithm that does: {', '.join(sorted(names))}."
        )

    def _algorithms(self) -> list[Component]:
        """The algorithm of the run; empty if it is unknown."""
        return [choice.component for choice in self.choices[:1]]

    def _of_class(self, word: str, value: Any) -> Instead | None:
        """By the class that is its value, if rlk has it under another name or it is a wrapper."""
        for component in self._absent((*SLOTS.values(), *LISTS)):
            if name_of(value) in component.known_as:
                return Instead(plugins={component.name: {}})
        place = dotted_class(value) if word in _OF_WRAPPERS else None
        return Instead(plugins={place: {}}) if place else None

    def _of_name(self, word: str, value: Any) -> Instead | None:
        """By the component of that name, which the zoos switch on by a setting or a table."""
        name = word.removesuffix("_kwargs").replace("_", "-")
        named = [entry for kind in LISTS for entry in self.registries[kind].named(name)]
        if not named:
            return None
        if value is None or value is False:
            return Instead.without(named[0].component())
        return Instead(plugins={name: value if isinstance(value, Mapping) else {}})

    def _absent(self, kinds: Iterable[str]) -> Iterator[Component]:
        """Installed components that the run may have besides, the shortest names first."""
        taken = {choice.name for choice in self.choices}
        algorithms = self._algorithms()
        for kind in kinds:
            for entry in sorted(self.registries[kind], key=lambda one: (len(one.name), one.name)):
                with contextlib.suppress(BrokenPlugin):
                    component = entry.component()
                    is_new = entry.name == component.name not in taken
                    if is_new and all(fits(component, kind, one) for one in algorithms):
                        yield component


def _draws(algorithm: Component) -> bool:
    """Whether an algorithm draws its actions from a distribution."""
    return "distribution" in algorithm.defaults


def _read(value: Any) -> Any:
    """A value, of a text what it says in TOML's form or Python's, if it is in either."""
    found = parse_value(value) if isinstance(value, str) else value
    if not isinstance(found, str):
        return found
    try:
        return parse_python(found)
    except ValueError:
        return found
