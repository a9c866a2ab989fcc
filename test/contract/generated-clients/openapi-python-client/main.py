"""Registers a member, makes a credential, opens a case and reads the updates.

main.py BASE_URL
"""

import json
import secrets
import sys
import time
import uuid

from client import AuthenticatedClient, Client
from client.api.cases import case_create, case_read
from client.api.credentials import credential_bootstrap
from client.api.membership import membership_register
from client.api.updates import updates_list
from client.models import (
    CaseRequest,
    CredentialRequest,
    MemberRequest,
    Scope,
)

base_url = sys.argv[1]
anonymous = Client(base_url)


def new_key() -> str:
    return secrets.token_hex(32)


def new_idempotency_key() -> str:
    return str(uuid.uuid4())


member_id = uuid.uuid4()
sign_in_key = new_key()
registered = membership_register.sync(
    client=anonymous,
    origin=base_url,
    body=MemberRequest(
        id=member_id,
        handle=f"generated_{member_id.hex[:8]}",
        sign_in_key=sign_in_key,
        recovery_key=new_key(),
    ),
)

credential_id = uuid.uuid4()
credential_secret = new_key()
created = credential_bootstrap.sync(
    client=anonymous,
    idempotency_key=new_idempotency_key(),
    body=CredentialRequest(
        member_id=member_id,
        sign_in_key=sign_in_key,
        credential_id=credential_id,
        credential_secret=credential_secret,
        scopes=[Scope.CASECREATE, Scope.UPDATESREAD],
        expires_at=int(time.time()) + 3600,
    ),
)

member = AuthenticatedClient(base_url, token=f"svc_{credential_id}.{credential_secret}")
opened = case_create.sync(
    client=member,
    idempotency_key=new_idempotency_key(),
    body=CaseRequest(
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
read = case_read.sync(opened.case.id, client=anonymous)
updates = updates_list.sync(client=member, limit=10)
missing = case_read.sync(uuid.uuid4(), client=anonymous)

print(
    json.dumps(
        {
            "handle": registered.member.handle,
            "scopes": created.credential.scopes,
            "title": read.case.title,
            "events": [event.type_ for event in updates.events],
            "error": missing.error.code,
        }
    )
)
