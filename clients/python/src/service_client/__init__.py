"""A reliable client of the membership, guestbook and discovery service."""

from . import models
from ._async_client import AsyncClient
from ._base import Call
from ._client import VERSION as __version__
from ._client import Client
from ._core import Reply
from ._resources import CONSENT
from ._updates import Reset
from .errors import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    NoAnswerError,
    NotFoundError,
    ProblemError,
    RateLimitedError,
    ServiceError,
    UnauthorizedError,
    UnavailableError,
    UnreadableReplyError,
)
from .store import FileStore, Identity, MemoryStore, Store, new_identity, new_key

__all__ = [
    "CONSENT",
    "AsyncClient",
    "BadRequestError",
    "Call",
    "Client",
    "ConflictError",
    "FileStore",
    "ForbiddenError",
    "Identity",
    "MemoryStore",
    "NoAnswerError",
    "NotFoundError",
    "ProblemError",
    "RateLimitedError",
    "Reply",
    "Reset",
    "ServiceError",
    "Store",
    "UnauthorizedError",
    "UnavailableError",
    "UnreadableReplyError",
    "__version__",
    "models",
    "new_identity",
    "new_key",
]
