"""Servers on the loopback interface: of S3 (moto's), behind a connection that can be cut, and of the web."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

_PIECE = 1 << 16


class Cable:
    """A connection to a server, which lets a number of bytes through and is cut then.

    Args:
        port: the port of the server.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.is_down = False
        """Whether every connection is closed at once."""
        self.left: int | None = None
        """The bytes of answers that come through before the connection is cut, once; None for any."""
        self.sent: int | None = None
        """The bytes of requests after which the cable is down; None for any."""
        self.pause = 0.0
        """Seconds for which each piece of an answer waits."""
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._socket.accept()
            if self.is_down:
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self._port))
            threading.Thread(target=self._copy, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self._copy, args=(server, client, False), daemon=True).start()

    def _copy(self, source: socket.socket, target: socket.socket, is_request: bool) -> None:
        with suppress(OSError):
            while data := source.recv(_PIECE):
                if is_request and self.sent is not None:
                    self.sent -= len(data)
                    self.is_down = self.is_down or self.sent < 0
                if not is_request and self.left is not None:
                    self.left -= len(data)
                    if self.left < 0:
                        self.left = None
                        self.cuts += 1
                        break
                if self.is_down:
                    break
                if not is_request:
                    time.sleep(self.pause)
                target.sendall(data)
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


class Web:
    """A server of files, and what it is told to do wrong.

    Args:
        port: its port.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.has_ranges = True
        self.has_tags = True
        self.claimed: int | None = None
        """The Content-Length that it claims; None for the true one."""
        self.cut_after: int | None = None
        """The bytes of a file after which it closes the connection, once."""
        self.redirects: dict[str, str] = {}
        self.requests: list[tuple[str, str, str]] = []
        """The method, the path with the query, and the range of each request."""
        self.address = ""


def _handler(web: Web) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self._answer(has_content=False)

        def do_GET(self) -> None:
            self._answer(has_content=True)

        def _answer(self, *, has_content: bool) -> None:
            path = urlsplit(self.path).path
            web.requests.append((self.command, self.path, self.headers.get("Range", "")))
            if path in web.redirects:
                self.send_response(302)
                self.send_header("Location", web.redirects[path])
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if path not in web.files:
                self.send_response(404)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            content, begin = web.files[path], 0
            if web.has_ranges and (match := re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))):
                begin = int(match[1])
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
            else:
                self.send_response(200)
            if web.has_tags:
                self.send_header("ETag", f'"{hash(content):x}"')
            self.send_header("Content-Length", str(len(content) - begin if web.claimed is None else web.claimed))
            self.end_headers()
            if not has_content:
                return
            rest = content[begin:]
            if web.cut_after is not None and len(rest) > web.cut_after:
                rest, web.cut_after = rest[: web.cut_after], None
                self.close_connection = True
            self.wfile.write(rest)
            if self.close_connection:
                # A client loses the bytes that are still in its socket when the connection is reset.
                threading.Event().wait(0.3)
            if web.claimed is not None:
                self.close_connection = True

    return Handler


@contextmanager
def serving_web() -> Generator[Web]:
    """A server of the web."""
    web = Web()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(web))
    web.address = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield web
    finally:
        server.shutdown()
        server.server_close()
