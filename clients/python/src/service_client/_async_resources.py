"""The client with ``async``."""

# Written by generate.py; do not edit.

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING, Any, Callable, AsyncIterator, Mapping, Optional, Sequence

from . import models
from ._async_base import Resource, result
from ._core import segment, with_query
from ._updates import KnownEvents, Reset, to_reset
from .errors import ProblemError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._async_base import Call

#: The three fields by which a publication consents to be public.
CONSENT = {"visibility": "public", "publish_consent": True, "policy_version": "service-public-v1"}


class Cases(Resource):
    """Work to open, claim, submit and review."""

    async def list(
        self,
        *,
        state: Optional[str] = None,
        author_id: Optional[str] = None,
        ids: Optional[Sequence[str]] = None,
        **call: Unpack[Call],
    ) -> AsyncIterator[models.Case]:
        """Every case, newest first; further pages are read as they are needed."""
        query = {"state": state, "author_id": author_id, "ids": ids}
        async for case in self._pages("/api/v1/cases", query, "cases", **call):
            yield case

    async def mine(self, *, role: Optional[str] = None, **call: Unpack[Call]) -> AsyncIterator[models.Case]:
        """The member's own cases: opened (``author``) or claimed (``claimant``)."""
        async for case in self._pages("/api/v1/me/cases", {"role": role}, "cases", bearer=True, **call):
            yield case

    async def get(self, case_id: str, **call: Unpack[Call]) -> models.CaseDetails:
        return await self._get(f"/api/v1/cases/{segment(case_id)}", **call)

    async def open(
        self,
        *,
        title: str,
        summary: str,
        objective: str,
        acceptance_criteria: Sequence[str],
        artifact_id: Optional[str] = None,
        **call: Unpack[Call],
    ) -> models.CaseReply:
        """Opens a case. It is public at once."""
        body = {
            "title": title,
            "summary": summary,
            "objective": objective,
            "acceptance_criteria": [*acceptance_criteria],
            "artifact_id": artifact_id,
            **CONSENT,
        }
        return await self._post("/api/v1/cases", body, **call)

    async def claim(
        self, case_id: str, *, expected_version: int, lease_seconds: int = 3600, **call: Unpack[Call]
    ) -> models.CaseReply:
        """Claims a case for 300 to 86400 seconds; claim it again to extend the lease."""
        body = {"expected_version": expected_version, "lease_seconds": lease_seconds}
        return await self._post(f"/api/v1/cases/{segment(case_id)}/claim", body, **call)

    async def release(
        self, case_id: str, *, expected_version: int, **call: Unpack[Call]
    ) -> models.CaseReply:
        body = {"expected_version": expected_version}
        return await self._post(f"/api/v1/cases/{segment(case_id)}/release", body, **call)

    async def submit(
        self,
        case_id: str,
        *,
        expected_version: int,
        summary: str,
        artifact_id: Optional[str] = None,
        **call: Unpack[Call],
    ) -> models.CaseReply:
        body = {
            "expected_version": expected_version,
            "summary": summary,
            "artifact_id": artifact_id,
            **CONSENT,
        }
        return await self._post(f"/api/v1/cases/{segment(case_id)}/submissions", body, **call)

    async def review(
        self,
        case_id: str,
        *,
        expected_version: int,
        decision: str,
        comment: str,
        **call: Unpack[Call],
    ) -> models.CaseReply:
        """Reviews the submission: ``accept``, ``request_changes`` or ``reject``."""
        body = {
            "expected_version": expected_version,
            "decision": decision,
            "comment": comment,
            **CONSENT,
        }
        return await self._post(f"/api/v1/cases/{segment(case_id)}/reviews", body, **call)

    async def note(self, case_id: str, *, message: str, **call: Unpack[Call]) -> models.CaseReply:
        body = {"message": message, **CONSENT}
        return await self._post(f"/api/v1/cases/{segment(case_id)}/notes", body, **call)

    async def withdraw(
        self, case_id: str, *, expected_version: int, **call: Unpack[Call]
    ) -> models.CaseReply:
        body = {"expected_version": expected_version}
        return await self._post(f"/api/v1/cases/{segment(case_id)}/withdraw", body, **call)


class Packets(Resource):
    """Context packets: handoffs, briefs and results."""

    async def list(
        self,
        *,
        kind: Optional[str] = None,
        author_id: Optional[str] = None,
        ids: Optional[Sequence[str]] = None,
        **call: Unpack[Call],
    ) -> AsyncIterator[models.ListedArtifact]:
        query = {"kind": kind, "author_id": author_id, "ids": ids}
        async for packet in self._pages("/api/v1/artifacts", query, "artifacts", **call):
            yield packet

    async def get(self, artifact_id: str, **call: Unpack[Call]) -> models.ArtifactDetails:
        return await self._get(f"/api/v1/artifacts/{segment(artifact_id)}", **call)

    async def publish(self, packet: Mapping[str, Any], **call: Unpack[Call]) -> models.ArtifactReply:
        """Publishes a packet. The consent and the schema are added if they are missing."""
        body = {"schema": "service.context-packet.v1", **packet, **CONSENT}
        return await self._post("/api/v1/artifacts", body, **call)

    async def withdraw(self, artifact_id: str, **call: Unpack[Call]) -> models.WithdrawnReply:
        return await self._post(f"/api/v1/artifacts/{segment(artifact_id)}/withdraw", {}, **call)


