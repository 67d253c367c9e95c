"""Which transformations run: `enabled`, the environment and the command line.

`--disable` and `--enable` come before `MO_DISABLED_TRANSFORMS` and `MO_ENABLED_TRANSFORMS`, these before the `enabled`
of the class; in each pair disabling wins. All are lists, separated by commas, of what a transformation is called: its
`id`, its name in the pipeline, or its class with the modules in front, `my_extension.back.rename.RenameOutputs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from moir.errors import ConversionError

ENABLED, DISABLED = "MO_ENABLED_TRANSFORMS", "MO_DISABLED_TRANSFORMS"
"""The environment variables."""


@dataclass(frozen=True)
class Choice:
    """What the user switches on and off.

    Args:
        enabled: names on the command line.
        disabled: the same.
        environment_enabled: names in the environment.
        environment_disabled: the same.
    """

    enabled: frozenset[str] = frozenset()
    disabled: frozenset[str] = frozenset()
    environment_enabled: frozenset[str] = frozenset()
    environment_disabled: frozenset[str] = frozenset()

    @staticmethod
    def read(enable: Iterable[str], disable: Iterable[str], environment: Mapping[str, str]) -> Choice:
        """The choice of a command line and an environment."""
        return Choice(frozenset(enable), frozenset(disable), _names(environment.get(ENABLED, "")), _names(environment.get(DISABLED, "")))

    def __bool__(self) -> bool:
        return bool(self.enabled or self.disabled or self.environment_enabled or self.environment_disabled)

    def is_enabled(self, names: Iterable[str], default: bool) -> bool:
        """Whether something runs that has some names."""
        own = frozenset(names)
        for disabled, enabled in ((self.disabled, self.enabled), (self.environment_disabled, self.environment_enabled)):
            if own & disabled:
                return False
            if own & enabled:
                return True
        return default

    def check(self, known: Iterable[str]) -> None:
        """Raises ConversionError for a name on the command line that nothing has; the environment may be meant for
        other models.
        """
        every = frozenset(known)
        for name in sorted((self.enabled | self.disabled) - every):
            near = get_close_matches(name, sorted(every), 3)
            hint = f"the nearest are {', '.join(near)}" if near else "`moir passes` lists the names"
            raise ConversionError(f"there is no transformation {name!r} to enable or disable", hint=hint)


def _names(text: str) -> frozenset[str]:
    return frozenset(name for part in text.split(",") if (name := part.strip()))
