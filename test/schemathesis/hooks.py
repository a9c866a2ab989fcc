"""What a JSON schema cannot say of a request, told to schemathesis: the hour, and who may do what.

No answer is judged here and no check is changed or left out. Requests that are meant to be right are
made so that they can succeed (a time that has not passed, a cursor that was given, proof that is
right, a thing that is there), and what ends a credential or a session ends one of its own, so that
the others live on to the end of the run.
"""

import os
import secrets
import time
import uuid

import requests
import schemathesis

BASE = os.environ["BASE_URL"]
SCOPES = os.environ["SCOPES"].split(",")
MODERATOR_TOKEN = os.environ["MODERATOR_TOKEN"]
MEMBER = {"id": os.environ["MEMBER_ID"], "sign_in_key": os.environ["MEMBER_SIGN_IN_KEY"]}

cursors: dict[str, str] = {}
# Ids by the parameter of a path that takes them.
things: dict[str, list[str]] = {"member_id": [MEMBER["id"]]}


def post(path, body, **headers):
    answer = requests.post(BASE + path, json=body, headers={"Origin": BASE, **headers}, timeout=30)
    answer.raise_for_status()
    return answer


def new_member():
    member = {
        "id": str(uuid.uuid4()),
        "handle": "m" + secrets.token_hex(8),
        "sign_in_key": secrets.token_hex(32),
        "recovery_key": secrets.token_hex(32),
    }
    post("/api/membership/register", member)
    return member


def new_bearer(member):
    credential = {
        "credential_id": str(uuid.uuid4()),
        "credential_secret": secrets.token_hex(32),
        "scopes": SCOPES,
        "expires_at": int(time.time()) + 3600,
    }
    proof = {"member_id": member["id"], "sign_in_key": member["sign_in_key"]}
    post("/api/v1/credentials", {**proof, **credential}, **{"Idempotency-Key": str(uuid.uuid4())})
    return f"Bearer svc_{credential['credential_id']}.{credential['credential_secret']}"


def operation_of(case):
    return case.operation.definition.raw.get("operationId")


def is_positive(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


@schemathesis.hook
def before_call(context, case, kwargs):
    operation = operation_of(case)
    own_session(operation, case)
    if not is_positive(case):
        return
    if isinstance(case.query, dict):
        possible_query(operation, case.query)
    if isinstance(case.body, dict):
        possible_body(operation, case)
    for name, value in (case.path_parameters or {}).items():
        known = things.get(name)
        # Every second id is of something that is there.
        if known and isinstance(value, str) and secrets.randbelow(2):
            case.path_parameters[name] = secrets.choice(known)


def own_session(operation, case):
    if operation == "membership.logout" and "__Host-ServiceSession" in (case.cookies or {}):
        made = post("/api/membership/login", MEMBER)
        case.cookies["__Host-ServiceSession"] = made.cookies["__Host-ServiceSession"]
    if operation == "moderation.sign_out" and "__Host-ServiceModerator" in (case.cookies or {}):
        made = post("/api/moderation/session", {"token": MODERATOR_TOKEN})
        case.cookies["__Host-ServiceModerator"] = made.cookies["__Host-ServiceModerator"]


def possible_query(operation, query):
    for name in ("cursor", "before"):
        if name in query:
            if operation in cursors:
                query[name] = cursors[operation]
            else:
                del query[name]
    # To be held for 25 seconds, request by request, would only use up the time of the run.
    if "wait" in query and str(query["wait"]).isdigit():
        query["wait"] = min(int(query["wait"]), 1)
    # A range that ends before it begins, in the future, or after more than 92 days.
    if operation == "moderation.stats":
        for name in ("from", "to"):
            if name in query:
                query[name] = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 86400 * (4 if name == "from" else 2)))


def possible_body(operation, case):
    body = case.body
    if "expires_at" in body:
        body["expires_at"] = int(time.time()) + 120 + int(body["expires_at"]) % 80_000
    # Keys that have to differ are not made equal.
    for one, other in (("sign_in_key", "recovery_key"), ("new_sign_in_key", "new_recovery_key")):
        if one in body and body[one] == body.get(other):
            body[one] = secrets.token_hex(32)
    # No note twice in a batch, whatever its version.
    if isinstance(body.get("items"), list):
        body["items"] = list({item["note_id"].lower(): item for item in body["items"]}.values())
    if operation == "credential.bootstrap":
        body.update(member_id=MEMBER["id"], sign_in_key=MEMBER["sign_in_key"])
    elif operation == "membership.login":
        body.update(MEMBER)
    elif operation == "membership.recover":
        member = new_member()
        body.update(id=member["id"], recovery_key=member["recovery_key"])
    elif operation == "moderation.sign_in":
        body["token"] = MODERATOR_TOKEN
    elif operation == "account.delete":
        member = new_member()
        body["confirm_handle"] = member["handle"]
        case.headers["Authorization"] = new_bearer(member)
    elif operation == "credential.rotate":
        case.headers["Authorization"] = new_bearer(MEMBER)


@schemathesis.hook
def after_call(context, case, response):
    kind = response.headers.get("content-type", [""])[0]
    if response.status_code >= 300 or "application/json" not in kind:
        return
    body = response.json()
    if not isinstance(body, dict):
        return
    operation = operation_of(case)
    if isinstance(body.get("next_cursor"), str):
        cursors[operation] = body["next_cursor"]
    if operation == "case.create":
        remember("case_id", body["case"]["id"])
    elif operation == "artifact.publish":
        remember("artifact_id", body["artifact"]["id"])
    elif operation == "guestbook.submit":
        remember("id", body["id"])
    elif operation == "moderation.decide":
        remember("event_id", body["event_id"])


def remember(name, value):
    things.setdefault(name, []).append(value)
