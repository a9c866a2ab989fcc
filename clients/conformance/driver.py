"""Drives this client by the conformance list: reads a command on each line, and prints its outcome.

driver.py BASE_URL FOLDER OPTIONS [--async]
"""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from inspect import isawaitable
from typing import Any

from service_client import (
    AsyncClient,
    Client,
    FileStore,
    ProblemError,
    Reset,
    ServiceError,
)


class Waits:
    """Records the pauses of a client instead of waiting."""

    def __init__(self) -> None:
        self.seconds: list[float] = []


WAITS = Waits()
# Waiting for another process is no pause between two attempts.
LONGEST_TURN = 0.1


class Driven(Client):
    def _pause(self, seconds: float) -> None:
        if seconds < LONGEST_TURN:
            super()._pause(seconds)
        else:
            WAITS.seconds.append(seconds)


class AsyncDriven(AsyncClient):
    async def _pause(self, seconds: float) -> None:
        if seconds < LONGEST_TURN:
            await super()._pause(seconds)
        else:
            WAITS.seconds.append(seconds)


async def settled(value: Any) -> Any:
    return await value if isawaitable(value) else value


async def run(client: Any, command: dict[str, Any]) -> dict[str, Any]:
    op = command["op"]
    if op == "register":
        return {"member": (await settled(client.register()))["member"]["id"]}
    if op == "me":
        return {"handle": (await settled(client.me()))["member"]["handle"]}
    if op == "renew":
        await settled(client.renew())
        return {}
    if op == "resume":
        return {"count": len(await settled(client.resume()))}
    if op == "write":
        call = {"idempotency_key": command["key"]} if "key" in command else {}
        return {"status": (await settled(client.write(command["path"], command["body"], **call)))["status"]}
    if op == "sign":
        note = {"note_id": command["note"], "message": command["message"]}
        return {"status": (await settled(client.guestbook.sign_as_member(**note)))["status"]}
    if op == "notes":
        notes = await collected(client.guestbook.mine(limit=command["limit"]))
        return {"notes": [{"id": note["id"], "state": note["state"]} for note in notes]}
    if op == "withdraw_note":
        call = {"idempotency_key": command["key"]} if "key" in command else {}
        return {"status": (await settled(client.guestbook.withdraw(command["note"], **call)))["status"]}
    if op == "updates":
        return await updates(client, command)
    raise ValueError(f"no operation {op}")


async def collected(items: Any) -> list[Any]:
    return [item async for item in items] if hasattr(items, "__aiter__") else [*items]


async def updates(client: Any, command: dict[str, Any]) -> dict[str, Any]:
    cursors: list[str] = []
    resets: list[Reset] = []
    following = client.updates(
        cursor=command.get("cursor"),
        limit=command.get("limit", 100),
        until_now=True,
        save=lambda _, cursor: cursors.append(cursor),
        on_reset=resets.append if command.get("reset", True) else None,
    )
    found = await collected(following)
    return {
        "sequences": [event["sequence"] for event in found],
        "types": [event["type"] for event in found],
        "cursor": cursors[-1] if cursors else None,
        "resets": [reset.kept_through for reset in resets],
    }


async def main() -> None:
    base_url, folder, options = sys.argv[1:4]
    store = FileStore(folder)
    kind: Any = AsyncDriven if "--async" in sys.argv else Driven
    scopes = ["profile:write", "case:create", "updates:read", "credential:manage"]
    client = kind(base_url, store.identity(f"driven_{uuid.uuid4().hex[:8]}"), store=store, scopes=scopes, **json.loads(options))
    print(json.dumps({"features": ["resume", "shared_store"]}), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        WAITS.seconds.clear()
        try:
            outcome = {"ok": True, **await run(client, json.loads(line))}
        except ServiceError as error:
            about = {"name": type(error).__name__, "message": str(error)}
            if isinstance(error, ProblemError):
                about |= {"status": error.status, "code": error.code}
            outcome = {"ok": False, "error": about}
        print(json.dumps({**outcome, "waits": WAITS.seconds}), flush=True)


asyncio.run(main())
