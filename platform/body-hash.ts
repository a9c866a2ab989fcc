import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** SHA-256, in hex, of the canonical JSON (RFC 8785) of a value. */
export function contentHash(value: unknown): string {
  return hash('sha256', canonicalize(value) ?? '', 'hex');
}
