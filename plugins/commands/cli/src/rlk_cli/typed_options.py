"""An option as a user typed it, with its values, whether or not the command has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from rlk_cli.words_of_the_zoos import SHORT


@attrs.frozen
class TypedOption:
    """An option on a command line."""

    name: str  #: as it was typed, `--n-steps` or `-params`
    arguments: Sequence[str]  #: the whole command line

    @classmethod
    def of(cls, option: str, arguments: Sequence[str]) -> TypedOption:
        """The option that click calls so: of `-params`, it reads only `-p`."""
        typed = [one.partition("=")[0] for one in arguments]
        if option.startswith("--") or option in typed:
            return cls(option, arguments)
        whole = (one for one in typed if one.startswith(option) and one[1:] in SHORT)
        return cls(next(whole, option), arguments)

    @property
    def key(self) -> str:
        """The name that it stands for: `n_timesteps` for `--n-timesteps` and for `-n`."""
        return _key(self.name)

    @property
    def value(self) -> str:
        """The text after it; empty if there is none."""
        return next(iter(self._values()), "")

    @property
    def pairs(self) -> dict[str, str]:
        """The names and values of the words `NAME:VALUE` after it."""
        found = (word.partition(":") for word in self._values())
        return {name: text for name, colon, text in found if colon and name.isidentifier()}

    @property
    def others(self) -> Mapping[str, str]:
        """The values of all options of the command line, by the names that they stand for."""
        names = [one.partition("=")[0] for one in self.arguments if _is_option(one)]
        return {_key(name): TypedOption(name, self.arguments).value for name in names}

    def _values(self) -> Iterator[str]:
        """The words from it to the next option."""
        words = iter(self.arguments)
        for word in words:
            name, has_value, value = word.partition("=")
            if name == self.name:
                if has_value:
                    yield value
                break
        for word in words:
            if _is_option(word):
                return
            yield word


def _key(name: str) -> str:
    key = name.lstrip("-").replace("-", "_")
    return key if name.startswith("--") else SHORT.get(key, key)


def _is_option(word: str) -> bool:
    """Whether a word is an option, and no negative number."""
    return word.startswith("-") and not word[1:2].isdigit()
