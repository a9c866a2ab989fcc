"""For each operation that needs it: something that is there, for a request to be about."""

import world
from authenticator import Authenticator
from world import CALLER, OTHER, new_id


def path(**makers):
    """Parameters of the path, each made anew."""

    def arrange(case):
        for name, make in makers.items():
            case.path_parameters[name] = make()

    return arrange


def at_case(author, *steps):
    def arrange(case):
        case_id, version = world.new_case(author, *steps)
        case.path_parameters["case_id"] = case_id
        if "expected_version" in case.body:
            case.body["expected_version"] = version
        if "artifact_id" in case.body:
            case.body["artifact_id"] = world.ARTIFACT

    return arrange


def publication(case):
    """No version that it replaces, and nothing else that has to be there."""
    case.body.pop("expected_version", None)
    for name in ("artifact_id", "supersedes_id"):
        if name in case.body:
            case.body[name] = None


def fresh_id(name):
    def arrange(case):
        case.body[name] = new_id()

    return arrange


def registration(case):
    case.body.update(id=new_id(), handle=world.new_handle())


def disabled():
    """One disabled member for all requests of an operation: a lead disables at most 20 an hour."""
    made = []

    def arrange(case):
        if not made:
            made.append(world.disabled_member())
        case.body.update(made[0].proof())
        if "confirm_handle" in case.body:
            case.body["confirm_handle"] = made[0].handle

    return arrange


def submission(case):
    case.body["id"] = new_id()
    case.body.pop("parent_id", None)
    if case.body.get("attribution") == "member":
        case.body["member_handle"] = CALLER.handle


def profile(case):
    world.publish_profile()
    if "member_id" in (case.path_parameters or {}):
        case.path_parameters["member_id"] = CALLER.id


def report(case):
    case.body["subject"] = {"type": "artifact", "id": world.ARTIFACT}


def claim(case):
    """At most ten leases are held at a time: the others are given back."""
    leases = [lease["lease_id"] for lease in world.moderate("GET", "me")["leases"]]
    if leases:
        world.moderate("POST", "claims/release", {"lease_ids": leases})
    if "note_ids" in case.body:
        case.body["note_ids"] = [world.guest_note()]


def decision(case):
    action = case.body["action"]
    version = 1
    if action == "remove":
        note_id, version = world.approved_note(), 2
    else:
        note_id = world.guest_note()
    case.path_parameters["id"] = note_id
    case.body["expected_version"] = version


def undo(case):
    approval = {"action": "approve", "expected_version": 1}
    path = f"notes/{world.guest_note()}/decisions"
    decided = world.moderate("POST", path, approval, token=world.DECIDER_TOKEN)
    case.path_parameters["event_id"] = decided["event_id"]
    case.body["expected_version"] = decided["version"]


def undo_batch(case):
    items = [{"note_id": world.guest_note(), "expected_version": 1}]
    batch = world.moderate("POST", "decisions/batch", {"action": "approve", "items": items})
    case.path_parameters["id"] = batch["batch_id"]


def rewind(case):
    case.path_parameters["moderator_id"] = world.DECIDER
    case.body.pop("fingerprint", None)


def subject(case):
    artifact = world.new_artifact(OTHER)
    case.path_parameters.update(type="artifact", id=artifact)
    if isinstance(case.body, dict):
        case.body["action"] = "remove"
        case.body["policy"] = world.POLICY
        case.body["expected_version"] = world.moderate("GET", f"subjects/artifact/{artifact}")["item"]["version"]


def commented(case):
    case.path_parameters.update(type="note", id=world.guest_note())


def comment_to_delete(case):
    commented(case)
    path = "subjects/note/" + case.path_parameters["id"] + "/comments"
    comment = world.moderate("POST", path, {"text": "A comment"})
    case.path_parameters["event_id"] = comment["event_id"]


def batch(case):
    case.body["items"] = [{"note_id": world.guest_note(), "expected_version": 1}]


def policy(case):
    case.body.pop("expected_version", None)


def a2a(case):
    turn = next(world.turns) % 3
    asked = [
        {"operation": "case.list", "input": {"limit": 5}},
        {"operation": "artifacts.get", "input": {"artifact_id": world.ARTIFACT}},
        {"operation": "artifact.withdraw", "idempotency_key": new_id(), "input": {}},
    ][turn]
    if turn == 2:
        asked["input"]["artifact_id"] = world.new_artifact(CALLER)
    message = {"messageId": new_id(), "role": "ROLE_USER", "parts": [{"data": asked}]}
    case.body.update(method="SendMessage", params={"message": message})
    case.headers["A2A-Version"] = "1.0"


