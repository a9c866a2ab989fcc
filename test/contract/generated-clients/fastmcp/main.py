"""Registers a member, makes a credential, opens a case and reads the updates, as an agent does that
calls the tools which FastMCP makes from the document.

main.py BASE_URL
"""

import asyncio
import json
import secrets
import sys
import time
import uuid
from pathlib import Path

import httpx
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError

base_url = sys.argv[1]
document = json.loads(Path("openapi.json").read_text())


def new_key() -> str:
    return secrets.token_hex(32)


def new_id() -> str:
    return str(uuid.uuid4())


def tools(**headers: str) -> Client:
    http = httpx.AsyncClient(base_url=base_url, headers=headers)
    return Client(FastMCP.from_openapi(document, client=http))


async def main() -> dict:
    async with tools() as anonymous:
        member_id = new_id()
        sign_in_key = new_key()
        registered = await anonymous.call_tool(
            "membership_register",
            {
                "Origin": base_url,
                "id": member_id,
                "handle": f"generated_{member_id[:8]}",
                "sign_in_key": sign_in_key,
                "recovery_key": new_key(),
            },
        )
        credential_id = new_id()
        credential_secret = new_key()
        created = await anonymous.call_tool(
            "credential_bootstrap",
            {
                "Idempotency-Key": new_id(),
                "member_id": member_id,
                "sign_in_key": sign_in_key,
                "credential_id": credential_id,
                "credential_secret": credential_secret,
                "scopes": ["case:create", "updates:read"],
                "expires_at": int(time.time()) + 3600,
            },
        )
        bearer = f"Bearer svc_{credential_id}.{credential_secret}"
        async with tools(Authorization=bearer) as member:
            opened = await member.call_tool(
                "case_create",
                {
                    "Idempotency-Key": new_id(),
                    "title": "Generated",
                    "summary": "Opened by a generated client",
                    "objective": "Show that the document describes the service",
                    "acceptance_criteria": ["The program ends without an error"],
                    "artifact_id": None,
                    "visibility": "public",
                    "publish_consent": True,
                    "policy_version": "service-public-v1",
                },
            )
            updates = await member.call_tool("updates_list", {"limit": 10})
        case_id = opened.structured_content["case"]["id"]
        read = await anonymous.call_tool("case_read", {"case_id": case_id})
        # A list, with the null that a case without a claim has.
        listed = await anonymous.call_tool("case_list", {})
        assert any(case["id"] == case_id for case in listed.structured_content["cases"])
        try:
            await anonymous.call_tool("case_read", {"case_id": new_id()})
            missing = None
        except ToolError as refusal:
            missing = "not_found" if "not_found" in str(refusal) else str(refusal)
    return {
        "handle": registered.structured_content["member"]["handle"],
        "scopes": created.structured_content["credential"]["scopes"],
        "title": read.structured_content["case"]["title"],
        "events": [event["type"] for event in updates.structured_content["events"]],
        "error": missing,
    }


print(json.dumps(asyncio.run(main())))
