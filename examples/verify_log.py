#!/usr/bin/env python3
"""Verifies the sealed log of a service from outside, by HTTP alone.

    python3 verify_log.py URL [--key KEY] [--state FILE] [--proof FILE] [--witness KEY]...

Needs Python 3.9 and the package `cryptography`. Formats: C2SP signed-note, tlog-checkpoint and tlog-tiles, with the
hashes of RFC 6962. Exits with 0 if the log is verified, 3 for a fork (two signed checkpoints that contradict each
other, which are printed), and 1 otherwise.
"""

import argparse
import base64
import hashlib
import json
import os
import sys
import urllib.error
import urllib.request

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def get(url, most):
    with urllib.request.urlopen(url, timeout=30) as answer:
        body = answer.read(most + 1)
    if len(body) > most:
        raise ValueError(f"{url} answers more than {most} bytes")
    return body


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def signed_text(note, key, kind):
    """The text of a note that a key has signed: the log's, or with the kind 4, that of a witness (cosignature/v1)."""
    name, key_id, encoded = key.split("+", 2)
    raw = base64.b64decode(encoded, validate=True)
    if len(raw) != 33 or raw[0] != kind or sha256(name.encode(), b"\n", raw)[:4].hex() != key_id:
        raise ValueError(f"the key of {name} is malformed")
    text, found, lines = note.rpartition("\n\n")
    text += "\n"
    signed = False
    for line in lines.splitlines():
        dash, signer, signature = line.split(" ")
        blob = base64.b64decode(signature, validate=True)
        if dash == "\u2014" and signer == name and blob[:4].hex() == key_id:
            time = f"cosignature/v1\ntime {int.from_bytes(blob[4:12], 'big')}\n" if kind == 4 else ""
            Ed25519PublicKey.from_public_bytes(raw[1:]).verify(blob[-64:], (time + text).encode())
            signed = len(blob) == (76 if kind == 4 else 68)
    if not found or not signed:
        raise ValueError(f"the checkpoint is not signed by {name}+{key_id}")
    return text


def open_checkpoint(note, key):
    """The size and the root of a checkpoint that the key has signed."""
    origin, size, root = signed_text(note, key, 1).split("\n")[:3]
    if origin != key.split("+")[0] or not size.isascii() or not size.isdigit():
        raise ValueError("the checkpoint is malformed, or of another log")
    return int(size), base64.b64decode(root, validate=True)


def fold(hashes):
    """The root of a subtree whose nodes of one level are these."""
    nodes = [hashes[at : at + 32] for at in range(0, len(hashes), 32)]
    while len(nodes) > 1:
        nodes = [sha256(b"\1", *nodes[at : at + 2]) for at in range(0, len(nodes), 2)]
    return nodes[0]