def mcp(case):
    """Both revisions: the one of 2026 says itself in the headers and in the message."""
    turn = next(world.turns)
    call = [
        ("tools/list", None, {}),
        ("tools/call", "list_cases", {"arguments": {"limit": 5}}),
        ("prompts/get", "introduce_service", {}),
        ("resources/read", "service://status", {}),
    ][turn // 2 % 4]
    method, name, params = call
    if name:
        params = {**params, ("uri" if method == "resources/read" else "name"): name}
    headers = {"MCP-Protocol-Version": "2025-11-25"}
    if turn % 2:
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
        prefix = "io.modelcontextprotocol/"
        client = {"name": "tester", "version": "1"}
        params["_meta"] = {
            f"{prefix}protocolVersion": "2026-07-28",
            f"{prefix}clientInfo": client,
            f"{prefix}clientCapabilities": {},
        }
        if name:
            headers["Mcp-Name"] = name
    case.body.update(id=1, method=method, params=params)
    case.headers.update(headers)


def signing(case):
    case.body.update(id=new_id(), experience="service", parent_id="", website="", name="Ada")
    case.body["message"] = "A note of a form"


def reported_note(case):
    case.query.update(type="note", id=world.APPROVED[0])


def report_form(case):
    case.body.update(type="note", id=world.APPROVED[0], reason="spam", details="", website="")


def member_page(case):
    world.publish_profile()
    case.path_parameters["handle"] = CALLER.handle


def with_passkey(change):
    """A member with a session of their own adds a passkey, or has one."""

    def arrange(case):
        member = world.Member()
        session = member.new_session()

        def post(path, body):
            cookie = f"__Host-ServiceSession={session}"
            return world.post(f"/api/membership/passkeys{path}", body, Cookie=cookie).json()

        authenticator = Authenticator(world.BASE)
        credential = authenticator.register(post("/challenge", {})["options"])
        new = {"sign_in_key": member.sign_in_key, "credential": credential}
        case.body.update(change(post, authenticator, new))
        if "__Host-ServiceSession" in (case.cookies or {}):
            case.cookies["__Host-ServiceSession"] = session

    return arrange


def added_passkey(post, _authenticator, new):
    return {"passkey_id": post("", {"name": "Laptop", **new})["passkey"]["id"]}


def passkey_sign_in(post, authenticator, new):
    post("", {"name": "Laptop", **new})
    return {"credential": authenticator.sign_in(post("/session/challenge", {})["options"])}


note_page = path(id=lambda: world.APPROVED[0])
case_page = path(id=lambda: world.new_case(OTHER)[0])
packet_page = path(id=lambda: world.ARTIFACT)
guestbook_page = path(experience=lambda: "observatory")

ARRANGEMENTS = {
    "membership.register": registration,
    "credential.bootstrap": fresh_id("credential_id"),
    "credential.rotate": fresh_id("credential_id"),
    "guestbook.submit": submission,
    "guestbook.get": path(id=lambda: world.APPROVED[0]),
    "guestbook.report": path(id=lambda: world.APPROVED[0]),
    "guestbook.withdraw": path(id=CALLER.new_note),
    "guestbook.outcome": path(id=CALLER.new_note),
    "guestbook.appeal": path(id=world.rejected_note),
    "passkey.add": with_passkey(lambda _post, _authenticator, new: new),
    "passkey.rename": with_passkey(added_passkey),
    "passkey.remove": with_passkey(added_passkey),
    "passkey.sign_in": with_passkey(passkey_sign_in),
    "membership.disabled": disabled(),
    "membership.appeal_disabling": disabled(),
    "membership.export_disabled": disabled(),
    "membership.delete_disabled": disabled(),
    "profile.publish": publication,
    "profile.withdraw": profile,
    "agents.get": profile,
    "artifact.publish": publication,
    "artifact.withdraw": path(artifact_id=lambda: world.new_artifact(CALLER)),
    "artifacts.get": path(artifact_id=lambda: world.ARTIFACT),
    "case.create": publication,
    "case.read": lambda case: case.path_parameters.update(case_id=world.new_case(OTHER)[0]),
    "case.claim": at_case(OTHER),
    "case.release": at_case(OTHER, (CALLER, *world.CLAIM)),
    "case.submit": at_case(OTHER, (CALLER, *world.CLAIM)),
    "case.review": at_case(CALLER, (OTHER, *world.CLAIM), (OTHER, *world.SUBMIT)),
    "case.withdraw": at_case(CALLER),
    "case.note": at_case(OTHER),
    "report.create": report,
    "moderation.note": path(id=world.guest_note),
    "moderation.claim": claim,
    "moderation.decide": decision,
    "moderation.undo": undo,
    "moderation.batch": batch,
    "moderation.undo_batch": undo_batch,
    "moderation.rewind": rewind,
    "moderation.subject": subject,
    "moderation.decide_subject": subject,
    "moderation.comments": commented,
    "moderation.comment": commented,
    "moderation.delete_comment": comment_to_delete,
    "moderation.change_policy": policy,
    "a2a.call": a2a,
    "mcp.call": mcp,
    "feeds.guestbook_atom": guestbook_page,
    "feeds.guestbook_json": guestbook_page,
    "feeds.note_atom": note_page,
    "feeds.note_json": note_page,
    "feeds.member_atom": member_page,
    "feeds.member_json": member_page,
    "pages.guestbook_of": guestbook_page,
    # Full once a minute has passed, since the run makes more than 256 events in it.
    "log.tile": path(level=lambda: "0", tile=lambda: "000"),
    # Sealed within a minute of the start.
    "log.record_proof": path(type=lambda: "artifact", id=lambda: world.ARTIFACT),
    "pages.note": note_page,
    "pages.note_sent": note_page,
    "pages.member": member_page,
    "pages.case": case_page,
    "pages.packet": packet_page,
    "pages.sign": signing,
    "pages.report": reported_note,
    "pages.report_send": report_form,
    "documents.reference_page": path(page=lambda: "cases"),
    "pages.script": path(file=lambda: world.ASSETS["scripts"][0]),
    "pages.style": path(file=lambda: world.ASSETS["styles"][0]),
}
