import { randomBytes, randomUUID } from 'node:crypto';

/** An id and the 256-bit secret that proves it. */
export interface Token {
  id: string;
  secret: string;
}

const FORM = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([0-9a-f]{64})$/;
const PREFIX = 'mod_';

export function newToken(id: string = randomUUID()): Token {
  return { id, secret: randomBytes(32).toString('hex') };
}

export function readToken(text: string): Token | undefined {
  const [, id, secret] = FORM.exec(text) ?? [];
  return id && secret ? { id, secret } : undefined;
}

/** A moderator's own token, as the operator handed it out: `mod_<uuid>.<64 hex>`. */
export function moderatorToken({ id, secret }: Token): string {
  return `${PREFIX}${id}.${secret}`;
}

export function readModeratorToken(text: string): Token | undefined {
  return text.startsWith(PREFIX) ? readToken(text.slice(PREFIX.length)) : undefined;
}
