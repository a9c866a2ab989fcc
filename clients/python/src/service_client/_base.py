"""What every resource does. generate.py makes _async_base.py of this file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, TypedDict

from ._core import Flow, Operation, Reply, encode, with_query
from .errors import ServiceError
from .store import Identity

if TYPE_CHECKING:
    from ._client import Client


class Call(TypedDict, total=False):
    """What one call may set, instead of the client."""

    #: Seconds for one attempt.
    timeout: float
    #: Seconds for all attempts and their pauses.
    patience: float
    #: How often an attempt without an answer is repeated.
    max_retries: int
    #: The name of a write (UUIDv4): the same for each repeat of it.
    idempotency_key: str


def result(value: Any) -> Any:
    """What a callback returned."""
    return value


def session_cookie(opened: Reply) -> Optional[str]:
    """The cookie of the session that a sign-in has opened."""
    found = re.search(r"__Host-ServiceSession=[^;,\s]+", opened.headers.get("set-cookie", ""))
    return found.group(0) if found else None


class Resource:
    def __init__(self, client: Client) -> None:
        self._client = client

    def _identity(self) -> Identity:
        identity = self._client.core.identity
        if identity is None:
            raise ValueError("This operation needs an identity: Client(base_url, identity)")
        return identity

    def _run(self, flow: Flow[Reply]) -> Reply:
        return self._client.run(flow)

    def _get(self, path: str, *, bearer: bool = False, held: float = 0, **call: Any) -> Any:
        reply = self._reply("GET", path, bearer=bearer, held=held, **call)
        return reply.body

    def _post(self, path: str, body: Mapping[str, Any], **call: Any) -> Any:
        """Sends a write with a bearer."""
        core = self._client.core
        key = call.pop("idempotency_key", None)
        reply = self._run(core.write(path, body, key, self._client.limits(call)))
        return reply.body

    def _origin_post(self, path: str, body: Mapping[str, Any], **call: Any) -> Any:
        """Sends a write that looks at the origin instead of a bearer."""
        reply = self._reply("POST", path, body, **call)
        return reply.body

    def _reply(
        self,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]] = None,
        *,
        bearer: bool = False,
        held: float = 0,
        key: Optional[str] = None,
        cookie: Optional[str] = None,
        **call: Any,
    ) -> Reply:
        core = self._client.core
        limits = self._client.limits(call)
        operation = Operation(
            method,
            path,
            None if body is None else encode(body),
            key,
            origin=method == "POST",
            cookie=None if bearer else self._client.session_cookie if cookie is None else cookie,
            held=held,
        )
        flow = core.authorized(operation, limits) if bearer else core.send(operation, None, limits)
        return self._run(flow)

    def _pages(
        self, path: str, query: Mapping[str, Any], items: str, *, bearer: bool = False, session: bool = False, **call: Any
    ) -> Iterator[Any]:
        cursor: Optional[str] = None
        while True:
            page = self._get(with_query(path, {**query, "cursor": cursor}), bearer=bearer, **call)
            for item in page[items]:
                yield item
            cursor = page["next_cursor"]
            if not page["has_more"]:
                return

    def _in_session(
        self, method: str, path: str, body: Optional[Mapping[str, Any]] = None, **call: Any
    ) -> Any:
        """Sends a request of the member in a session that is opened for it and ends afterwards."""
        identity = self._identity()
        key = call.pop("idempotency_key", None)
        proof = {"id": identity["id"], "sign_in_key": identity["sign_in_key"]}
        opened = self._reply("POST", "/api/membership/login", proof, cookie="", **call)
        cookie = session_cookie(opened) or ""
        try:
            reply = self._reply(method, path, body, key=key, cookie=cookie, **call)
        except ServiceError:
            self._end_session(cookie, call)
            raise
        self._end_session(cookie, call)
        return reply.body

    def _end_session(self, cookie: str, call: Mapping[str, Any]) -> None:
        """Tries once to end a session: it ends by itself, and the answer to its request must not wait."""
        try:
            self._reply("POST", "/api/membership/logout", {}, cookie=cookie, **{**call, "max_retries": 0})
        except ServiceError:
            pass

    def _keep_session(self, reply: Reply) -> Any:
        """Keeps the cookie of a session for later calls of this client."""
        self._client.session_cookie = session_cookie(reply)
        return reply.body
