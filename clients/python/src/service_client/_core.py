"""The reliable core, without I/O: each operation is a generator that asks for what it needs.

The clients answer: ``Attempt`` with the response of one request, ``Pause`` after some seconds. So both
clients, with and without ``async``, do the same.
"""

from __future__ import annotations

import json
import random
import time
import uuid
from dataclasses import dataclass, field
from typing import Any, Callable, Generator, Mapping, Optional, Sequence, TypeVar, Union
from urllib.parse import quote, urlencode, urlsplit

from .errors import (
    NoAnswerError,
    ProblemError,
    UnreadableReplyError,
    parse_date,
    problem,
)
from .store import Identity, Session, Store, new_key

T = TypeVar("T")

FIRST_DELAY = 0.25
MAX_DELAY = 30.0
RETRIED = frozenset({408, 429, 502, 503, 504})
LOCK_DELAY = 0.02


@dataclass(frozen=True)
class Attempt:
    """One request, whose answer is awaited for ``timeout`` seconds."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: Optional[bytes]
    timeout: float


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Lost:
    """No answer; why."""

    reason: str


Flow = Generator[Union[Attempt, Pause], Any, T]
Authorize = Callable[[], Flow[str]]


@dataclass(frozen=True)
class Operation:
    """One operation. Every attempt sends the same bytes."""

    method: str
    path: str
    body: Optional[bytes] = None
    key: Optional[str] = None
    origin: bool = False
    cookie: Optional[str] = None
    #: Seconds for which the service may hold the request; they extend the timeout.
    held: float = 0
    #: Raises after a 429 instead of waiting, because the caller has an alternative.
    hasty: bool = False


@dataclass(frozen=True)
class Limits:
    """How long and how often one operation is tried."""

    timeout: float = 30.0
    patience: float = 900.0
    max_retries: Optional[int] = None


@dataclass
class Reply:
    """An answer: its body, and what its headers say."""

    body: Any
    status: int
    headers: Mapping[str, str] = field(repr=False)

    @property
    def replayed(self) -> bool:
        """Whether an earlier request with the same key had the effect."""
        return self.headers.get("idempotency-replayed") == "true"


def normalize_base_url(base_url: str) -> str:
    """The address of a service without a slash at its end; ValueError for anything else."""
    url = urlsplit(base_url)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ValueError(f"{base_url!r} is not an http or https address")
    if url.username or url.password or url.query or url.fragment:
        raise ValueError("The address of a service has no credentials, query or fragment")
    return f"{url.scheme}://{url.netloc}{url.path.rstrip('/')}"


def segment(value: str) -> str:
    """A value as one part of a path; ValueError for one that would lead to another path."""
    if value in ("", ".", ".."):
        raise ValueError(f"{value!r} is not an id")
    return quote(value, safe="")


def with_query(path: str, query: Mapping[str, Any]) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    values = {
        name: ",".join(value) if isinstance(value, (list, tuple)) else value
        for name, value in given.items()
    }
    return f"{path}?{urlencode(values)}" if values else path


def encode(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


class Core:
    """What both clients share: sending, the credential, and requests without an answer."""

    def __init__(
        self,
        base_url: str,
        identity: Optional[Identity],
        scopes: Sequence[str],
        store: Store,
        lifetime: int,
        renew_before: float,
        limits: Limits,
        on_retry: Optional[Callable[[Exception, float], None]],
        user_agent: str,
    ) -> None:
        self.base_url = normalize_base_url(base_url)
        self.identity = identity
        self.scopes = list(scopes)
        self.store = store
        self.lifetime = lifetime
        self.renew_before = renew_before
        self.limits = limits
        self.on_retry = on_retry
        self.user_agent = user_agent
        self.skew = 0.0

    # Sending

    def now(self) -> float:
        """Unix seconds by the clock of the service."""
        return time.time() + self.skew

    def send(
        self, operation: Operation, authorize: Optional[Authorize] = None, limits: Optional[Limits] = None
    ) -> Flow[Reply]:
        """Sends until the service answers. Only an attempt without an answer, or with a 408, 429, 502,
        503 or 504, is repeated: after ``Retry-After``, or after a delay that doubles."""
        limits = limits or self.limits
        started = time.monotonic()
        delay, retries = FIRST_DELAY, 0
        while True:
            error: Union[ProblemError, NoAnswerError]
            try:
                return (yield from self._attempt(operation, authorize, limits))
            except NoAnswerError as lost:
                error = lost
            except ProblemError as refused:
                if not _is_retried(refused, operation):
                    raise
                error = refused
            asked = error.retry_after if isinstance(error, ProblemError) else None
            # Half of the delay is random, so that many clients do not retry at the same moment.
            wait = asked if asked is not None else delay * (0.5 + random.random() / 2)
            resets = (error.resets_in or 0.0) if isinstance(error, ProblemError) else 0.0
            if limits.max_retries is not None and retries >= limits.max_retries:
                raise error
            if time.monotonic() - started + max(wait, resets) > limits.patience:
                raise error
            if self.on_retry:
                self.on_retry(error, wait)
            yield Pause(wait)
            retries += 1
            delay = min(2 * delay, MAX_DELAY)

    def _attempt(
        self, operation: Operation, authorize: Optional[Authorize], limits: Limits
    ) -> Flow[Reply]:
        bearer = (yield from authorize()) if authorize else None
        url = self.base_url + operation.path
        headers = {"accept": "application/json", "user-agent": self.user_agent}
        if bearer:
            headers["authorization"] = bearer
        if operation.key:
            headers["idempotency-key"] = operation.key
        if operation.body is not None:
            headers["content-type"] = "application/json"
        if operation.origin:
            parts = urlsplit(self.base_url)
            headers["origin"] = f"{parts.scheme}://{parts.netloc}"
        if operation.cookie:
            headers["cookie"] = operation.cookie
        answer: Union[Answer, Lost] = yield Attempt(
            operation.method, url, headers, operation.body, limits.timeout + operation.held
        )
        if isinstance(answer, Lost):
            raise NoAnswerError(f"no answer from {self.base_url} ({answer.reason})")
        date = parse_date(answer.headers.get("date"))
        if date is not None:
            self.skew = date - time.time()
        name = f"{operation.method} {url.split('?')[0]}"
        if not 200 <= answer.status < 300:
            raise problem(name, answer.status, answer.headers, _problem_body(answer.body))
        try:
            body = json.loads(answer.body)
        except ValueError as cause:
            raise UnreadableReplyError(f"{name}: {answer.status} with a body that is not JSON") from cause
        # An object and, after a write, one with a status word.
        if not isinstance(body, dict) or (
            operation.method == "POST" and not isinstance(body.get("status"), str)
        ):
            raise UnreadableReplyError(f"{name}: {answer.status} with a body that the service does not send")
        return Reply(body, answer.status, answer.headers)

    def authorized(self, operation: Operation, limits: Optional[Limits] = None) -> Flow[Reply]:
        """Sends with a valid bearer. A bearer that was revoked meanwhile is replaced once."""
        used = ""

        def authorize() -> Flow[str]:
            nonlocal used
            used = yield from self.bearer()
            return used

        try:
            return (yield from self.send(operation, authorize, limits))
        except ProblemError as error:
            if error.status != 401 or error.code == "unknown" or not used:
                raise
        yield from self._forget(used)
        return (yield from self.send(operation, authorize, limits))

    def write(
        self,
        path: str,
        body: Mapping[str, Any],
        key: Optional[str] = None,
        limits: Optional[Limits] = None,
    ) -> Flow[Reply]:
        """Sends a POST with a bearer. A durable store has its bytes before they are sent, and until the
        service has answered; ``resume`` repeats what a process left without an answer."""
        operation = Operation("POST", path, encode(body), key or str(uuid.uuid4()))
        return (yield from self._write(operation, limits))

    def _write(self, operation: Operation, limits: Optional[Limits]) -> Flow[Reply]:
        if not self.store.durable:
            return (yield from self.authorized(operation, limits))
        key, text = operation.key or "", (operation.body or b"").decode()

        def remember(session: Session) -> Session:
            writes = {**session.get("writes", {}), key: {"path": operation.path, "body": text}}
            return {**session, "writes": writes}

        def forget(session: Session) -> Session:
            writes = {**session.get("writes", {})}
            writes.pop(key, None)
            return {**session, "writes": writes}

        yield from self._change(remember)
        try:
            reply = yield from self.authorized(operation, limits)
        except ProblemError as error:
            if error.status < 500 and error.status not in RETRIED and error.code != "unknown":
                yield from self._change(forget)
            raise
        yield from self._change(forget)
        return reply

    def resume(self) -> Flow[list[Reply]]:
        """Repeats the writes that a process left without an answer, with the same keys and bytes."""
        replies = []
        for key, saved in list(self.store.load().get("writes", {}).items()):
            operation = Operation("POST", saved["path"], saved["body"].encode(), key)
            replies.append((yield from self._write(operation, None)))
        return replies

    # The credential

    def bearer(self) -> Flow[str]:
        """The value of ``Authorization``, valid by the clock of the service."""
        credential = self.store.load().get("credential")
        if credential and not self.store.load().get("pending") and not self._ends(credential, self.renew_before):
            return _bearer(credential)
        return (yield from self._locked(self._ensure, False))

    def renew(self) -> Flow[str]:
        """Replaces the credential now."""
        return (yield from self._locked(self._ensure, True))

    def _forget(self, authorization: str) -> Flow[None]:
        def without(session: Session) -> Session:
            credential = session.get("credential")
            if not credential or _bearer(credential) != authorization:
                return session
            return {name: value for name, value in session.items() if name != "credential"}

        yield from self._change(without)

    def _locked(self, run: Callable[..., Flow[T]], *given: Any) -> Flow[T]:
        while not self.store.try_lock():
            yield Pause(LOCK_DELAY)
        try:
            return (yield from run(*given))
        finally:
            self.store.unlock()

    def _change(self, change: Callable[[Session], Session]) -> Flow[None]:
        def run() -> Flow[None]:
            session = self.store.load()
            changed = change(session)
            if changed != session:
                self.store.save(changed)
            return
            yield  # a generator without a request

        yield from self._locked(run)

    def _ends(self, credential: Mapping[str, Any], seconds: float) -> bool:
        return float(credential["expires_at"]) - self.now() < seconds

    def _ensure(self, anew: bool) -> Flow[str]:
        # Another process may have replaced the credential while this one waited for the lock.
        if self.store.load().get("pending"):
            yield from self._finish(False)
        credential = self.store.load().get("credential")
        if not (credential and not anew and not self._ends(credential, self.renew_before)):
            yield from self._replace(credential)
        return _bearer(self.store.load()["credential"])

    def _replace(self, credential: Optional[Mapping[str, Any]]) -> Flow[None]:
        rotates = (
            credential is not None
            and "credential:manage" in credential["scopes"]
            and all(scope in credential["scopes"] for scope in self.scopes)
            and not self._ends(credential, 0)
        )
        if rotates and (yield from self._begin("rotate")):
            return
        if (yield from self._begin("bootstrap")):
            return
        # The refusal had the service's clock: the first expires_at may have been out of range.
        yield from self._begin("bootstrap", True)

    def _begin(self, how: str, last: bool = False) -> Flow[bool]:
        following = {
            "credential_id": str(uuid.uuid4()),
            "credential_secret": new_key(),
            "scopes": self.scopes,
            "expires_at": int(self.now()) + self.lifetime,
        }
        pending = {"key": str(uuid.uuid4()), "how": how, "next": following}
        # Saved before it is sent, so that a restarted client repeats the request.
        self.store.save({**self.store.load(), "pending": pending})
        return (yield from self._finish(last))

    def _finish(self, last: bool) -> Flow[bool]:
        session = self.store.load()
        pending, old = session["pending"], session.get("credential")
        rest = {name: value for name, value in session.items() if name not in ("pending", "credential")}
        try:
            if pending["how"] == "bootstrap":
                yield from self._bootstrap(pending)
            else:
                yield from self._rotate(pending, old)
        except ProblemError as error:
            # An answer of something between says nothing about the request, which may have had its effect.
            if error.status >= 500 or error.code == "unknown":
                raise
            self.store.save({**rest, "credential": old} if old else rest)
            if last or not (error.status == 400 or pending["how"] == "rotate"):
                raise
            return False
        self.store.save({**rest, "credential": pending["next"]})
        return True

    def _bootstrap(self, pending: Mapping[str, Any]) -> Flow[None]:
        if self.identity is None:
            raise ValueError("This operation needs an identity: Client(base_url, identity)")
        owner = {"member_id": self.identity["id"], "sign_in_key": self.identity["sign_in_key"]}
        body = encode({**owner, **pending["next"]})
        yield from self.send(Operation("POST", "/api/v1/credentials", body, pending["key"]))

    def _rotate(self, pending: Mapping[str, Any], old: Optional[Mapping[str, Any]]) -> Flow[None]:
        following = pending["next"]
        operation = Operation(
            "POST", "/api/v1/me/credentials/rotate", encode(following), pending["key"], hasty=True
        )
        try:
            yield from self.send(operation, _constant(_bearer(old or following)))
        except ProblemError as error:
            if error.status != 401:
                raise
            # The rotation may have happened without an answer: then the new bearer gets its receipt.
            again = operation if "credential:manage" in following["scopes"] else Operation("GET", "/api/v1/me")
            yield from self.send(again, _constant(_bearer(following)))


def _bearer(credential: Mapping[str, Any]) -> str:
    return f"Bearer svc_{credential['credential_id']}.{credential['credential_secret']}"


def _constant(bearer: str) -> Authorize:
    def authorize() -> Flow[str]:
        return bearer
        yield  # a generator without a request

    return authorize


def _is_retried(error: ProblemError, operation: Operation) -> bool:
    # The write budget is new at midnight UTC; no retry waits that long.
    if error.code == "write_budget_exhausted" or (operation.hasty and error.status == 429):
        return False
    return error.status in RETRIED


def _problem_body(text: bytes) -> Mapping[str, Any]:
    """The body of a refusal. A proxy in between may answer with anything."""
    try:
        body = json.loads(text)
    except ValueError:
        return {"status": "unknown"}
    return body if isinstance(body, dict) and isinstance(body.get("status"), str) else {"status": "unknown"}
