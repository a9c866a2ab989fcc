"""Where a client keeps its keys, its credential and its unanswered requests."""

from __future__ import annotations

import json
import os
import secrets
import threading
import uuid
from pathlib import Path
from typing import Any, Optional, Protocol, TypedDict, Union

try:  # Windows has no fcntl; there a folder belongs to one process.
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]


class Identity(TypedDict):
    """A member's id, handle and keys. The account is lost when both keys are lost."""

    id: str
    handle: str
    sign_in_key: str
    recovery_key: str


def new_key() -> str:
    """32 random bytes as 64 lowercase hexadecimal digits."""
    return secrets.token_hex(32)


def new_identity(handle: str) -> Identity:
    """Makes an identity. Save it before you register, so that the registration can be repeated."""
    return {
        "id": str(uuid.uuid4()),
        "handle": handle,
        "sign_in_key": new_key(),
        "recovery_key": new_key(),
    }


Session = dict[str, Any]


class Store(Protocol):
    """Keeps the session of one client: its credential, and requests that may have had no answer.

    ``save`` returns when the session would survive the end of the process. ``try_lock`` and ``unlock``
    exclude every other user of the same session.
    """

    @property
    def durable(self) -> bool: ...
    def load(self) -> Session: ...
    def save(self, session: Session) -> None: ...
    def try_lock(self) -> bool: ...
    def unlock(self) -> None: ...


class MemoryStore:
    """Keeps a session in memory, for one process."""

    durable = False

    def __init__(self) -> None:
        self._session: Session = {}
        self._lock = threading.Lock()

    def load(self) -> Session:
        return self._session

    def save(self, session: Session) -> None:
        self._session = session

    def try_lock(self) -> bool:
        return self._lock.acquire(blocking=False)

    def unlock(self) -> None:
        self._lock.release()


class FileStore:
    """Keeps identity and session in a folder that only its owner can read (0700, files 0600).

    Several processes and threads may share the folder: they take turns by a lock on a file, which ends
    with its process.
    """

    durable = True

    def __init__(self, path: Union[str, Path]) -> None:
        self.path = Path(path)
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._locked: Optional[int] = None
        self._inner = threading.Lock()

    def identity(self, handle: str) -> Identity:
        """The identity in the folder, which the first call makes with this handle."""
        known = self._read("identity.json")
        if known is None:
            # Of two processes that begin together, one links its file and the other reads it.
            made = self._write_new(json.dumps(new_identity(handle)))
            try:
                os.link(made, self.path / "identity.json")
            except FileExistsError:
                pass
            os.unlink(made)
            self._sync_folder()
            known = self._read("identity.json")
        assert known is not None
        return known  # type: ignore[return-value]

    def load(self) -> Session:
        return self._read("session.json") or {}

    def save(self, session: Session) -> None:
        os.replace(self._write_new(json.dumps(session)), self.path / "session.json")
        self._sync_folder()

    def try_lock(self) -> bool:
        if not self._inner.acquire(blocking=False):
            return False
        try:
            file = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except BaseException:
            # Where the folder cannot be written, the next call must have the error too, and not wait for this one.
            self._inner.release()
            raise
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            self._inner.release()
            return False
        self._locked = file
        return True

    def unlock(self) -> None:
        file, self._locked = self._locked, None
        if file is not None:
            os.close(file)
        self._inner.release()

    def _read(self, name: str) -> Optional[dict[str, Any]]:
        try:
            value = json.loads((self.path / name).read_text("utf-8"))
        except FileNotFoundError:
            return None
        return value if isinstance(value, dict) else None

    def _write_new(self, text: str) -> Path:
        path = self.path / f"new-{uuid.uuid4()}"
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(file, "w", encoding="utf-8") as opened:
                opened.write(text)
                opened.flush()
                os.fsync(opened.fileno())
        except BaseException:
            os.unlink(path)
            raise
        return path

    def _sync_folder(self) -> None:
        folder = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
