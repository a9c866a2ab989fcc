import fc from 'fast-check';
import t from 'tap';
import { memberOwner } from '../../../domain/owners.ts';
import { SCOPES } from '../../../domain/permissions.ts';
import { type Append, readFacts } from '../../../platform/eventstore/append.ts';
import type { NewEvent } from '../../../platform/eventstore/event.ts';
import type { EventStore } from '../../../platform/eventstore/event-store.ts';
import { flattenReads, shapeRows } from '../../../platform/eventstore/load.ts';
import type { Plan } from '../../../platform/eventstore/plan.ts';
import { keyRing } from '../../../platform/keys/key-ring.ts';
import { isRefusal, type Refusal } from '../../../platform/refusal.ts';
import {
  activeCredentials,
  type CredentialRow,
  credentialHolder,
  findCredential,
} from '../../../projections/credentials/credentials.ts';
import { findMember } from '../../../projections/membership/members.ts';
import { byBearer } from '../../../services/credentials/by-bearer.ts';
import { credentialsContract } from '../../../services/credentials/contract.ts';
import { createCredential } from '../../../services/credentials/create.ts';
import { revokeCredential } from '../../../services/credentials/revoke.ts';
import { answersOf, same, tries } from '../../support/sequences.ts';

const LIMIT = 3;
const START = 1_789_000_000;
const MEMBER = 'a0000000-0000-4000-8000-000000000000';
const [FEW, SOME, MANY] = [SCOPES.slice(0, 1), SCOPES.slice(0, 2), SCOPES.slice(0, 4)] as const;
const BEARER = 'c0000000-0000-4000-8000-000000000000';
const keys = keyRing([{ id: 1, secret: Buffer.alloc(32, 7) }]);
const idOf = (n: number) => `b0000000-0000-4000-8000-00000000000${n}`;

const made = {
  id: fc.nat(7),
  scopes: fc.constantFrom(FEW, SOME, MANY),
  lasts: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(60, 300, 3600, 86_400) },
    { weight: 1, arbitrary: fc.constantFrom(0, 59, 86_401) },
  ),
};
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('create' as const), ...made }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('rotate' as const), from: fc.nat(7), ...made }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('revoke' as const), id: fc.nat(7) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('wait' as const),
      seconds: fc.constantFrom(1, 59, 60, 299, 3600),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** The model: every credential, and the time until which it is valid. */
class Credentials {
  readonly #until = new Map<number, { until: number; scopes: readonly string[] }>();
  #now = START;

