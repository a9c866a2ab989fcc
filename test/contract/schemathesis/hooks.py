"""What a JSON schema cannot say of a request, told to schemathesis: the hour, and who may do what.

No answer is judged more kindly here, and no check is changed or left out. Requests that are meant to
be right are made so that they can succeed (a time that has not passed, a cursor that was given, proof
that is right), every second one of them about something that is there; and what ends a credential or
a session ends one of its own, so that the others live on to the end of the run.
"""

import atexit
import collections
import copy
import json
import os
import re
import time
import unicodedata

import requests
import schemathesis

from arrangements import ARRANGEMENTS
from world import (
    BASE,
    CALLER,
    CALLER_BEARER,
    MODERATOR_TOKEN,
    POLICY,
    Member,
    new_id,
    new_key,
    post,
)

SAFE = 2**53 - 1
CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

# The query of a page with the cursor of the next one, by operation.
pages = {}
seen = collections.Counter()
statuses = collections.defaultdict(collections.Counter)
succeeded = set()


def id_of(case):
    return case.operation.definition.raw.get("operationId")


def is_positive(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


@schemathesis.hook
def before_call(context, case, kwargs):
    operation = id_of(case)
    own_session(operation, case)
    own_bearer(operation, case)
    if operation == "moderation.disable_member":
        few_disablings(case)
    if not is_positive(case):
        return
    # The document describes both as strings: their only right value depends on the instance.
    for name, value in (("Origin", BASE), ("Sec-Fetch-Site", "same-origin")):
        if name in (case.headers or {}):
            case.headers[name] = value
    # A pattern may match a line feed at its end, which no header can hold.
    if "Idempotency-Key" in (case.headers or {}):
        case.headers["Idempotency-Key"] = new_id()
    # What is generated may be generated once for several cases.
    if isinstance(case.query, dict):
        case.query = copy.deepcopy(case.query)
        case.query = with_visible_texts(case.query)
        possible_query(operation, case.query)
    if isinstance(case.body, dict):
        # The document leaves out the bounds of safe integers, which every JSON number here has.
        case.body = with_safe_integers(with_visible_texts(copy.deepcopy(case.body)))
        possible_body(operation, case)
    if case.path_parameters:
        # A link makes `None` of an id that is null: it is no id.
        case.path_parameters = {
            name: new_id() if value in (None, "None") else value
            for name, value in case.path_parameters.items()
        }
    if operation == "moderation.decide_subject":
        with_possible_subject(case)
    if operation == "moderation.undo":
        # Only a decision on a membership is undone without the version, and no schema knows the decision.
        body = case.body if isinstance(case.body, dict) else {}
        case.body = {"expected_version": 1, **body}
        case.media_type = "application/json"
    if operation == "mcp.call":
        # `AnyValue` does not say that strict JSON refuses control characters in strings.
        case.body = without_control_characters(case.body)
        # Of the revision of 2026 the message and three headers have to say the same.
        for name in ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"):
            case.headers.pop(name, None)
    seen[id_of(case)] += 1
    if seen[id_of(case)] % 2 == 1:
        ARRANGEMENTS.get(operation, lambda case: None)(case)


def with_possible_subject(case):
    """Appeals are decided on notes and memberships alone, and nothing else is decided on a membership."""
    on_appeal = case.body["action"] in ("grant", "uphold")
    possible = ("note", "member") if on_appeal else ("note", "profile", "artifact", "case", "case_note")
    if case.path_parameters["type"] not in possible:
        case.path_parameters["type"] = "note"


def few_disablings(case):
    """A lead disables at most 20 memberships an hour: later requests name a member who does not exist."""
    seen["disablings"] += 1
    if seen["disablings"] > 10 and "member_id" in (case.path_parameters or {}):
        case.path_parameters["member_id"] = new_id()


def without_control_characters(value):
    if isinstance(value, str):
        return CONTROL_CHARACTERS.sub("", value)
    if isinstance(value, list):
        return [without_control_characters(item) for item in value]
    if isinstance(value, dict):
        return {
            without_control_characters(name): without_control_characters(item)
            for name, item in value.items()
        }
    return value


def with_visible_texts(value):
    """A pattern without Unicode properties cannot ask for a letter, number, mark or symbol."""
    if isinstance(value, dict):
        return {name: with_visible_texts(item) for name, item in value.items()}
    if isinstance(value, list):
        return [with_visible_texts(item) for item in value]
    if isinstance(value, str) and value != "" and not any(map(is_visible, value)):
        return "x"
    return value


def is_visible(character):
    blank = "\u115f\u1160\u2800\u3164\uffa0\ufffc\U00013441\U00013442\U0001d159"
    return unicodedata.category(character)[0] in "LNPS" and character not in blank


def with_safe_integers(value):
    """A copy whose integers are safe ones."""
    if isinstance(value, int) and not isinstance(value, bool):
        return max(-SAFE, min(SAFE, value))
    if isinstance(value, list):
        return [with_safe_integers(item) for item in value]
    if isinstance(value, dict):
        return {name: with_safe_integers(item) for name, item in value.items()}
    return value


def own_session(operation, case):
    cookies = case.cookies or {}
    if operation == "membership.logout" and "__Host-ServiceSession" in cookies:
        # A member has 50 sessions at most, so the caller's own would end after as many.
        case.cookies["__Host-ServiceSession"] = Member().new_session()
    if operation == "membership.revoke_sessions" and "__Host-ServiceSession" in cookies:
        member = Member()
        case.cookies["__Host-ServiceSession"] = member.new_session()
        if is_positive(case) and "session_id" in case.body:
            case.body["session_id"] = member.new_session().partition(".")[0]
    if operation == "moderation.sign_out" and "__Host-ServiceModerator" in cookies:
        made = post("/api/moderation/session", {"token": MODERATOR_TOKEN})
        case.cookies["__Host-ServiceModerator"] = made.cookies["__Host-ServiceModerator"]


def own_bearer(operation, case):
    """Whoever ends a credential or an account is another member, or the caller with another bearer."""
    if (case.headers or {}).get("Authorization") != CALLER_BEARER:
        return
    if operation == "account.delete":
        member = Member()
        case.headers["Authorization"] = member.new_bearer()
        if is_positive(case):
            case.body["confirm_handle"] = member.handle
    elif operation in ("credential.rotate", "credential.revoke"):
        member = Member()
        case.headers["Authorization"] = member.new_bearer()
        if is_positive(case) and operation == "credential.revoke" and "credential_id" in case.body:
            case.body["credential_id"] = member.new_credential()["credential_id"]


def possible_query(operation, query):
    for name in ("cursor", "before", "after", "history_before"):
        if name not in query:
            continue
        if operation in pages:
            # A cursor belongs to the list that it came from, with its filters and its order.
            query.clear()
            query.update(pages[operation])
        else:
            del query[name]
    # To be held for 25 seconds, request by request, would only use up the time of the run.
    if "wait" in query and str(query["wait"]).isdigit():
        query["wait"] = min(int(query["wait"]), 1)
    # A moment before the first event of the log, or in the future.
    if "as_of" in query:
        query["as_of"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    # A range that ends before it begins, in the future, or after more than 92 days.
    if operation == "moderation.stats":
        for name, days in (("from", 4), ("to", 2)):
            if name in query:
                query[name] = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 86400 * days))


