import { randomBytes, randomUUID } from 'node:crypto';

/** An id and the 256-bit secret that proves it. */
export interface Token {
  id: string;
  secret: string;
}

const FORM = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([0-9a-f]{64})$/;

/** Creates a token with a random secret. */
export function newToken(id: string = randomUUID()): Token {
  return { id, secret: randomBytes(32).toString('hex') };
}

/** Formats a token as `<uuid>.<64 hex digits>`. */
export function tokenText({ id, secret }: Token): string {
  return `${id}.${secret}`;
}

/** Parses a token; undefined if the text is not one. */
export function readToken(text: string): Token | undefined {
  const [, id, secret] = FORM.exec(text) ?? [];
  return id && secret ? { id, secret } : undefined;
}
