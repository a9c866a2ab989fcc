"""Registers a member, makes a credential, opens a case and reads the updates.

main.py BASE_URL
"""

import json
import secrets
import sys
import time
import uuid

from client import (
    ApiClient,
    CaseRequest,
    CasesApi,
    Configuration,
    CredentialRequest,
    CredentialsApi,
    MemberRequest,
    MembershipApi,
    UpdatesApi,
)
from client.exceptions import NotFoundException

base_url = sys.argv[1]
anonymous = ApiClient(Configuration(host=base_url))


def new_key() -> str:
    return secrets.token_hex(32)


def new_idempotency_key() -> str:
    return str(uuid.uuid4())


member_id = uuid.uuid4()
sign_in_key = new_key()
registered = MembershipApi(anonymous).membership_register(
    base_url,
    MemberRequest(
        id=member_id,
        handle=f"generated_{member_id.hex[:8]}",
        sign_in_key=sign_in_key,
        recovery_key=new_key(),
    ),
)

credential_id = uuid.uuid4()
credential_secret = new_key()
created = CredentialsApi(anonymous).credential_bootstrap(
    new_idempotency_key(),
    CredentialRequest(
        member_id=member_id,
        sign_in_key=sign_in_key,
        credential_id=credential_id,
        credential_secret=credential_secret,
        scopes=["case:create", "updates:read"],
        expires_at=int(time.time()) + 3600,
    ),
)

bearer = f"svc_{credential_id}.{credential_secret}"
member = ApiClient(Configuration(host=base_url, access_token=bearer))
opened = CasesApi(member).case_create(
    new_idempotency_key(),
    CaseRequest(
        title="Generated",
        summary="Opened by a generated client",
        objective="Show that the document describes the service",
        acceptance_criteria=["The program ends without an error"],
        artifact_id=None,
        visibility="public",
        publish_consent=True,
        policy_version="service-public-v1",
    ),
)
cases = CasesApi(anonymous)
read = cases.case_read(opened.case.id)
updates = UpdatesApi(member).updates_list(limit=10)
try:
    cases.case_read(uuid.uuid4())
    missing = None
except NotFoundException as refusal:
    missing = refusal.data.error.code

print(
    json.dumps(
        {
            "handle": registered.member.handle,
            "scopes": created.credential.scopes,
            "title": read.case.title,
            "events": [event.actual_instance.type for event in updates.events],
            "error": missing,
        }
    )
)