def possible_body(operation, case):
    body = case.body
    if "expires_at" in body:
        body["expires_at"] = int(time.time()) + 120 + int(body["expires_at"]) % 80_000
    # The cursor of a page of a long batch: such a batch is not made here.
    body.pop("cursor", None)
    if "since" in body:
        body["since"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 3600))
    if "until" in body:
        body["until"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
    if "policy" in body:
        body["policy"] = POLICY
    # The document says that it is a boolean, since code generators fail on a boolean constant.
    for name in ("publish_consent", "all_others"):
        if body.get(name) is False:
            body[name] = True
    if body.get("code") == POLICY:
        body["code"] = "another"
    # Keys that have to differ are not made equal.
    for one, other in (("sign_in_key", "recovery_key"), ("new_sign_in_key", "new_recovery_key")):
        if one in body and body[one] == body.get(other):
            body[one] = new_key()
    # No note twice in a batch, whatever its version.
    if isinstance(body.get("items"), list):
        body["items"] = list({item["note_id"].lower(): item for item in body["items"]}.values())
    if operation == "credential.bootstrap":
        body.update(member_id=CALLER.id, sign_in_key=CALLER.sign_in_key)
    elif operation == "membership.login":
        body.update(Member().proof())
    elif operation == "membership.sign_in":
        member = Member()
        body.update(handle=member.handle, sign_in_key=member.sign_in_key)
    elif operation == "membership.recover":
        member = Member()
        body.update(id=member.id, recovery_key=member.recovery_key)
    elif operation == "moderation.sign_in":
        body["token"] = MODERATOR_TOKEN


@schemathesis.hook
def after_call(context, case, response):
    operation = id_of(case)
    statuses[operation][response.status_code] += 1
    if response.status_code >= 400:
        return
    kind = response.headers.get("content-type", [""])[0]
    body = response.json() if "application/json" in kind and response.content else {}
    # A2A and MCP tell of a failure in an answer that is well for HTTP.
    if is_positive(case) and "error" not in body:
        succeeded.add(operation)
    if isinstance(body.get("next_cursor"), str):
        # `start` is for a feed that is read from no cursor.
        query = {name: value for name, value in (case.query or {}).items() if name != "start"}
        pages[operation] = {**query, "cursor": body["next_cursor"]}


@schemathesis.check
def rpc_faults(ctx, response, case):
    """A2A answers what is no call with the status 200, as JSON-RPC has it: with an error in it."""
    wrong = case.meta is not None and case.meta.generation.mode.is_negative
    if id_of(case) == "a2a.call" and wrong and response.status_code == 200:
        assert "error" in response.json(), "what is no call must be answered by an error"


# An unsupported version, an unknown and an unsupported method: A2A answers them before it looks at the bearer.
BEFORE_THE_BEARER = (-32009, -32601, -32003, -32004)


@schemathesis.check
def a2a_needs_a_bearer(ctx, response, case):
    """Replaces `ignored_auth` for A2A, which takes those errors, with the status 200, for success."""
    if id_of(case) != "a2a.call" or response.status_code != 200:
        return
    sent = response.request
    headers = {name: value for name, value in sent.headers.items() if name.lower() != "authorization"}
    anonymous = requests.request(sent.method, sent.url, data=sent.body, headers=headers, timeout=35)
    before = anonymous.status_code == 200 and anonymous.json().get("error", {}).get("code") in BEFORE_THE_BEARER
    assert before or anonymous.status_code == 401, "without a bearer the same call must be refused"


@atexit.register
def tell():
    """For the program that judges whether every operation was reached."""
    with open(os.environ["STATUSES"], "w", encoding="utf-8") as file:
        json.dump({"statuses": statuses, "succeeded": sorted(succeeded)}, file)
