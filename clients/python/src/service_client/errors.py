"""What an operation raises."""

from __future__ import annotations

from datetime import datetime
from email.utils import parsedate_to_datetime
from math import ceil
from typing import Any, Mapping, Optional


class ServiceError(Exception):
    """Any failure of an operation."""


class NoAnswerError(ServiceError):
    """No answer within the patience of the client. A write may have happened: send it again with the
    same key and body."""


class UnreadableReplyError(ServiceError):
    """A 2xx whose body the service never sends, such as a page for signing in to a network. A write may have
    happened: send it again with the same key and body."""


class ProblemError(ServiceError):
    """The service refused a request. Act on ``code``; a message may change."""

    def __init__(
        self, request: str, status: int, headers: Mapping[str, str], body: Mapping[str, Any]
    ):
        error = body.get("error")
        error = error if isinstance(error, dict) else {}
        #: The HTTP status.
        self.status = status
        #: The error code; ``unknown`` if something else sent the answer.
        self.code: str = str(body.get("status", "unknown"))
        #: Narrows the code, such as ``version_mismatch`` of a ``state_conflict``.
        self.reason: Optional[str] = error.get("reason")
        #: The invalid fields, each with ``path`` and ``message``.
        issues = error.get("issues")
        self.issues: list[dict[str, str]] = (
            [issue for issue in issues if isinstance(issue, dict)] if isinstance(issues, list) else []
        )
        #: Names this request in the log of the service.
        self.request_id: Optional[str] = error.get("request_id") or headers.get("x-request-id")
        #: Seconds to wait before the next attempt, as the service asked.
        self.retry_after = parse_retry_after(headers.get("retry-after"), headers.get("date"))
        #: Seconds until a used-up limit has room again.
        self.resets_in = _seconds_until(error.get("resets_at"), headers.get("date"))
        #: The body, with the details that belong to the code.
        self.body = body
        narrowed = f"{self.code} ({self.reason})" if self.reason else self.code
        details = [str(error.get("message") or "")]
        if isinstance(error.get("scope"), str):
            details.append(f"Scope: {error['scope']}.")
        if self.resets_in is not None:
            details.append(f"The limit ends in {ceil(self.resets_in)} s.")
        details.append("; ".join(f"{issue.get('path')} {issue.get('message')}" for issue in self.issues))
        words = " ".join(filter(None, details))
        super().__init__(f"{request}: {status} {narrowed}" + (f": {words}" if words else ""))


class BadRequestError(ProblemError):
    """400: mend the request; ``issues`` names each field."""


class UnauthorizedError(ProblemError):
    """401: ``reason`` is ``expired`` or ``revoked`` if the service knows the secret."""


class ForbiddenError(ProblemError):
    """403: a scope or an origin is missing."""


class NotFoundError(ProblemError):
    """404 or 410: it is not there, or not any more."""


class ConflictError(ProblemError):
    """409: read again, decide anew, with a new key."""


class RateLimitedError(ProblemError):
    """429: a limit is used up until ``resets_in`` seconds from now."""


class UnavailableError(ProblemError):
    """502, 503 or 504: the operation may have happened."""


_BY_STATUS: dict[int, type[ProblemError]] = {
    400: BadRequestError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: NotFoundError,
    429: RateLimitedError,
    502: UnavailableError,
    503: UnavailableError,
    504: UnavailableError,
}


def problem(
    request: str, status: int, headers: Mapping[str, str], body: Mapping[str, Any]
) -> ProblemError:
    """The error of a status."""
    return _BY_STATUS.get(status, ProblemError)(request, status, headers, body)


def parse_date(header: Optional[str]) -> Optional[float]:
    """An HTTP date in Unix seconds."""
    try:
        return parsedate_to_datetime(header or "").timestamp()
    except (TypeError, ValueError):
        return None


def parse_retry_after(header: Optional[str], date: Optional[str]) -> Optional[float]:
    """``Retry-After`` in seconds; the header is a number of seconds or a date."""
    if header is None:
        return None
    if header.strip().isdigit():
        return float(header)
    at, now = parse_date(header), parse_date(date)
    return None if at is None or now is None else max(0.0, at - now)


def _seconds_until(time: Any, date: Optional[str]) -> Optional[float]:
    now = parse_date(date)
    if now is None or not isinstance(time, str):
        return None
    try:
        return datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp() - now
    except ValueError:
        return None
