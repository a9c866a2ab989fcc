import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { KeyRing, Verifier } from './keys/key-ring.ts';

/** Fields that hold a key or a secret, in any request body. */
const SECRETS = [
  'sign_in_key',
  'recovery_key',
  'new_sign_in_key',
  'new_recovery_key',
  'credential_secret',
] as const;

/** SHA-256, in hex, of the canonical JSON (RFC 8785) of a value. */
export function contentHash(value: unknown): string {
  return hash('sha256', canonicalize(value) ?? '', 'hex');
}

/** The body hash that a receipt shows; each secret counts as the text "redacted". */
export function redactedHash(body: Readonly<Record<string, unknown>>): string {
  const redacted = { ...body };
  for (const name of SECRETS) if (name in redacted) redacted[name] = 'redacted';
  return contentHash(redacted);
}

/** A keyed hash for each secret field of a body. */
export type Bound = Readonly<Record<string, Verifier>>;

/** Keyed hashes of a body's secrets, so that its receipt covers them; null if it has no secrets. */
export function bindSecrets(
  keys: KeyRing,
  owner: string,
  body: Readonly<Record<string, unknown>>,
): Bound | null {
  const present = SECRETS.filter((name) => typeof body[name] === 'string');
  if (present.length === 0) return null;
  return Object.fromEntries(
    present.map((name) => [name, keys.mac('receipt', `${owner} ${name}`, body[name] as string)]),
  );
}

/** Whether a body, secrets included, is the one that the receipt was issued for. */
export function sameBody(
  keys: KeyRing,
  owner: string,
  body: Readonly<Record<string, unknown>>,
  receipt: { body_hash: string; bound: unknown },
): boolean {
  if (redactedHash(body) !== receipt.body_hash) return false;
  const bound = (receipt.bound ?? {}) as Bound;
  return Object.entries(bound).every(([name, verifier]) =>
    keys.verify('receipt', `${owner} ${name}`, String(body[name]), verifier),
  );
}
