"""A bucket of a server of S3, and a server of the web; what is downloaded goes to a temporary folder."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.files.remote.servers import Cable, Web, serving_web


class Bucket:
    """A bucket `models` of S3.

    Args:
        cable: the connection to its server, which moir uses.
        client: a client with a connection of its own.
    """

    def __init__(self, cable: Cable, client: Any) -> None:
        self.cable = cable
        self._client = client

    def put(self, key: str, content: bytes | Path) -> str:
        """Store a file, or all files of a folder; returns the address."""
        for path in sorted(content.rglob("*")) if isinstance(content, Path) and content.is_dir() else []:
            if path.is_file():
                self.put(f"{key}/{path.relative_to(content).as_posix()}", path)
        if not isinstance(content, Path) or content.is_file():
            self._client.put_object(Bucket="models", Key=key, Body=content.read_bytes() if isinstance(content, Path) else content)
        return f"s3://models/{key}"

    def get(self, key: str) -> bytes:
        return self._client.get_object(Bucket="models", Key=key)["Body"].read()

    def stored(self, prefix: str = "") -> list[str]:
        return [each["Key"] for each in self._client.list_objects_v2(Bucket="models", Prefix=prefix).get("Contents", ())]

    def unfinished_uploads(self) -> int:
        return len(self._client.list_multipart_uploads(Bucket="models").get("Uploads", ()))

    def abort_uploads(self) -> None:
        for each in self._client.list_multipart_uploads(Bucket="models").get("Uploads", ()):
            self._client.abort_multipart_upload(Bucket="models", Key=each["Key"], UploadId=each["UploadId"])

    def delete(self, key: str) -> None:
        self._client.delete_object(Bucket="models", Key=key)


@pytest.fixture(scope="session")
def server() -> Generator[tuple[Cable, Any]]:
    moto = pytest.importorskip("moto.server")
    pytest.importorskip("s3fs")
    import boto3

    with pytest.MonkeyPatch.context() as patch:
        for name, value in (
            ("ACCESS_KEY_ID", "key"),
            ("SECRET_ACCESS_KEY", "secret"),
            ("DEFAULT_REGION", "us-east-1"),
            ("MAX_ATTEMPTS", "1"),
        ):
            patch.setenv(f"AWS_{name}", value)
        started = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
        started.start()
        host, port = started.get_host_and_port()
        cable = Cable(port)
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{cable.port}")
        client = boto3.client("s3", endpoint_url=f"http://{host}:{port}")
        yield cable, client
        started.stop()


@pytest.fixture
def bucket(server: tuple[Cable, Any], monkeypatch: pytest.MonkeyPatch) -> Generator[Bucket]:
    """An empty bucket."""
    import s3fs

    # Attempts of the library against a server that is down.
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
    cable, client = server
    client.create_bucket(Bucket="models")
    created = Bucket(cable, client)
    yield created
    cable.is_down, cable.left, cable.sent, cable.pause = False, None, None, 0.0
    for key in created.stored():
        created.delete(key)
    created.abort_uploads()


@pytest.fixture
def web() -> Generator[Web]:
    pytest.importorskip("aiohttp")
    with serving_web() as web:
        yield web


@pytest.fixture(autouse=True)
def downloads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder to which files are downloaded; the tests run in another one."""
    folder = tmp_path / "downloads"
    monkeypatch.setenv("MOIR_DOWNLOADS", os.fspath(folder))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return folder
