"""Programs of JAX in memory, as files; JAX itself is not needed to write them."""

from __future__ import annotations

from pathlib import Path

import moir

FIXTURES = Path(__file__).parents[2] / "fixtures" / "stablehlo"


class Exported:
    """What `jax.export.Exported` has."""

    def __init__(self, platforms: tuple[str, ...]) -> None:
        self.platforms = platforms
        self.mlir_module_serialized = (FIXTURES / "mlp.mlirbc").read_bytes()

    def serialize(self) -> bytes:
        return (FIXTURES / "mlp.jax").read_bytes()


class Lowered:
    """What `jax.stages.Lowered` has."""

    def compiler_ir(self) -> object:
        return None

    def as_text(self, *, debug_info: bool) -> str:
        assert debug_info
        return (FIXTURES / "mlp.mlir").read_text()


for each in (Exported, Lowered):
    each.__module__ = "jax.export"


def test_programs_in_memory() -> None:
    given = [Exported(("cpu",)), Exported(("cpu", "tpu")), Lowered()]
    bodies = [[line for line in str(moir.convert_model(each)).splitlines() if "moir.model" not in line] for each in given]
    expected = [line for line in str(moir.convert_model(FIXTURES / "mlp.mlir")).splitlines() if "moir.model" not in line]
    assert all(body == expected for body in bodies)
