import type { Refusal } from '../refusal.ts';
import type { Scope } from './scopes.ts';

/** The cookie of a moderator's browser session. */
export const MODERATOR_COOKIE = '__Host-ServiceModerator';

export type Role = 'triage' | 'moderator' | 'lead' | 'auditor';

/** Who calls. Nobody is a principal too. */
export type Principal =
  | { kind: 'anonymous' }
  | { kind: 'session'; memberId: string; handle: string; sessionId: string; expiresAt: Date }
  | {
      kind: 'credential';
      memberId: string;
      handle: string;
      credentialId: string;
      scopes: readonly Scope[];
      /** The member's, since the bearer holds: a recovery raises it. */
      keyEpoch: number;
      createdAt: Date;
      expiresAt: Date;
      /** Writes of the member on this UTC day, before this request. */
      writesToday: number;
      /** When the bearer was proven, by the database's clock. */
      provenAt: Date;
    }
  | {
      kind: 'moderator';
      moderatorId: string;
      name: string;
      role: Role;
      /** The browser session, where the cookie was used; else the keyed hash of the token. */
      sessionId: string | null;
      tokenHash: string | null;
    };

export type PrincipalOf<Kind extends Principal['kind']> = Extract<Principal, { kind: Kind }>;

/** What a request carries that can prove who calls: values of single headers, undefined where absent. */
export interface Presented {
  authorization: string | undefined;
  cookie: string | undefined;
  /** Of `Expected-Moderator`: whom the caller takes itself for. */
  moderator?: string | undefined;
}

/** Made by the features, wired by app.ts. None of them keeps a positive answer beyond a request. */
export interface Authenticators {
  bearer(presented: Presented): Promise<PrincipalOf<'credential'> | Refusal>;
  session(presented: Presented): Promise<PrincipalOf<'session'> | Refusal>;
  moderator(presented: Presented): Promise<PrincipalOf<'moderator'> | Refusal>;
}

/** The credentials of an Authorization header of the scheme Bearer, which is matched in any case. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +([!-~]+)$/i.exec(authorization ?? '')?.[1];
}

/** The value of a cookie; one sent twice counts as none. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const values = (header ?? '')
    .split(';')
    .map(trimmed)
    .filter((pair) => pair.startsWith(`${name}=`));
  return values.length === 1 ? values[0]?.slice(name.length + 1) : undefined;
}

/** Without the white space that HTTP knows, which is less than `trim` takes away. */
function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (text[start] === ' ' || text[start] === '\t') start++;
  while (end > start && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--;
  return text.slice(start, end);
}
