"""Members, a moderator and what they make, so that a request can find what it asks for."""

import itertools
import os
import random
import re
import threading
import time
import uuid

import requests

BASE = os.environ["BASE_URL"]
SCOPES = os.environ["SCOPES"].split(",")
MODERATOR_TOKEN = os.environ["MODERATOR_TOKEN"]
# After the undo window, a lead undoes only what another lead decided.
DECIDER_TOKEN = os.environ["DECIDER_TOKEN"]
# No policy of this code is changed by the run: decisions name it.
POLICY = "property_tested"
CONSENT = {"visibility": "public", "publish_consent": True, "policy_version": "service-public-v1"}

numbers = random.Random(int(os.environ["SEED"]))
session = threading.local()


def new_id():
    return str(uuid.UUID(int=numbers.getrandbits(128), version=4))


def new_key():
    return f"{numbers.getrandbits(256):064x}"


def call(method, path, body=None, **headers):
    if not hasattr(session, "http"):
        session.http = requests.Session()
    headers = {"Origin": BASE, "Idempotency-Key": new_id(), **headers}
    for pause in (0.5, 1, 2, 4, 8, 0):
        answer = session.http.request(method, BASE + path, json=body, headers=headers, timeout=30)
        # A busy service refuses; the same request with the same key takes effect once.
        if answer.status_code != 503 or pause == 0:
            break
        time.sleep(pause)
    answer.raise_for_status()
    return answer


def post(path, body, **headers):
    return call("POST", path, body, **headers)


def new_handle():
    return f"m{numbers.getrandbits(60):x}"


class Member:
    """A registered member; its session and its bearer are made when they are first asked for."""

    def __init__(self, known=None):
        self.id, self.handle = new_id(), new_handle()
        self.sign_in_key, self.recovery_key = new_key(), new_key()
        self._bearer = self._cookie = None
        if known:
            self.id, self.handle, self.sign_in_key = known
        else:
            post("/api/membership/register", self.registration())

    def registration(self):
        names = ("id", "handle", "sign_in_key", "recovery_key")
        return {name: getattr(self, name) for name in names}

    def proof(self):
        return {"id": self.id, "sign_in_key": self.sign_in_key}

    def new_session(self):
        return post("/api/membership/login", self.proof()).cookies["__Host-ServiceSession"]

    def new_credential(self):
        credential = {
            "credential_id": new_id(),
            "credential_secret": new_key(),
            "scopes": SCOPES,
            "expires_at": int(time.time()) + 3600,
        }
        proof = {"member_id": self.id, "sign_in_key": self.sign_in_key}
        post("/api/v1/credentials", {**proof, **credential})
        return credential

    def new_bearer(self):
        credential = self.new_credential()
        return f"Bearer svc_{credential['credential_id']}.{credential['credential_secret']}"

    @property
    def bearer(self):
        self._bearer = self._bearer or self.new_bearer()
        return self._bearer

    def post(self, path, body):
        return post(path, body, Authorization=self.bearer).json()

    def get(self, path):
        return call("GET", path, Authorization=self.bearer).json()

    def new_note(self):
        self._cookie = self._cookie or self.new_session()
        note = {"id": new_id(), "message": "A note", "attribution": "member"}
        note["member_handle"] = self.handle
        post("/api/guestbook", note, Cookie=f"__Host-ServiceSession={self._cookie}")
        return note["id"]


CALLER = Member((os.environ["MEMBER_ID"], os.environ["MEMBER_HANDLE"], os.environ["MEMBER_SIGN_IN_KEY"]))
CALLER_BEARER = f"Bearer {os.environ['MEMBER_BEARER']}"
OTHER = Member()


def moderate(method, path, body=None, token=MODERATOR_TOKEN):
    bearer = f"Bearer {token}"
    return call(method, f"/api/moderation/{path}", body, Authorization=bearer).json()


def decide(note_id, version, action, **more):
    body = {"action": action, "expected_version": version, **more}
    return moderate("POST", f"notes/{note_id}/decisions", body)


def guest_note():
    note_id = new_id()
    post("/api/guestbook", {"id": note_id, "message": "A note"})
    return note_id


def approved_note():
    note_id = guest_note()
    decide(note_id, 1, "approve")
    return note_id


def rejected_note():
    """The caller's, who may appeal at once: the instance has no time to undo."""
    note_id = CALLER.new_note()
    decide(note_id, 1, "reject", policy=POLICY)
    return note_id


def disabled_member():
    member = Member()
    body = {"policy": POLICY, "message": None, "until": None}
    moderate("POST", f"members/{member.id}/disable", body)
    return member


def new_artifact(author):
    provenance = {"claim_type": "self_reported", "observed_at": None, "source_refs": []}
    packet = {
        "schema": "service.context-packet.v1",
        "kind": "brief",
        "title": "A packet",
        "summary": "What it is about",
        "reuse_terms": "CC0-1.0",
        "supersedes_id": None,
        "provenance": provenance,
        "content": {"body": "Words", "format": "text"},
    }
    return author.post("/api/v1/artifacts", {**packet, **CONSENT})["artifact"]["id"]


def publish_profile():
    words = {"display_name": "A tester", "summary": "Tests", "links": [], "capabilities": []}
    CALLER.post("/api/v1/me/profile", {**words, **CONSENT})
    return CALLER.id


def release_claims():
    """A member holds at most 25 cases: when there may be nearly as many, gives all of them back."""
    if len(claimable) < 20:
        return
    for claimant, case_id in claimable:
        case = claimant.get(f"/api/v1/cases/{case_id}")["case"]
        if case["state"] == "claimed":
            claimant.post(f"/api/v1/cases/{case_id}/release", {"expected_version": case["version"]})
    claimable.clear()


def new_case(author, *steps):
    """A case of the author's, after commands of others': `(who, path, body)`. Answers id and version."""
    release_claims()
    words = {"title": "A case", "summary": "Work", "objective": "An end", "acceptance_criteria": ["Done"]}
    case = author.post("/api/v1/cases", {**words, **CONSENT})["case"]
    claimable.append((OTHER if author is CALLER else CALLER, case["id"]))
    for who, path, body in steps:
        body = {"expected_version": case["version"], **body}
        case = who.post(f"/api/v1/cases/{case['id']}/{path}", body)["case"]
    return case["id"], case["version"]


def assets():
    """Names of the files that the pages load, by the folder that they stand in."""
    page = requests.get(BASE + "/", timeout=30).text
    return {kind: re.findall(rf"/assets/{kind}/([^\"]+)", page) for kind in ("scripts", "styles")}


CLAIM = ("claim", {})
SUBMIT = ("submissions", {"summary": "Done", **CONSENT})
ASSETS = assets()

moderate("PUT", "policies", {"code": POLICY, "title": "Tested", "text": "For tests", "active": True})
DECIDER = moderate("GET", "me", token=DECIDER_TOKEN)["moderator"]["id"]
APPROVED = [approved_note() for _ in range(5)]
ARTIFACT = new_artifact(OTHER)
turns = itertools.count()
# Who may have claimed a case, and its id.
claimable = []
