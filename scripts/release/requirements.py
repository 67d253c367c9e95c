"""The oldest versions of the dependencies that pyproject.toml allows."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def dependencies(*extras: str) -> list[str]:
    """The dependencies of the package and of some of its extras, as pyproject.toml writes them."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *(each for extra in extras for each in project["optional-dependencies"][extra])]


def constraints(requirements: Iterable[str]) -> str:
    """The oldest version of each requirement as a file of constraints for pip, with the markers of the requirements.

        numpy>=1.26; python_version < "3.13"   ->   numpy==1.26; python_version < "3.13"

    Raises ValueError for a requirement without a lower bound.
    """
    lines: list[str] = []
    for requirement in map(Requirement, requirements):
        marker = "" if requirement.marker is None else f"; {requirement.marker}"
        lines.append(f"{requirement.name}=={_lower_bound(requirement)}{marker}\n")
    return "".join(lines)


def _lower_bound(requirement: Requirement) -> str:
    """The oldest version that a requirement allows. Raises ValueError if there is no lower bound."""
    bounds = [each.version for each in requirement.specifier if each.operator == ">="]
    if len(bounds) != 1:
        raise ValueError(f"{requirement} has no lower bound")
    return bounds[0]


def oldest(requirements: Iterable[str], python: str) -> list[str]:
    """The oldest version of each requirement for a version of Python, as `name==version`.

        numpy>=1.26; python_version < "3.13"   ->   numpy==1.26       (Python 3.11)

    Raises ValueError for a requirement without a lower bound.
    """
    versions: list[str] = []
    for requirement in map(Requirement, requirements):
        if requirement.marker is not None and not requirement.marker.evaluate({"python_version": python}):
            continue
        versions.append(f"{requirement.name}=={_lower_bound(requirement)}")
    return versions