class Log:
    """Reads nodes of a tree of `size` leaves from its tiles."""

    def __init__(self, url, size):
        self.url, self.size, self.tiles = url, size, {}

    def tile(self, level, index):
        if (level, index) not in self.tiles:
            width = min(256, self.size // 256**level - 256 * index)
            digits = str(index).zfill(-(-len(str(index)) // 3) * 3)
            groups = [digits[at : at + 3] for at in range(0, len(digits), 3)]
            path = f"{self.url}/log/tile/{level}/" + "/".join(["x" + one for one in groups[:-1]] + groups[-1:])
            body = get(path + (f".p/{width}" if width < 256 else ""), 8192)
            if len(body) < 32 * width:
                raise ValueError(f"{path} has {len(body)} bytes")
            # A full tile has its root in the tile above. The root of the tree is made of all partial tiles.
            if width == 256 and fold(body) != self.node(8 * (level + 1), index):
                raise ValueError(f"{path} is not part of the tree")
            self.tiles[level, index] = body[: 32 * width]
        return self.tiles[level, index]

    def node(self, level, index):
        span = 2 ** (level % 8)
        tile, at = divmod(index * span, 256)
        return fold(self.tile(level // 8, tile)[32 * at : 32 * (at + span)])

    def root(self, size):
        """The root of the first `size` leaves: the complete subtrees from left to right, folded."""
        if size == 0:
            return sha256()
        peaks, start = [], 0
        for level in reversed(range(size.bit_length())):
            if size >> level & 1:
                peaks.append(self.node(level, start >> level))
                start += 1 << level
        root = peaks.pop()
        while peaks:
            root = sha256(b"\1", peaks.pop(), root)
        return root


def included(leaf, size, found, path):
    """The root of a tree of `size` leaves that has this hash as a leaf, by an inclusion proof (RFC 9162, 2.1.3.2)."""
    at, last = leaf, size - 1
    for node in path:
        if last == 0:
            raise ValueError(f"leaf {leaf}: the path is too long")
        if at & 1 or at == last:
            found = sha256(b"\1", node, found)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            found = sha256(b"\1", found, node)
        at, last = at >> 1, last >> 1
    if last or not 0 <= leaf < size:
        raise ValueError(f"leaf {leaf}: the path is too short")
    return found


def commitment(fields):
    """The commitment to the fields of an event, of which those that are shown are checked."""
    hashes = {field["name"]: field["hash"] for field in fields}
    if len(hashes) < len(fields):
        raise ValueError("a field is named twice")
    for field in fields:
        if "text" not in field:
            continue
        salt = bytes.fromhex(field["salt"])  # one of another length would be part of the text
        if len(salt) != 16 or sha256(salt, field["text"].encode()).hex() != field["hash"]:
            raise ValueError(f"{field['name']!a} is not what was sealed")
    return sha256(json.dumps(hashes, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode())


def verify_proofs(proofs, size, root):
    """Verifies that the events are in the tree, and prints what is shown of them."""
    if not proofs["events"]:
        raise ValueError("the proof is of no event")
    for event in proofs["events"]:
        leaf, words = event["leaf"], event["words"]
        facts, words_hash = commitment(event["facts"]), bytes.fromhex(event["words_hash"] or "00" * 32)
        if words is not None and commitment(words) != words_hash:
            raise ValueError(f"leaf {leaf}: its words are not those of words_hash")
        path = [bytes.fromhex(node) for node in event["path"]]
        if included(leaf, size, sha256(b"\0", facts, words_hash), path) != root:
            raise ValueError(f"leaf {leaf}: the event is not in the log of the checkpoint")
        shown = [f"{field['name']}={field['text']}" for field in event["facts"] + (words or []) if "text" in field]
        print(f"In the log at {leaf}: {ascii(' '.join(shown))}")
        if words is None and event["words_hash"]:
            print(f"The words of {leaf} are not shown, so no text is verified")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("url")
    options.add_argument("--key")
    options.add_argument("--state")
    options.add_argument("--proof")
    options.add_argument("--witness", action="append", default=[])
    given = options.parse_args()
    url, known, key = given.url.rstrip("/"), None, given.key
    if given.state and os.path.exists(given.state):
        with open(given.state, encoding="utf-8") as file:
            known = json.load(file)
    key = key or (known and known["key"])
    if not key:
        key = json.loads(get(f"{url}/api/v1/discovery", 2**20))["identity"]["log_keys"][0]
    note = get(f"{url}/log/checkpoint", 2**16).decode()
    size, root = open_checkpoint(note, key)
    for witness in given.witness:
        signed_text(note, witness, 4)
    log = Log(url, size)
    if log.root(size) != root:
        raise ValueError("the tiles do not have the root of the checkpoint")
    print(f"Verified {size} events of {key.split('+')[0]}, signed by {key}")
    if given.proof:
        with open(given.proof, encoding="utf-8") as file:
            proofs = json.load(file)
        then, then_root = open_checkpoint(proofs["checkpoint"], key)
        if then > size or log.root(then) != then_root:
            print(f"{proofs['checkpoint']}\n{note}")
            print(f"FORK: the first {then} events are not those of the proofs", file=sys.stderr)
            return 3
        verify_proofs(proofs, then, then_root)
    if known:
        # Every tile was compared with the root of this tree, so those of the tree before are part of it.
        before, old_root = open_checkpoint(known["checkpoint"], key)
        if size < before or log.root(before) != old_root:
            print(f"{known['checkpoint']}\n{note}")
            print(f"FORK: the first {before} events are not those that were seen last", file=sys.stderr)
            return 3
        print(f"It continues the checkpoint of {before} events that was seen last")
    elif not given.key:
        print("The service named this key itself: compare it elsewhere")
    if given.state:
        with open(given.state + ".new", "w", encoding="utf-8") as file:
            json.dump({"key": key, "checkpoint": note}, file)
        os.replace(given.state + ".new", given.state)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ValueError, LookupError, TypeError, AttributeError, InvalidSignature, urllib.error.URLError) as error:
        print(f"Not verified: {str(error) or 'a signature is wrong'}", file=sys.stderr)
        sys.exit(1)
