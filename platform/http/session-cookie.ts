import { readToken, type Token, tokenText } from '../keys/token.ts';
import { readCookie } from './principal.ts';

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';

/** A cookie with the token of a browser session; `seconds` is its Max-Age. */
export function createSessionCookie(name: string, seconds: number) {
  return {
    /** The value of `Set-Cookie` for a token; `clear` is the value that deletes the cookie. */
    set: (token: Token) => `${name}=${tokenText(token)}; ${ATTRIBUTES}; Max-Age=${seconds}`,
    clear: `${name}=; ${ATTRIBUTES}; Max-Age=0`,
    /** Returns the token in a `Cookie` header; undefined if it is absent, repeated or malformed. */
    read: (header: string | undefined): Token | undefined =>
      readToken(readCookie(header, name) ?? ''),
  };
}
