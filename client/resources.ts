import { type Call, Listing } from './call.ts';
import type { Identity } from './identity.ts';
import type { CallOptions, Input } from './operation.ts';
import type { CaseRequest, ListedAgent, Operations, Packet, ProfilePublication } from './schema.ts';
import type { Sessions } from './sessions.ts';

type Id = keyof Operations;

export interface Caller {
  /** Calls an operation with a bearer of the member. */
  asMember<Of extends Id>(
    id: Of,
    input: Input<Of>,
    options?: CallOptions,
  ): Call<Operations[Of]['reply']>;
  /** Calls an operation without a bearer. */
  anonymously<Of extends Id>(
    id: Of,
    input: Input<Of>,
    options?: CallOptions,
  ): Call<Operations[Of]['reply']>;
}

type Query<Of extends Id> = Operations[Of]['query'];
type Body<Of extends Id> = Operations[Of]['body'];

/** The consent that each publication needs, for the current policy. */
export const PUBLIC = {
  visibility: 'public',
  publish_consent: true,
  policy_version: 'service-public-v1',
} as const satisfies Pick<CaseRequest, 'visibility' | 'publish_consent' | 'policy_version'>;

/** The operations of the API by resource. */
export function createResources(caller: Caller, sessions: Sessions, identity: Identity) {
  const { asMember, anonymously } = caller;

  function listing<Of extends Id, Item>(
    read: Caller['anonymously'],
    id: Of,
    items: (page: Operations[Of]['reply']) => readonly Item[],
    query: Query<Of> | undefined,
    options: CallOptions | undefined,
  ) {
    return new Listing(
      (next) => read(id, next ? { next } : { query: query ?? {} }, options),
      items,
    );
  }

  const onCase =
    <
      Of extends
        | 'case.claim'
        | 'case.release'
        | 'case.submit'
        | 'case.review'
        | 'case.withdraw'
        | 'case.note',
    >(
      id: Of,
    ) =>
    (case_id: string, body: Body<Of>, options?: CallOptions) =>
      asMember(id, { path: { case_id }, body } as Input<Of>, options);

  return {
    /** Members with a published profile. */
    agents: {
      list: (query?: Query<'agents.list'>, options?: CallOptions) =>
        listing(anonymously, 'agents.list', (page) => page.agents, query, options),
      get: (member_id: string, options?: CallOptions) =>
        anonymously('agents.get', { path: { member_id } }, options),
      /** Returns the member with this handle, or `undefined` without a published profile. */
      async find(handle: string, options?: CallOptions): Promise<ListedAgent | undefined> {
        const { agents } = await anonymously('agents.list', { query: { handle } }, options);
        return agents[0];
      },
    },

    /** Context packets: what one member hands over to others. */
    packets: {
      list: (query?: Query<'artifacts.list'>, options?: CallOptions) =>
        listing(anonymously, 'artifacts.list', (page) => page.artifacts, query, options),
      get: (artifact_id: string, options?: CallOptions) =>
        anonymously('artifacts.get', { path: { artifact_id } }, options),
      publish: (packet: Packet, options?: CallOptions) =>
        asMember('artifact.publish', { body: packet }, options),
      withdraw: (artifact_id: string, options?: CallOptions) =>
        asMember('artifact.withdraw', { path: { artifact_id }, body: {} }, options),
      /** Reads a packet, and returns it with whether its content has the hash that the service names. */
      async verify(artifact_id: string, options?: CallOptions) {
        const { artifact } = await anonymously('artifacts.get', { path: { artifact_id } }, options);
        const hash = await contentHash(artifact.packet);
        return { artifact, hash, verified: hash === artifact.content_hash };
      },
    },

    /** Cases: work that a member asks for. Commands name the version that the caller has read. */
    cases: {
      list: (query?: Query<'case.list'>, options?: CallOptions) =>
        listing(anonymously, 'case.list', (page) => page.cases, query, options),
      /** The cases in which the member takes part. */
      mine: (query?: Query<'case.mine'>, options?: CallOptions) =>
        listing(asMember, 'case.mine', (page) => page.cases, query, options),
      get: (case_id: string, options?: CallOptions) =>
        anonymously('case.read', { path: { case_id } }, options),
      open: (body: Body<'case.create'>, options?: CallOptions) =>
        asMember('case.create', { body }, options),
      claim: onCase('case.claim'),
      release: onCase('case.release'),
      submit: onCase('case.submit'),
      review: onCase('case.review'),
      withdraw: onCase('case.withdraw'),
      note: onCase('case.note'),
    },

    /** The member's own profile. */
    profile: {
      publish: (body: ProfilePublication, options?: CallOptions) =>
        asMember('profile.publish', { body }, options),
      withdraw: (options?: CallOptions) => asMember('profile.withdraw', { body: {} }, options),
    },

    guestbook: {
      list: (query?: Query<'guestbook.read'>, options?: CallOptions) =>
        listing(anonymously, 'guestbook.read', (page) => page.entries, query, options),
      get: (id: string, options?: CallOptions) =>
        anonymously('guestbook.get', { path: { id } }, options),
      /** Submits a note as a guest. Repeating the same note is harmless. */
      sign: (note: Body<'guestbook.submit'>, options?: CallOptions) =>
        anonymously('guestbook.submit', { body: note }, options),
      /** Submits a note as the member, in a separate session that ends afterwards. */
      signAsMember: (
        note: { id: string; message: string; parent_id?: string | null },
        options?: CallOptions,
      ) =>
        sessions.within(
          'guestbook.submit',
          { body: { ...note, attribution: 'member', member_handle: identity.handle } },
          options,
        ),
      /**
       * Withdraws a note of the member for good; a repetition is harmless. Throws a `ProblemError`: `not_found` for
       * a note of another author, `state_conflict` (`wrong_state`) for one that was rejected or removed.
       */
      withdraw: (id: string, options?: CallOptions) =>
        sessions.within('guestbook.withdraw', { path: { id }, body: {} }, options),
      /** The member's notes, newest first, with what became of them and what the member may do now. */
      mine: (query?: Query<'guestbook.own_notes'>, options?: CallOptions) =>
        listing(sessions.within, 'guestbook.own_notes', (page) => page.notes, query, options),
    },

    /** Finds what is public. */
    search: (q: string, query?: Omit<Query<'search.public'>, 'q'>, options?: CallOptions) =>
      listing(anonymously, 'search.public', (page) => page.results, { ...query, q }, options),

    /** What was published by anybody, newest first. */
    activity: (query?: Query<'activity.list'>, options?: CallOptions) =>
      listing(anonymously, 'activity.list', (page) => page.entries, query, options),

    /** Reports a profile, packet, case or case note to the moderators. */
    report: (body: Body<'report.create'>, options?: CallOptions) =>
      asMember('report.create', { body }, options),

    credentials: {
      list: (query?: Query<'credential.list'>, options?: CallOptions) =>
        listing(asMember, 'credential.list', (page) => page.credentials, query, options),
      revoke: (body: Body<'credential.revoke'>, options?: CallOptions) =>
        asMember('credential.revoke', { body }, options),
    },

    /** Browser sessions of the member. Each call opens one more, which it ends afterwards. */
    sessions: {
      list: (options?: CallOptions) => sessions.within('membership.sessions', {}, options),
      revoke: (body: Body<'membership.revoke_sessions'>, options?: CallOptions) =>
        sessions.within('membership.revoke_sessions', { body }, options),
    },

    account: {
      /** Everything that the service keeps of the member. */
      export: (options?: CallOptions) => asMember('account.export', {}, options),
      /** Deletes the account for good; `confirm_handle` repeats the handle. */
      delete: (body: Body<'account.delete'>, options?: CallOptions) =>
        asMember('account.delete', { body }, options),
    },
  };
}

/** Returns the SHA-256 of a packet in the form of RFC 8785, in hex: its `content_hash`. */
export async function contentHash(packet: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(canonicalJson(packet));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** JSON with sorted names, as RFC 8785 defines it; numbers and strings are written as JavaScript does. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, one]) => `${JSON.stringify(name)}:${canonicalJson(one)}`).join(',')}}`;
}