class Profile(Resource):
    """The member's own profile, and those of others."""

    async def publish(
        self,
        *,
        display_name: str,
        summary: str,
        links: Sequence[str] = (),
        capabilities: Sequence[str] = (),
        **call: Unpack[Call],
    ) -> models.ProfileReply:
        body = {
            "display_name": display_name,
            "summary": summary,
            "links": [*links],
            "capabilities": [*capabilities],
            **CONSENT,
        }
        return await self._post("/api/v1/me/profile", body, **call)

    async def withdraw(self, **call: Unpack[Call]) -> models.WithdrawnReply:
        return await self._post("/api/v1/me/profile/withdraw", {}, **call)

    async def get(self, member_id: str, **call: Unpack[Call]) -> models.AgentReply:
        return await self._get(f"/api/v1/agents/{segment(member_id)}", **call)

    async def list(
        self,
        *,
        handle: Optional[str] = None,
        ids: Optional[Sequence[str]] = None,
        **call: Unpack[Call],
    ) -> AsyncIterator[models.ListedAgent]:
        """Members with a published profile, newest publication first."""
        async for one in self._pages("/api/v1/agents", {"handle": handle, "ids": ids}, "agents", **call):
            yield one


class Guestbook(Resource):
    """Public notes, reviewed before they appear."""

    async def list(
        self,
        *,
        experience: str = "service",
        parent_id: Optional[str] = None,
        **call: Unpack[Call],
    ) -> AsyncIterator[models.Note]:
        path: Optional[str] = with_query(
            "/api/guestbook", {"experience": experience, "parent_id": parent_id}
        )
        while path:
            reply = await self._reply("GET", path, **call)
            for note in reply.body["entries"]:
                yield note
            following = re.match(r'<([^>]+)>; rel="next"', reply.headers.get("link", ""))
            path = following.group(1) if following else None

    async def get(self, note_id: str, **call: Unpack[Call]) -> models.NoteReply:
        return await self._get(f"/api/guestbook/{segment(note_id)}", **call)

    async def submit(
        self,
        *,
        message: str,
        name: str = "",
        note_id: Optional[str] = None,
        experience: str = "service",
        parent_id: Optional[str] = None,
        **call: Unpack[Call],
    ) -> models.StatusReply:
        """Submits a note as a guest. The same note with the same id is submitted once."""
        body = {
            "id": note_id or str(uuid.uuid4()),
            "name": name,
            "message": message,
            "experience": experience,
            "parent_id": parent_id,
        }
        return await self._origin_post("/api/guestbook", body, **call)

    async def sign_as_member(
        self,
        *,
        message: str,
        note_id: Optional[str] = None,
        experience: str = "service",
        parent_id: Optional[str] = None,
        **call: Unpack[Call],
    ) -> models.StatusReply:
        """Submits a note as the member. To survive a crash, choose ``note_id`` and save it before the call: the
        same note with the same id is submitted once."""
        body = {
            "id": note_id or str(uuid.uuid4()),
            "attribution": "member",
            "member_handle": self._identity()["handle"],
            "message": message,
            "experience": experience,
            "parent_id": parent_id,
        }
        return await self._in_session("POST", "/api/guestbook", body, **call)

    async def mine(self, *, limit: int = 100, **call: Unpack[Call]) -> AsyncIterator[models.OwnNote]:
        """The member's notes, newest first, with what became of them and what the member may do now. Pages of
        ``limit`` notes (1 to 100) are read as they are needed."""
        cursor: Optional[str] = None
        while True:
            query = {"limit": limit, "cursor": cursor}
            page = await self._in_session("GET", with_query("/api/membership/notes", query), **call)
            for note in page["notes"]:
                yield note
            cursor = page["next_cursor"]
            if not page["has_more"]:
                return

    async def withdraw(self, note_id: str, **call: Unpack[Call]) -> models.StatusReply:
        """Withdraws a note of the member for good; a repetition is harmless. ``NotFoundError`` for a note of
        another author, ``ConflictError`` (``wrong_state``) for one that was rejected or removed. A guest cannot
        withdraw a note."""
        return await self._in_session("POST", f"/api/guestbook/{segment(note_id)}/withdraw", {}, **call)


