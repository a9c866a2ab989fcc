import { readToken, type Token, tokenText } from '../keys/token.ts';
import { readCookie } from './principal.ts';

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';

/** A cookie with the token of a browser session, which browsers keep for so many seconds. */
export function sessionCookieOf(name: string, seconds: number) {
  return {
    /** Values of `Set-Cookie`. */
    set: (token: Token) => `${name}=${tokenText(token)}; ${ATTRIBUTES}; Max-Age=${seconds}`,
    clear: `${name}=; ${ATTRIBUTES}; Max-Age=0`,
    /** The token of a `Cookie` header, where there is exactly one and it has the form of one. */
    read: (header: string | undefined): Token | undefined =>
      readToken(readCookie(header, name) ?? ''),
  };
}
