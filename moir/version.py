"""The version of the package; pyproject.toml takes it from here.

`importlib.metadata` also knows the version, but importing it takes a twentieth of the time of starting.
"""

VERSION = "0.1.0"