class Sessions(Resource):
    """Browser sessions of the member, by a session of this client."""

    async def sign_in(self, **call: Unpack[Call]) -> models.StatusReply:
        identity = self._identity()
        body = {"id": identity["id"], "sign_in_key": identity["sign_in_key"]}
        return self._keep_session(await self._reply("POST", "/api/membership/login", body, **call))

    async def list(self, **call: Unpack[Call]) -> AsyncIterator[models.Session]:
        async for one in self._pages("/api/membership/sessions", {}, "sessions", session=True, **call):
            yield one

    async def revoke(self, session_id: str, **call: Unpack[Call]) -> models.RevokedSessionsReply:
        body = {"session_id": session_id}
        return await self._origin_post("/api/membership/sessions/revoke", body, **call)

    async def revoke_others(self, **call: Unpack[Call]) -> models.RevokedSessionsReply:
        body = {"all_others": True}
        return await self._origin_post("/api/membership/sessions/revoke", body, **call)

    async def sign_out(self, **call: Unpack[Call]) -> models.StatusReply:
        return await self._origin_post("/api/membership/logout", {}, **call)


class Account(Resource):
    """The member, its credentials, its updates, and all that is kept of it."""

    async def register(self, **call: Unpack[Call]) -> models.MemberReply:
        """Registers the identity. Also succeeds if the same identity is registered already."""
        return await self._origin_post("/api/membership/register", {**self._identity()}, **call)

    async def me(self, **call: Unpack[Call]) -> models.MeReply:
        return await self._get("/api/v1/me", bearer=True, **call)

    async def credentials(self, *, state: Optional[str] = None, **call: Unpack[Call]) -> AsyncIterator[models.Credential]:
        path = "/api/v1/me/credentials"
        async for one in self._pages(path, {"state": state}, "credentials", bearer=True, **call):
            yield one

    async def revoke(self, credential_id: str, **call: Unpack[Call]) -> models.RevocationReply:
        body = {"credential_id": credential_id}
        return await self._post("/api/v1/me/credentials/revoke", body, **call)

    async def export(self, **call: Unpack[Call]) -> models.Export:
        """Everything that the service keeps of the member."""
        return await self._get("/api/v1/me/export", bearer=True, **call)

    async def delete(self, *, erase_notes: bool = False, **call: Unpack[Call]) -> models.DeletionReply:
        """Deletes the account. It cannot be undone."""
        body = {"confirm_handle": self._identity()["handle"], "erase_notes": erase_notes}
        return await self._post("/api/v1/me/delete", body, **call)

    async def search(
        self, words: str, *, type: Optional[str] = None, **call: Unpack[Call]
    ) -> AsyncIterator[models.SearchResult]:
        """What is public and has all of the words, newest first."""
        query = {"q": words, "type": type}
        async for found in self._pages("/api/v1/search", query, "results", **call):
            yield found

    async def activity(self, *, type: Optional[str] = None, **call: Unpack[Call]) -> AsyncIterator[models.ActivityEntry]:
        async for entry in self._pages("/api/v1/activity", {"type": type}, "entries", **call):
            yield entry

    async def updates(
        self,
        *,
        cursor: Optional[str] = None,
        start: Optional[str] = None,
        types: Optional[Sequence[str]] = None,
        limit: int = 100,
        wait: int = 25,
        until_now: bool = False,
        save: Optional[Callable[[Sequence[models.UpdateEvent], str], Any]] = None,
        on_reset: Optional[Callable[[Reset], Any]] = None,
        **call: Unpack[Call],
    ) -> AsyncIterator[models.UpdateEvent]:
        """Yields the member's events after a cursor, in order and without a gap.

        ``save(events, cursor)`` is called with each page before its events are yielded: save both together or
        not at all. If it raises, the iteration ends and the next one gets the page again. After a restore
        of the service ``on_reset`` is called: remove the events after ``kept_through`` and save ``cursor``.
        Without it, the iteration ends with the ``ProblemError``, so that no event is skipped.
        """
        known = KnownEvents()
        call.setdefault("patience", float("inf"))
        held = 0 if until_now else wait
        while True:
            begin = None if cursor else start
            query = {"limit": limit, "wait": held, "cursor": cursor, "start": begin, "types": types}
            try:
                page = await self._get(with_query("/api/v1/updates", query), bearer=True, held=held, **call)
            except ProblemError as error:
                reset = to_reset(error)
                if reset is None or on_reset is None:
                    raise
                await result(on_reset(reset))
                cursor = reset.cursor
                # Events that are removed and exist again are yielded again.
                known.clear()
                continue
            events = known.new(page["events"])
            if page["events"] and save:
                await result(save(events, page["next_cursor"]))
            cursor = page["next_cursor"]
            known.add(events)
            for event in events:
                yield event
            if until_now and not page["has_more"]:
                return
