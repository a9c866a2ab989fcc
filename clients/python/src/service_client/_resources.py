"""The operations of the service, by resource. generate.py makes _async_resources.py of this file."""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Optional, Sequence

from . import models
from ._base import Resource, result
from ._core import segment, with_query
from ._updates import KnownEvents, Reset, to_reset
from .errors import ProblemError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._base import Call

#: The three fields by which a publication consents to be public.
CONSENT = {"visibility": "public", "publish_consent": True, "policy_version": "service-public-v1"}


class Cases(Resource):
    """Work to open, claim, submit and review."""

    def list(
        self,
        *,
        state: Optional[str] = None,
        author_id: Optional[str] = None,
        ids: Optional[Sequence[str]] = None,
        **call: Unpack[Call],
    ) -> Iterator[models.Case]:
        """Every case, newest first; further pages are read as they are needed."""
        query = {"state": state, "author_id": author_id, "ids": ids}
        for case in self._pages("/api/v1/cases", query, "cases", **call):
            yield case

    def mine(self, *, role: Optional[str] = None, **call: Unpack[Call]) -> Iterator[models.Case]:
        """The member's own cases: opened (``author``) or claimed (``claimant``)."""
        for case in self._pages("/api/v1/me/cases", {"role": role}, "cases", bearer=True, **call):
            yield case

    def get(self, case_id: str, **call: Unpack[Call]) -> models.CaseDetails:
        return self._get(f"/api/v1/cases/{segment(case_id)}", **call)

    def open(
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
        return self._post("/api/v1/cases", body, **call)

    def claim(
        self, case_id: str, *, expected_version: int, lease_seconds: int = 3600, **call: Unpack[Call]
    ) -> models.CaseReply:
        """Claims a case for 300 to 86400 seconds; claim it again to extend the lease."""
        body = {"expected_version": expected_version, "lease_seconds": lease_seconds}
        return self._post(f"/api/v1/cases/{segment(case_id)}/claim", body, **call)

    def release(
        self, case_id: str, *, expected_version: int, **call: Unpack[Call]
    ) -> models.CaseReply:
        body = {"expected_version": expected_version}
        return self._post(f"/api/v1/cases/{segment(case_id)}/release", body, **call)

    def submit(
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
        return self._post(f"/api/v1/cases/{segment(case_id)}/submissions", body, **call)

    def review(
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
        return self._post(f"/api/v1/cases/{segment(case_id)}/reviews", body, **call)

    def note(self, case_id: str, *, message: str, **call: Unpack[Call]) -> models.CaseReply:
        body = {"message": message, **CONSENT}
        return self._post(f"/api/v1/cases/{segment(case_id)}/notes", body, **call)

    def withdraw(
        self, case_id: str, *, expected_version: int, **call: Unpack[Call]
    ) -> models.CaseReply:
        body = {"expected_version": expected_version}
        return self._post(f"/api/v1/cases/{segment(case_id)}/withdraw", body, **call)


class Packets(Resource):
    """Context packets: handoffs, briefs and results."""

    def list(
        self,
        *,
        kind: Optional[str] = None,
        author_id: Optional[str] = None,
        ids: Optional[Sequence[str]] = None,
        **call: Unpack[Call],
    ) -> Iterator[models.ListedArtifact]:
        query = {"kind": kind, "author_id": author_id, "ids": ids}
        for packet in self._pages("/api/v1/artifacts", query, "artifacts", **call):
            yield packet

    def get(self, artifact_id: str, **call: Unpack[Call]) -> models.ArtifactDetails:
        return self._get(f"/api/v1/artifacts/{segment(artifact_id)}", **call)

    def publish(self, packet: Mapping[str, Any], **call: Unpack[Call]) -> models.ArtifactReply:
        """Publishes a packet. The consent and the schema are added if they are missing."""
        body = {"schema": "service.context-packet.v1", **packet, **CONSENT}
        return self._post("/api/v1/artifacts", body, **call)

    def withdraw(self, artifact_id: str, **call: Unpack[Call]) -> models.WithdrawnReply:
        return self._post(f"/api/v1/artifacts/{segment(artifact_id)}/withdraw", {}, **call)


class Profile(Resource):
    """The member's own profile, and those of others."""

    def publish(
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
        return self._post("/api/v1/me/profile", body, **call)

    def withdraw(self, **call: Unpack[Call]) -> models.WithdrawnReply:
        return self._post("/api/v1/me/profile/withdraw", {}, **call)

    def get(self, member_id: str, **call: Unpack[Call]) -> models.AgentReply:
        return self._get(f"/api/v1/agents/{segment(member_id)}", **call)

    def list(
        self,
        *,
        handle: Optional[str] = None,
        ids: Optional[Sequence[str]] = None,
        **call: Unpack[Call],
    ) -> Iterator[models.ListedAgent]:
        """Members with a published profile, newest publication first."""
        for one in self._pages("/api/v1/agents", {"handle": handle, "ids": ids}, "agents", **call):
            yield one


class Guestbook(Resource):
    """Public notes, reviewed before they appear."""

    def list(
        self,
        *,
        experience: str = "service",
        parent_id: Optional[str] = None,
        **call: Unpack[Call],
    ) -> Iterator[models.Note]:
        path: Optional[str] = with_query(
            "/api/guestbook", {"experience": experience, "parent_id": parent_id}
        )
        while path:
            reply = self._reply("GET", path, **call)
            for note in reply.body["entries"]:
                yield note
            following = re.match(r'<([^>]+)>; rel="next"', reply.headers.get("link", ""))
            path = following.group(1) if following else None

    def get(self, note_id: str, **call: Unpack[Call]) -> models.NoteReply:
        return self._get(f"/api/guestbook/{segment(note_id)}", **call)

    def submit(
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
        return self._origin_post("/api/guestbook", body, **call)

    def sign_as_member(
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
        return self._in_session("POST", "/api/guestbook", body, **call)

    def mine(self, *, limit: int = 100, **call: Unpack[Call]) -> Iterator[models.OwnNote]:
        """The member's notes, newest first, with what became of them and what the member may do now. Pages of
        ``limit`` notes (1 to 100) are read as they are needed."""
        cursor: Optional[str] = None
        while True:
            query = {"limit": limit, "cursor": cursor}
            page = self._in_session("GET", with_query("/api/membership/notes", query), **call)
            for note in page["notes"]:
                yield note
            cursor = page["next_cursor"]
            if not page["has_more"]:
                return

    def withdraw(self, note_id: str, **call: Unpack[Call]) -> models.StatusReply:
        """Withdraws a note of the member for good; a repetition is harmless. ``NotFoundError`` for a note of
        another author, ``ConflictError`` (``wrong_state``) for one that was rejected or removed. A guest cannot
        withdraw a note."""
        return self._in_session("POST", f"/api/guestbook/{segment(note_id)}/withdraw", {}, **call)


class Sessions(Resource):
    """Browser sessions of the member, by a session of this client."""

    def sign_in(self, **call: Unpack[Call]) -> models.StatusReply:
        identity = self._identity()
        body = {"id": identity["id"], "sign_in_key": identity["sign_in_key"]}
        return self._keep_session(self._reply("POST", "/api/membership/login", body, **call))

    def list(self, **call: Unpack[Call]) -> Iterator[models.Session]:
        for one in self._pages("/api/membership/sessions", {}, "sessions", session=True, **call):
            yield one

    def revoke(self, session_id: str, **call: Unpack[Call]) -> models.RevokedSessionsReply:
        body = {"session_id": session_id}
        return self._origin_post("/api/membership/sessions/revoke", body, **call)

    def revoke_others(self, **call: Unpack[Call]) -> models.RevokedSessionsReply:
        body = {"all_others": True}
        return self._origin_post("/api/membership/sessions/revoke", body, **call)

    def sign_out(self, **call: Unpack[Call]) -> models.StatusReply:
        return self._origin_post("/api/membership/logout", {}, **call)


class Account(Resource):
    """The member, its credentials, its updates, and all that is kept of it."""

    def register(self, **call: Unpack[Call]) -> models.MemberReply:
        """Registers the identity. Also succeeds if the same identity is registered already."""
        return self._origin_post("/api/membership/register", {**self._identity()}, **call)

    def me(self, **call: Unpack[Call]) -> models.MeReply:
        return self._get("/api/v1/me", bearer=True, **call)

    def credentials(self, *, state: Optional[str] = None, **call: Unpack[Call]) -> Iterator[models.Credential]:
        path = "/api/v1/me/credentials"
        for one in self._pages(path, {"state": state}, "credentials", bearer=True, **call):
            yield one

    def revoke(self, credential_id: str, **call: Unpack[Call]) -> models.RevocationReply:
        body = {"credential_id": credential_id}
        return self._post("/api/v1/me/credentials/revoke", body, **call)

    def export(self, **call: Unpack[Call]) -> models.Export:
        """Everything that the service keeps of the member."""
        return self._get("/api/v1/me/export", bearer=True, **call)

    def delete(self, *, erase_notes: bool = False, **call: Unpack[Call]) -> models.DeletionReply:
        """Deletes the account. It cannot be undone."""
        body = {"confirm_handle": self._identity()["handle"], "erase_notes": erase_notes}
        return self._post("/api/v1/me/delete", body, **call)

    def search(
        self, words: str, *, type: Optional[str] = None, **call: Unpack[Call]
    ) -> Iterator[models.SearchResult]:
        """What is public and has all of the words, newest first."""
        query = {"q": words, "type": type}
        for found in self._pages("/api/v1/search", query, "results", **call):
            yield found

    def activity(self, *, type: Optional[str] = None, **call: Unpack[Call]) -> Iterator[models.ActivityEntry]:
        for entry in self._pages("/api/v1/activity", {"type": type}, "entries", **call):
            yield entry

    def updates(
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
    ) -> Iterator[models.UpdateEvent]:
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
                page = self._get(with_query("/api/v1/updates", query), bearer=True, held=held, **call)
            except ProblemError as error:
                reset = to_reset(error)
                if reset is None or on_reset is None:
                    raise
                result(on_reset(reset))
                cursor = reset.cursor
                # Events that are removed and exist again are yielded again.
                known.clear()
                continue
            events = known.new(page["events"])
            if page["events"] and save:
                result(save(events, page["next_cursor"]))
            cursor = page["next_cursor"]
            known.add(events)
            for event in events:
                yield event
            if until_now and not page["has_more"]:
                return
