"""Servers of Google's and Azure's stores, on the loopback interface: the emulator of a package, and Azurite."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.unit.files.remote.servers import Cable

CONTAINER = "models"

AZURITE = Path(__file__).parents[4] / "build" / "azurite" / "node_modules" / ".bin" / "azurite-blob"
"""Where docs/contributing.md says to install Azurite; one of the path is taken first."""

_KEY_OF_AZURITE = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The key of the account that every Azurite has; its documentation gives it."""


@dataclass
class Cloud:
    """A store, as its own clients see it, without moir.

    Args:
        scheme: the scheme of its addresses.
        cable: the connection that moir uses.
        files: fsspec's file system of the store.
    """

    scheme: str
    cable: Cable
    files: Any

    def put(self, key: str, content: bytes | Path) -> str:
        """Store a file, or all files of a folder; returns the address."""
        for path in sorted(content.rglob("*")) if isinstance(content, Path) and content.is_dir() else []:
            if path.is_file():
                self.put(f"{key}/{path.relative_to(content).as_posix()}", path)
        if isinstance(content, bytes) or content.is_file():
            self.files.pipe_file(f"{CONTAINER}/{key}", content if isinstance(content, bytes) else content.read_bytes())
        return f"{self.scheme}://{CONTAINER}/{key}"

    def get(self, key: str) -> bytes:
        return self.files.cat_file(f"{CONTAINER}/{key}")

    def stored(self) -> list[str]:
        self.files.invalidate_cache()
        return sorted(each.removeprefix(f"{CONTAINER}/") for each in self.files.find(CONTAINER))

    def clear(self) -> None:
        """Remove all files, and mend the connection."""
        self.cable.is_down, self.cable.left, self.cable.sent = False, None, None
        for each in self.stored():
            self.files.rm_file(f"{CONTAINER}/{each}")


@contextmanager
def google(patch: pytest.MonkeyPatch) -> Generator[Cloud]:
    """The emulator of Google's store of the package `gcp-storage-emulator`."""
    emulator = pytest.importorskip("gcp_storage_emulator.server")
    # The package asks Google by gRPC of what kind a bucket is, for a minute; read when it is imported.
    patch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    gcsfs = pytest.importorskip("gcsfs")
    port = _free_port()
    server = emulator.create_server("127.0.0.1", port, in_memory=True)
    server.start()
    try:
        own = f"http://127.0.0.1:{port}"
        headers = {"Content-Type": "application/json"}
        urlopen(Request(f"{own}/storage/v1/b?project=p", json.dumps({"name": CONTAINER}).encode(), headers)).close()
        cable = Cable(port)
        patch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{cable.port}")
        # The pauses between attempts against a server that is down: a minute in all.
        patch.setattr(gcsfs.retry, "asyncio", SimpleNamespace(sleep=_no_sleep, TimeoutError=TimeoutError))
        yield Cloud("gs", cable, gcsfs.GCSFileSystem(endpoint_url=own, token="anon", skip_instance_cache=True))
    finally:
        server.stop()


@contextmanager
def azure(patch: pytest.MonkeyPatch) -> Generator[Cloud]:
    """Azurite, the server of Microsoft for tests, of the package of npm."""
    adlfs = pytest.importorskip("adlfs")
    program = shutil.which("azurite-blob") or (str(AZURITE) if AZURITE.exists() else None)
    if program is None:
        pytest.skip("Azurite is not installed: npm install --prefix build/azurite azurite")
    port = _free_port()
    options = ("--inMemoryPersistence", "--silent", "--skipApiVersionCheck", "--disableTelemetry")
    command = [program, "--blobHost", "127.0.0.1", "--blobPort", str(port), *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port)
        cable = Cable(port)
        patch.setenv("AZURE_STORAGE_CONNECTION_STRING", _connection(cable.port))
        policies = pytest.importorskip("azure.storage.blob._shared.policies_async")
        patch.setattr(policies.ExponentialRetry, "get_backoff_time", lambda *_: 0.01)
        files = adlfs.AzureBlobFileSystem(connection_string=_connection(port), skip_instance_cache=True)
        files.mkdir(CONTAINER)
        yield Cloud("az", cable, files)
    finally:
        process.terminate()
        process.wait()


def _connection(port: int) -> str:
    account = "devstoreaccount1"
    address = f"http://127.0.0.1:{port}/{account}"
    return f"DefaultEndpointsProtocol=http;AccountName={account};AccountKey={_KEY_OF_AZURITE};BlobEndpoint={address};"


async def _no_sleep(_: float) -> None:
    pass


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def _wait_for(port: int) -> None:
    for _ in _attempts():
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            continue
        return
    pytest.fail("the server has not started")


def _attempts() -> Iterator[None]:
    for _ in range(300):
        yield
        time.sleep(0.1)