  usable(): number[] {
    return [...this.#until]
      .filter(([, { until }]) => until > this.#now)
      .map(([id]) => id)
      .sort();
  }

  act(step: Step): string {
    if (step.type === 'wait') {
      this.#now += step.seconds;
      return 'accepted';
    }
    const usable = this.usable();
    if (step.type === 'revoke') {
      if (!this.#until.has(step.id)) return 'credential_unavailable';
      return usable.includes(step.id) ? this.#end(step.id) : 'nothing';
    }
    if (step.type === 'rotate' && !usable.includes(step.from)) return 'credential_not_accepted';
    const present = step.type === 'rotate' ? this.#until.get(step.from) : undefined;
    if (step.lasts < 60 || step.lasts > 86_400) return 'invalid_request';
    if (present && !step.scopes.every((scope) => present.scopes.includes(scope)))
      return 'scope_escalation';
    if (this.#until.has(step.id)) return 'credential_id_used';
    if (step.type === 'create' && usable.length >= LIMIT) return 'active_credential_limit';
    if (step.type === 'rotate') this.#end(step.from);
    this.#until.set(step.id, { until: this.#now + step.lasts, scopes: step.scopes });
    return 'accepted';
  }

  #end(id: number): string {
    const credential = this.#until.get(id);
    if (credential) credential.until = 0;
    return 'accepted';
  }
}

/** The commands of the service on one member's log, with the rows that the projection makes. */
class Log {
  readonly #events = new Map<string, (NewEvent & { stream_version: number })[]>();
  readonly #rows = new Map<string, CredentialRow>();
  #now = START;

  #row(id: string): CredentialRow[] {
    const row = this.#rows.get(id);
    return row ? [{ ...row, unexpired: row.expires_at.getTime() > this.#now * 1000 }] : [];
  }

  usable(): number[] {
    return this.#active()
      .map(({ credential_id }) => Number(credential_id.at(-1)))
      .sort();
  }

  #active(): CredentialRow[] {
    return [...this.#rows.keys()]
      .flatMap((id) => this.#row(id))
      .filter(({ state, unexpired }) => state === 'active' && unexpired);
  }

  async act(step: Step): Promise<string> {
    if (step.type === 'wait') {
      this.#now += step.seconds;
      return 'accepted';
    }
    const id = idOf(step.id);
    const events = this.#events.get(`credential-${id}`) ?? [];
    if (step.type === 'revoke')
      return this.#handle({ credentials: this.#row(id), events }, (deps, policy) =>
        revokeCredential(deps, policy, MEMBER, id),
      );
    const from = step.type === 'rotate' ? this.#row(idOf(step.from))[0] : undefined;
    if (step.type === 'rotate' && !(from?.state === 'active' && from.unexpired))
      return 'credential_not_accepted';
    const body = {
      credential_id: id,
      credential_secret: 'f'.repeat(64),
      scopes: step.scopes,
      expires_at: this.#now + step.lasts,
    };
    const replaces = from
      ? { credentialId: from.credential_id, scopes: from.scopes, keyEpoch: 1, label: null }
      : null;
    const rows = {
      credentials: this.#row(id),
      members: [{ key_epoch: 1 }],
      active: this.#active(),
    };
    return this.#handle(rows, (deps, policy) =>
      createCredential(deps, policy, MEMBER, body, replaces, () => ({}) as never),
    );
  }

  /** Runs a command with these rows, and takes what it decides. */
  async #handle(
    rows: { credentials: object[]; events?: object[]; members?: object[]; active?: object[] },
    run: (
      deps: Parameters<typeof createCredential>[0],
      policy: ReturnType<typeof byBearer<(typeof credentialsContract)['credential.revoke']>>,
    ) => Promise<unknown>,
  ): Promise<string> {
    const rowsOf = new Map<string, object[] | undefined>([
      [credentialHolder(BEARER).name, [{ member_id: MEMBER }]],
      [findCredential(BEARER).name, rows.credentials],
      [readFacts(memberOwner(MEMBER), '').name, rows.events],
      [findMember(MEMBER).name, rows.members],
      [activeCredentials(MEMBER).name, rows.active],
    ]);
    let taken = '';
    const store = {
      execute: async ({ load, decide }: Plan<unknown, string>) => {
        const reads = flattenReads(load).map(({ name }) => rowsOf.get(name) ?? []);
        const now = new Date(this.#now * 1000);
        const decided = decide({ rows: shapeRows(load, reads), now, locked: [MEMBER] });
        taken = this.#take('unchanged' in decided ? { appends: [] } : decided);
      },
    } as unknown as EventStore;
    const config = { limitActiveCredentials: LIMIT, limitWritesPerDay: 1000 };
    const deps = { store, keys, config };
    const call = {
      operation: 'credential.revoke',
      route: credentialsContract['credential.revoke'],
      params: {},
      sent: {},
      principal: { memberId: MEMBER, credentialId: BEARER } as never,
      request: { idempotencyKey: BEARER },
    };
    await run(deps, byBearer(deps, call));
    return taken;
  }

  #take(decided: { appends: readonly Append[] } | Refusal): string {
    if (isRefusal(decided)) return String(decided.details?.reason ?? decided.refused);
    const appended = decided.appends.flatMap(({ stream, version, events }) => {
      const before = this.#events.get(stream) ?? [];
      if (version !== before.length) throw new Error(`${stream}: a race that nobody ran`);
      const recorded = events.map((event, n) => ({ ...event, stream_version: version + n + 1 }));
      this.#events.set(stream, [...before, ...recorded]);
      return events;
    });
    for (const { type, data } of appended as { type: string; data: Record<string, never> }[]) {
      const id = data.credential_id as unknown as string;
      const row = this.#rows.get(id);
      if (type === 'CredentialRevoked') this.#rows.set(id, { ...row, state: 'revoked' } as never);
      else
        this.#rows.set(id, {
          credential_id: id,
          member_id: MEMBER,
          label: null,
          scopes: data.scopes,
          state: 'active',
          created_at: new Date(this.#now * 1000),
          expires_at: new Date(data.expires_at as unknown as string),
          revoked_at: null,
          last_used_on: null,
        } as unknown as CredentialRow);
    }
    return appended.length > 0 ? 'accepted' : 'nothing';
  }
}

t.test('keeps the same usable credentials as the model in every sequence', async (t) => {
  const answers = answersOf<Step>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (sequence) => {
      const model = new Credentials();
      const log = new Log();
      for (const step of sequence) {
        answers.agree(step, await log.act(step), model.act(step));
        same(log.usable(), model.usable());
      }
    }),
    tries(2000),
  );
  for (const answer of [
    'create accepted',
    'create invalid_request',
    'create credential_id_used',
    'create active_credential_limit',
    'rotate accepted',
    'rotate invalid_request',
    'rotate scope_escalation',
    'rotate credential_id_used',
    'rotate credential_not_accepted',
    'revoke accepted',
    'revoke nothing',
    'revoke credential_unavailable',
  ])
    t.ok(answers.seen.has(answer), answer);
});
