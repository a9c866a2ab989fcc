"""An authenticator for passkeys, as WebAuthn describes it: ES256 with the arithmetic of P-256 itself."""

import hashlib
import json
import secrets
from base64 import urlsafe_b64encode

PRIME = 2**256 - 2**224 + 2**192 + 2**96 - 1
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
BASE = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
USER_PRESENT, USER_VERIFIED, HAS_CREDENTIAL = 0x01, 0x04, 0x40


def added(one, other):
    if one is None or other is None:
        return one or other
    (x1, y1), (x2, y2) = one, other
    if x1 == x2 and (y1 + y2) % PRIME == 0:
        return None
    if one == other:
        slope = 3 * (x1 * x1 - 1) * pow(2 * y1, -1, PRIME)
    else:
        slope = (y2 - y1) * pow(x2 - x1, -1, PRIME)
    x = (slope * slope - x1 - x2) % PRIME
    return x, (slope * (x1 - x) - y1) % PRIME


def times(count, point):
    result = None
    while count:
        if count & 1:
            result = added(result, point)
        point, count = added(point, point), count >> 1
    return result


def integer(value):
    """An integer of DER."""
    raw = value.to_bytes(33, "big").lstrip(b"\0")
    raw = b"\0" + raw if raw[0] & 0x80 else raw
    return b"\x02" + bytes([len(raw)]) + raw


def text(raw):
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def sha256(raw):
    return hashlib.sha256(raw).digest()


class Authenticator:
    """Has one passkey, whose id and key are made anew."""

    def __init__(self, origin):
        self.origin, self.id, self.key = origin, secrets.token_bytes(32), secrets.randbelow(ORDER - 1) + 1
        self.user = ""

    def client_data(self, kind, options):
        said = {"type": kind, "challenge": options["challenge"], "origin": self.origin, "crossOrigin": False}
        return json.dumps(said).encode()

    def register(self, options):
        self.user = options["user"]["id"]
        x, y = (part.to_bytes(32, "big") for part in times(self.key, BASE))
        cose = bytes.fromhex("a5010203262001215820") + x + bytes.fromhex("225820") + y
        flags = USER_PRESENT | USER_VERIFIED | HAS_CREDENTIAL
        data = sha256(options["rp"]["id"].encode()) + bytes([flags]) + bytes(4)
        data += bytes(16) + len(self.id).to_bytes(2, "big") + self.id + cose
        head = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"
        attestation = head + bytes([len(data)]) + data
        said = self.client_data("webauthn.create", options)
        return {
            "id": text(self.id),
            "response": {"clientDataJSON": text(said), "attestationObject": text(attestation)},
        }

    def sign_in(self, options):
        said = self.client_data("webauthn.get", options)
        data = sha256(options["rpId"].encode()) + bytes([USER_PRESENT | USER_VERIFIED]) + bytes(4)
        digest = int.from_bytes(sha256(data + sha256(said)), "big")
        nonce = secrets.randbelow(ORDER - 1) + 1
        r = times(nonce, BASE)[0] % ORDER
        s = pow(nonce, -1, ORDER) * (digest + r * self.key) % ORDER
        sequence = integer(r) + integer(s)
        signature = b"\x30" + bytes([len(sequence)]) + sequence
        return {
            "id": text(self.id),
            "response": {
                "clientDataJSON": text(said),
                "authenticatorData": text(data),
                "signature": text(signature),
                "userHandle": self.user,
            },
        }
