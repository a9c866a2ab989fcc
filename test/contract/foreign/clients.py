"""Clients of other makers, in another language, against a running service.

clients.py BASE_URL BEARER CASE_ID: reads over MCP in both revisions, and claims the case over A2A.
"""

import asyncio
import json
import sys
import uuid

import httpx
from a2a.client import ClientConfig, create_client
from a2a.types import a2a_pb2
from google.protobuf.json_format import MessageToDict, ParseDict
from mcp import Client


async def over_mcp(base_url: str, case_id: str, mode: str) -> None:
    async with Client(f"{base_url}/mcp/", mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert len(tools) == 12, [tool.name for tool in tools]
        found = await client.call_tool("get_case", {"id": case_id})
        assert not found.is_error and found.structured_content["case"]["id"] == case_id
        named = await client.call_tool("get_case", {"case_id": case_id})
        assert named.structured_content == found.structured_content
        wrong = await client.call_tool("get_case", {"case_id": str(uuid.uuid4())})
        assert wrong.is_error and wrong.structured_content["error"]["code"] == "not_found"
        twice = await client.call_tool("get_case", {"id": case_id, "case_id": case_id})
        assert twice.is_error and twice.structured_content["error"]["issues"][0]["path"] == "id"
        read = await client.read_resource(f"service://cases/{case_id}")
        assert json.loads(read.contents[0].text)["case"]["id"] == case_id
        templates = (await client.list_resource_templates()).resource_templates
        uris = sorted(template.uri_template for template in templates)
        assert uris == [f"service://{kind}/{{id}}" for kind in ("artifacts", "cases", "members", "notes")], uris
        assert (await client.get_prompt("introduce_service")).messages
        print(f"ok mcp {mode} spoke {client.protocol_version}")


async def ask(client, operation: str, given: dict, key: str | None = None) -> dict:
    data = {"operation": operation, "input": given}
    if key:
        data["idempotency_key"] = key
    message = {
        "messageId": str(uuid.uuid4()),
        "role": "ROLE_USER",
        "parts": [{"data": data, "mediaType": "application/json"}],
    }
    request = ParseDict({"message": message}, a2a_pb2.SendMessageRequest())
    answers = [MessageToDict(answer) async for answer in client.send_message(request)]
    assert len(answers) == 1, answers
    return answers[0]["message"]["parts"][0]["data"]


async def over_a2a(base_url: str, bearer: str, case_id: str) -> None:
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {bearer}"}) as http:
        client = await create_client(base_url, ClientConfig(httpx_client=http, streaming=True))
        me = await ask(client, "credential.me", {})
        assert me["result"]["credential"]["state"] == "active"
        key = str(uuid.uuid4())
        claim = {"case_id": case_id, "expected_version": 1, "lease_seconds": 600}
        first = await ask(client, "case.claim", claim, key)
        again = await ask(client, "case.claim", claim, key)
        assert not first["replayed"] and again["replayed"], again
        assert first["receipt"] == again["receipt"]
        try:
            await ask(client, "case.claim", {**claim, "expected_version": 9}, str(uuid.uuid4()))
        except Exception as error:  # the SDK's class for it is its own affair
            print(f"ok a2a told of a refusal: {type(error).__name__}: {error}")
        else:
            raise AssertionError("a wrong version was taken")
        print("ok a2a claimed, and replayed")


async def main() -> None:
    base_url, bearer, case_id = sys.argv[1:]
    for mode in ("legacy", "auto"):
        await over_mcp(base_url, case_id, mode)
    await over_a2a(base_url, bearer, case_id)


asyncio.run(main())
