import type { Refusal } from '../refusal.ts';

/**
 * The words for what a caller may do. The domain adds `scope` and `role` to this type
 * (domain/permissions.ts); without it, any text is one.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the domain adds to it.
export interface Permissions {}

type Word<Name extends string> =
  Permissions extends Record<Name, infer Words extends string> ? Words : string;

/** What a bearer must be allowed to call a route. */
export type Scope = Word<'scope'>;

/** As what a moderator acts. */
export type Role = Word<'role'>;

/** The caller of a request; anonymous callers are principals as well. */
export type Principal =
  | { kind: 'anonymous' }
  | { kind: 'session'; memberId: string; handle: string; sessionId: string; expiresAt: Date }
  | {
      kind: 'credential';
      memberId: string;
      handle: string;
      credentialId: string;
      scopes: readonly Scope[];
      label: string | null;
      /** Key epoch of the member, which equals that of the bearer. A recovery raises the epoch. */
      keyEpoch: number;
      createdAt: Date;
      expiresAt: Date;
      /** Writes of the member on this UTC day, before this request. */
      writesToday: number;
      /** When the bearer was verified, by the database's clock. */
      provenAt: Date;
    }
  | {
      kind: 'moderator';
      moderatorId: string;
      name: string;
      role: Role;
      /**
       * The browser session if the cookie was used; otherwise null, with the keyed hash of the
       * token.
       */
      sessionId: string | null;
      tokenHash: string | null;
    };

export type PrincipalOf<Kind extends Principal['kind']> = Extract<Principal, { kind: Kind }>;

/** Headers that can authenticate the caller, each sent once; undefined if absent. */
export interface PresentedCredential {
  authorization: string | undefined;
  cookie: string | undefined;
  /** Value of `Expected-Moderator`: the moderator as whom the caller expects to act. */
  moderator?: string | undefined;
}

/**
 * Implemented by the capabilities. No authenticator caches a positive result beyond one request.
 */
export interface Authenticators {
  bearer(presented: PresentedCredential): Promise<PrincipalOf<'credential'> | Refusal>;
  session(presented: PresentedCredential): Promise<PrincipalOf<'session'> | Refusal>;
  moderator(presented: PresentedCredential): Promise<PrincipalOf<'moderator'> | Refusal>;
}

/** Returns the token of an `Authorization: Bearer` header; the scheme is case-insensitive. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +([!-~]+)$/i.exec(authorization ?? '')?.[1];
}

/** Returns the value of a cookie, or undefined if the cookie is absent or sent twice. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const values = (header ?? '')
    .split(';')
    .map(trimmed)
    .filter((pair) => pair.startsWith(`${name}=`));
  return values.length === 1 ? values[0]?.slice(name.length + 1) : undefined;
}

/** Trims only spaces and tabs, the white space of HTTP; `trim` removes more. */
function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (text[start] === ' ' || text[start] === '\t') start++;
  while (end > start && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--;
  return text.slice(start, end);
}
