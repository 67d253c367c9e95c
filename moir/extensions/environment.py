"""Which transformations run: `enabled`, the environment and the command line.

`--disable` and `--enable` override `MO_DISABLED_TRANSFORMS` and `MO_ENABLED_TRANSFORMS`, which override the `enabled`
attribute of the class; within each pair disabling wins. Options and variables are lists of names, separated by commas.
A transformation has several names: its `id`, the name of its pass, and its class qualified by its modules,
`my_extension.back.rename.RenameOutputs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from moir.errors import UsageError
from moir.options import DISABLED_VARIABLE, ENABLED_VARIABLE
from moir.support.suggestions import did_you_mean


@dataclass(frozen=True)
class Choice:
    """The names of the transformations that the user enables and disables.

    Args:
        enabled: names in `--enable`.
        disabled: names in `--disable`.
        environment_enabled: names in `MO_ENABLED_TRANSFORMS`.
        environment_disabled: names in `MO_DISABLED_TRANSFORMS`.
    """

    enabled: frozenset[str] = frozenset()
    disabled: frozenset[str] = frozenset()
    environment_enabled: frozenset[str] = frozenset()
    environment_disabled: frozenset[str] = frozenset()

    @staticmethod
    def read(enable: Iterable[str], disable: Iterable[str], environment: Mapping[str, str]) -> Choice:
        """The choice of a command line and an environment."""
        return Choice(
            frozenset(enable),
            frozenset(disable),
            _names(environment.get(ENABLED_VARIABLE, "")),
            _names(environment.get(DISABLED_VARIABLE, "")),
        )

    def __bool__(self) -> bool:
        return bool(self.enabled or self.disabled or self.environment_enabled or self.environment_disabled)

    def is_enabled(self, names: Iterable[str], default: bool) -> bool:
        """Whether a transformation or pass with these names runs; `default` decides if none of them is listed."""
        own = frozenset(names)
        for disabled, enabled in ((self.disabled, self.enabled), (self.environment_disabled, self.environment_enabled)):
            if own & disabled:
                return False
            if own & enabled:
                return True
        return default

    def check(self, known: Iterable[str]) -> None:
        """Raises UsageError for a name in the options that no transformation or pass has.

        Names in the environment are not checked, because they may be meant for other models.
        """
        every = frozenset(known)
        for name in sorted((self.enabled | self.disabled) - every):
            hint = did_you_mean(name, every, "`moir passes` lists the names")
            raise UsageError(f"there is no transformation {name!r} to enable or disable", hint=hint)


def _names(text: str) -> frozenset[str]:
    return frozenset(name for part in text.split(",") if (name := part.strip()))
