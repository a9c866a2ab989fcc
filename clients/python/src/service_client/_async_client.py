"""The client with ``async``."""

# Written by generate.py; do not edit.

from __future__ import annotations

import asyncio
import time
from typing import Any, Callable, Mapping, Optional, Sequence, TypeVar

import httpx

from . import _async_resources as resources
from ._core import Answer, Attempt, Core, Flow, Limits, Lost, Pause, Reply
from .store import Identity, MemoryStore, Store

T = TypeVar("T")

VERSION = "0.9.0"
HALF_A_DAY = 43_200


class AsyncClient(resources.Account):
    """Acts as one member of the service; without an identity it only reads what is public.

    ``store`` keeps the credential and unanswered requests: ``FileStore(path)`` survives a crash and can be
    shared by processes, the default is in memory. ``scopes`` are those of the credential; with
    ``credential:manage`` the client can rotate it. ``lifetime`` and ``renew_before`` are seconds. ``http`` is a client of
    httpx to use, for proxies or tests; it stays open when this client is closed.
    """

    def __init__(
        self,
        base_url: str,
        identity: Optional[Identity] = None,
        *,
        scopes: Sequence[str] = ("updates:read", "credential:manage"),
        store: Optional[Store] = None,
        lifetime: int = HALF_A_DAY,
        renew_before: Optional[float] = None,
        timeout: float = 30.0,
        patience: float = 900.0,
        max_retries: Optional[int] = None,
        http: Optional[httpx.AsyncClient] = None,
        on_retry: Optional[Callable[[Exception, float], None]] = None,
    ) -> None:
        self.core = Core(
            base_url,
            identity,
            scopes,
            store or MemoryStore(),
            lifetime,
            lifetime / 10 if renew_before is None else renew_before,
            Limits(timeout, patience, max_retries),
            on_retry,
            f"service-client-python/{VERSION}",
        )
        self.session_cookie: Optional[str] = None
        self._http = http or httpx.AsyncClient()
        self._owns_http = http is None
        super().__init__(self)
        self.cases = resources.Cases(self)
        self.packets = resources.Packets(self)
        self.profile = resources.Profile(self)
        self.guestbook = resources.Guestbook(self)
        self.sessions = resources.Sessions(self)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        if self._owns_http:
            await self._http.aclose()

    async def renew(self) -> None:
        """Replaces the credential now."""
        await self.run(self.core.renew())

    async def resume(self) -> list[Reply]:
        """Repeats the writes that a process left without an answer, with the same keys and bytes."""
        return await self.run(self.core.resume())

    async def read(self, path: str, **call: Any) -> Any:
        """Sends a GET with a bearer to any path of the API, with its query; returns the parsed body."""
        return await self._get(path, bearer=True, **call)

    async def write(self, path: str, body: Mapping[str, Any], **call: Any) -> Any:
        """Sends a POST with a bearer to any path of the API; returns the parsed body."""
        return await self._post(path, body, **call)

    def limits(self, call: Mapping[str, Any]) -> Limits:
        given = self.core.limits
        return Limits(
            call.get("timeout", given.timeout),
            call.get("patience", given.patience),
            call.get("max_retries", given.max_retries),
        )

    async def run(self, flow: Flow[T]) -> T:
        """Does what an operation asks for, until it has its result."""
        answer: Any = None
        try:
            while True:
                action = flow.send(answer)
                answer = None
                if isinstance(action, Pause):
                    await self._pause(action.seconds)
                else:
                    answer = await self._attempt(action)
        except StopIteration as done:
            return done.value
        finally:
            flow.close()

    async def _pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def _attempt(self, attempt: Attempt) -> Any:
        deadline = time.monotonic() + attempt.timeout
        try:
            async with self._http.stream(
                attempt.method,
                attempt.url,
                headers=dict(attempt.headers),
                content=attempt.body,
                timeout=attempt.timeout,
                follow_redirects=False,
            ) as response:
                body = bytearray()
                async for part in response.aiter_bytes():
                    body += part
                    if time.monotonic() > deadline:
                        return Lost("timeout")
                return Answer(response.status_code, response.headers, bytes(body))
        except httpx.TimeoutException:
            return Lost("timeout")
        except (httpx.TransportError, httpx.DecodingError) as error:
            return Lost(str(error) or type(error).__name__)
        finally:
            # Only a bearer or the session of this client proves who calls.
            self._http.cookies.clear()
