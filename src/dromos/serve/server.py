"""The server of the page: the standard library's, on the loopback address, behind a token."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from functools import cached_property
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from dromos.errors import DromosError, InvalidArgumentError, UnknownVertexError
from dromos.graph import Graph
from dromos.runner.report import filled
from dromos.serve import views
from dromos.serve.menu import menu
from dromos.serve.runs import Runs

__all__ = ["GraphServer"]

_MOST_BYTES = 1 << 16
"""The most bytes of a request: a few arguments."""
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; frame-src 'self'; frame-ancestors 'self'; form-action 'none'; base-uri 'none'",
    "Referrer-Policy": "no-referrer",  # the token is part of the address
    "X-Content-Type-Options": "nosniff",
}


class GraphServer(ThreadingHTTPServer):
    """Shows one graph at :attr:`url` while :meth:`serve_forever` runs.

    >>> import threading, urllib.request
    >>> import dromos as dr
    >>> server = GraphServer(dr.generators.path(4), "four in a row")
    >>> thread = threading.Thread(target=server.serve_forever)
    >>> thread.start()
    >>> with urllib.request.urlopen(server.url + "api/vertex?v=2") as answer:
    ...     json.load(answer)["out"]
    2
    >>> server.shutdown(); thread.join(); server.server_close()
    """

    daemon_threads = True
    allow_reuse_address = False  # no other process answers at an address that was just released

    def __init__(
        self, graph: Graph, title: str, *, port: int = 0, how: Mapping[str, Any] | None = None, token: str | None = None
    ) -> None:
        """``port`` 0 takes a free one; ``how``: options of every run, such as ``device``."""
        self.graph, self.title = graph, title
        self.token = secrets.token_urlsafe(24) if token is None else token
        self.runs = Runs(graph, how)
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def url(self) -> str:
        """The address of the page, with the token."""
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"

    @cached_property
    def page(self) -> str:
        """The page as text, with its style and script inline."""
        beside = files("dromos.serve")
        parts = {
            "TITLE": escape(self.title),
            "OWN_STYLE": beside.joinpath("page.css").read_text(encoding="utf-8"),
            "SCRIPT": beside.joinpath("page.js").read_text(encoding="utf-8"),
        }
        return filled(beside.joinpath("page.html").read_text(encoding="utf-8"), parts)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The graph's facts and the algorithms, which are the same for every visit."""
        return {"title": self.title, **views.graph_facts(self.graph), "algorithms": menu()}

    def answer(self, method: str, route: str, query: Mapping[str, str], body: Mapping[str, Any]) -> Any:
        """The answer to a request: text is a page, everything else becomes JSON, None is an unknown address."""
        graph, runs = self.graph, self.runs
        answers: dict[tuple[str, str], Callable[[], Any]] = {
            ("GET", ""): lambda: self.page,
            ("GET", "api/graph"): lambda: self.summary,
            ("GET", "api/search"): lambda: views.search(graph, _given(query, "q")),
            ("GET", "api/vertex"): lambda: views.vertex(graph, _given(query, "v")),
            ("GET", "api/egonet"): lambda: views.egonet(graph, _given(query, "v"), _whole(query, "hops", "1")),
            ("GET", "api/run"): lambda: runs.state(_whole(query, "n"), _whole(query, "seen", "-1")),
            ("GET", "report"): lambda: runs.report(_whole(query, "n")),
            ("POST", "api/run"): lambda: {
                "run": runs.start(str(_given(body, "name")), dict(_given(body, "arguments")))
            },
            ("POST", "api/stop"): lambda: runs.stop(_whole(body, "n")),
        }
        found = answers.get((method, route))
        return None if found is None else found()


class _Handler(BaseHTTPRequestHandler):
    server: GraphServer
    protocol_version = "HTTP/1.1"
    timeout = 60  # seconds of a silent connection

    def do_GET(self) -> None:
        self._reply("GET", {})

    def do_POST(self) -> None:
        size = self.headers.get("Content-Length", "")
        if not size.isdigit() or int(size) > _MOST_BYTES:
            self.close_connection = True  # the body is not read
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request has at most {_MOST_BYTES} bytes")
            return
        try:
            body = json.loads(self.rfile.read(int(size)))
            if not isinstance(body, dict):
                raise ValueError("not an object")
        except ValueError:
            self._refuse(HTTPStatus.BAD_REQUEST, "the body of the request is not a JSON object")
            return
        self._reply("POST", body)

    def _reply(self, method: str, body: Mapping[str, Any]) -> None:
        address = urlsplit(self.path)
        _, token, *rest = [*unquote(address.path).split("/"), ""]
        port = self.server.server_port
        # A page of another site may point a name of its own here (DNS rebinding); then the browser sends that name.
        if self.headers.get("Host") not in (f"127.0.0.1:{port}", f"localhost:{port}"):
            self._refuse(HTTPStatus.FORBIDDEN, "this server answers on 127.0.0.1 only")
            return
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            self._refuse(HTTPStatus.FORBIDDEN, "wrong token; open the address that `dromos serve` printed")
            return
        route = "/".join(rest).strip("/")
        try:
            found = self.server.answer(method, route, dict(parse_qsl(address.query)), body)
        except UnknownVertexError as error:
            self._refuse(HTTPStatus.NOT_FOUND, str(error))
        except (DromosError, TypeError, ValueError) as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))
        else:
            if found is None:
                self._refuse(HTTPStatus.NOT_FOUND, f"there is nothing at {route!r}")
            elif isinstance(found, str):
                self._send(HTTPStatus.OK, "text/html; charset=utf-8", found)
            else:
                self._send(HTTPStatus.OK, "application/json", json.dumps(found))

    def _refuse(self, status: HTTPStatus, reason: str) -> None:
        self._send(status, "application/json", json.dumps({"error": reason}))

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        content = text.encode()
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(content)
        except (BrokenPipeError, ConnectionResetError):  # the browser moved on to another page
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the address of a request holds the token."""


def _given(values: Mapping[str, Any], name: str) -> Any:
    if name not in values:
        raise InvalidArgumentError(f"the request has no {name!r}")
    return values[name]


def _whole(values: Mapping[str, Any], name: str, default: str | None = None) -> int:
    word = _given(values, name) if default is None else values.get(name, default)
    try:
        return int(word)
    except ValueError:
        raise InvalidArgumentError(f"{name}={word!r} is not a whole number") from None
