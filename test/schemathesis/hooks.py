"""What a JSON schema cannot say of a request, told to schemathesis: the hour, and who may do what.

No answer is looked at here and no check is changed: only requests are made so that they can succeed
(a time that has not passed, a cursor that was given, proof that is right), and what ends a
credential or a session ends one of its own, so that the others live on to the end of the run.
"""

import os
import secrets
import time
import uuid

import requests
import schemathesis

BASE = os.environ["BASE_URL"]
MEMBER = {"id": os.environ["MEMBER_ID"], "sign_in_key": os.environ["MEMBER_SIGN_IN_KEY"]}
SCOPES = os.environ["SCOPES"].split(",")

cursors: dict[str, str] = {}


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


def new_session(member):
    proof = {"id": member["id"], "sign_in_key": member["sign_in_key"]}
    return post("/api/membership/login", proof).cookies["__Host-ServiceSession"]


def operation_of(case):
    return case.operation.definition.raw.get("operationId")


def is_positive(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


@schemathesis.hook
def before_call(context, case, kwargs):
    operation = operation_of(case)
    if is_positive(case):
        if isinstance(case.query, dict):
            for name in ("cursor", "before"):
                if name in case.query:
                    given = cursors.get(operation)
                    if given is None:
                        del case.query[name]
                    else:
                        case.query[name] = given
        if isinstance(case.body, dict):
            make_possible(operation, case)


def make_possible(operation, case):
    body = case.body
    if "expires_at" in body:
        body["expires_at"] = int(time.time()) + 120 + int(body["expires_at"]) % 80_000
    if operation == "credential.bootstrap":
        body.update(member_id=MEMBER["id"], sign_in_key=MEMBER["sign_in_key"])
    elif operation == "membership.login":
        body.update(MEMBER)
    authorized = "Authorization" in (case.headers or {}) or True
    if operation == "account.delete" and authorized:
        member = new_member()
        body["confirm_handle"] = member["handle"]
        case.headers["Authorization"] = new_bearer(member)
    elif operation == "credential.rotate":
        case.headers["Authorization"] = new_bearer(MEMBER)


@schemathesis.hook
def after_call(context, case, response):
    if response.status_code == 200 and "json" in response.headers.get("content-type", [""])[0]:
        try:
            body = response.json()
        except ValueError:
            return
        if isinstance(body, dict) and isinstance(body.get("next_cursor"), str):
            cursors[operation_of(case)] = body["next_cursor"]
