"""The version of moir that is installed."""

from __future__ import annotations

from functools import cache


@cache
def moir_version() -> str:
    """The version, `unknown` where moir is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("moir")
    except PackageNotFoundError:
        return "unknown"
