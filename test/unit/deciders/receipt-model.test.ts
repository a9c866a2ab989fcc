import fc from 'fast-check';
import t from 'tap';
import { memberOwner } from '../../../domain/owners.ts';
import type { RecordedEvent } from '../../../platform/eventstore/event.ts';
import type { EventStore } from '../../../platform/eventstore/event-store.ts';
import { flattenReads, shapeRows } from '../../../platform/eventstore/load.ts';
import type { Plan } from '../../../platform/eventstore/plan.ts';
import { type ReceiptRow, readReceipt } from '../../../platform/eventstore/receipts.ts';
import type { AnyReply } from '../../../platform/http/route.ts';
import { keyRing } from '../../../platform/keys/key-ring.ts';
import { writesToday } from '../../../platform/limits/write-budget.ts';
import { isRefusal, type Refusal } from '../../../platform/refusal.ts';
import type { Sql } from '../../../platform/sql.ts';
import { credentialHolder, findCredential } from '../../../projections/credentials/credentials.ts';
import { findMember } from '../../../projections/membership/members.ts';
import { findProfile } from '../../../projections/profiles/profiles.ts';
import { artifactsContract } from '../../../services/artifacts/contract.ts';
import { artifactsHandlers } from '../../../services/artifacts/handlers.ts';
import { byBearer } from '../../../services/credentials/by-bearer.ts';
import { credentialsContract } from '../../../services/credentials/contract.ts';
import { createCredential } from '../../../services/credentials/create.ts';
import { profilesContract } from '../../../services/profiles/contract.ts';
import { profilesHandlers } from '../../../services/profiles/handlers.ts';
import {
  ANSWERS,
  bodyOf,
  credentialsFor,
  EVERY_ANSWER,
  NO_ARTIFACT,
  ReceiptModel,
  type Step,
  steps,
  WRITES,
} from '../../support/receipt-model.ts';
import { answersOf, same, tries } from '../../support/sequences.ts';

const MEMBER = 'a0000000-0000-4000-8000-000000000000';
const CREDENTIAL = 'e0000000-0000-4000-8000-000000000000';
const NOW = new Date('2026-09-12T10:00:00.000Z');
const keys = keyRing([{ id: 1, secret: Buffer.alloc(32, 7) }]);
const credentials = credentialsFor();
const expiring = { expires_at: NOW.getTime() / 1000 + 3600 };

const ROUTES = {
  publish: profilesContract['profile.publish'],
  withdraw: profilesContract['profile.withdraw'],
  retract: artifactsContract['artifact.withdraw'],
  credential: credentialsContract['credential.bootstrap'],
};

/** What storage holds of one member. Its `execute` decides as the store does, on these rows. */
class Storage {
  used = 0;
  events = 0;
  readonly #receipts = new Map<string, ReceiptRow>();
  readonly #credentials = new Map<string, object>();
  #profile: { state: string; version: number; removal_told: boolean } | undefined;

  async act(step: Step, expected: number | undefined): Promise<{ answer: string; text: string }> {
    const sent = bodyOf(
      step,
      expected,
      credentials.map((made) => ({ ...made, ...expiring })),
    );
    const key = `key ${step.key}`;
    const id = String(sent.credential_id);
    const store = {
      execute: async (command: Plan<unknown, string>) => this.#execute(command, key, id),
    } as unknown as EventStore;
    const deps = {
      store,
      keys,
      config: { limitWritesPerDay: WRITES, limitActiveCredentials: 1000 },
    } as never;
    const call = {
      operation: step.type,
      route: ROUTES[step.type],
      params: { artifact_id: NO_ARTIFACT },
      sent: sent as never,
      body: sent as never,
      principal: { memberId: MEMBER, credentialId: CREDENTIAL } as never,
      request: { idempotencyKey: key },
    };
    const answer = (await {
      publish: () => profilesHandlers(deps)['profile.publish'](call as never),
      withdraw: () => profilesHandlers(deps)['profile.withdraw'](call as never),
      retract: () => artifactsHandlers(deps)['artifact.withdraw'](call as never),
      credential: () =>
        createCredential(
          deps,
          byBearer(deps, call),
          MEMBER,
          sent as never,
          null,
          (made) => ({ status: 201, body: made }) as never,
        ),
    }[step.type]()) as AnyReply | Refusal;
    if (isRefusal(answer))
      return { answer: String(answer.details?.reason ?? answer.refused), text: '' };
    return answer.content
      ? { answer: 'replayed', text: String(answer.content.bytes) }
      : { answer: 'accepted', text: JSON.stringify(answer.body) };
  }

  #rows = (row: object | undefined) => (row ? [row] : []);

  /** The rows of a statement, recognized by its name. */
  #read({ name }: Sql, key: string, credentialId: string): object[] {
    const of: Record<string, object[]> = {
      [readReceipt(memberOwner(MEMBER), 'api', key).name]: this.#rows(this.#receipts.get(key)),
      [writesToday(MEMBER).name]: [{ used: this.used }],
      [credentialHolder(CREDENTIAL).name]: [{ member_id: MEMBER }],
      [findProfile(MEMBER).name]: this.#rows(this.#profile),
      [findCredential(credentialId).name]: this.#rows(this.#credentials.get(credentialId)),
      [findMember(MEMBER).name]: [{ key_epoch: 1 }],
    };
    return of[name] ?? [];
  }

  #execute(stored: Plan<unknown, string>, key: string, credentialId: string): unknown {
    const read = flattenReads(stored.load).map((one) => this.#read(one, key, credentialId));
    const rows = shapeRows(stored.load, read);
    const decision = stored.decide({ rows, now: NOW, locked: [MEMBER] });
    if (isRefusal(decision)) return decision;
    if ('unchanged' in decision) return decision.unchanged;
    const events = decision.appends.flatMap(({ version, events }) =>
      events.map((event, n) => ({
        ...event,
        stream_version: version + n + 1,
        event_id: `event ${this.events + n}`,
      })),
    ) as unknown as RecordedEvent[];
    for (const event of events) this.#take(event);
    // One of the rows beside the events is the budget's, unless it is the credential's verifier.
    this.used += (decision.rows ?? []).filter(({ text }) => text.includes('write_budgets')).length;
    const [receipt] = [decision.receipt?.(events) ?? []].flat();
    if (receipt)
      this.#receipts.set(key, {
        operation: receipt.operation,
        route: receipt.route,
        body_hash: receipt.bodyHash,
        bound: receipt.bound,
        http_status: receipt.httpStatus,
        reply: receipt.reply,
      });
    return typeof decision.answer === 'function' ? decision.answer(events) : decision.answer;
  }

  #take({ type, data, stream_version }: RecordedEvent): void {
    this.events++;
    if (type === 'CredentialCreated')
      this.#credentials.set(String((data as { credential_id: string }).credential_id), {});
    else
      this.#profile = {
        state: type === 'ProfilePublished' ? 'published' : 'withdrawn',
        version: stream_version,
        removal_told: false,
      };
  }
}

t.test('an exact repeat answers its receipt, and nothing else does', async (t) => {
  const answers = answersOf<Step>();
  await fc.assert(
    fc.asyncProperty(steps(30), async (sequence) => {
      const sides = [0, 1].map(() => ({
        storage: new Storage(),
        model: new ReceiptModel(),
        first: new Map<number, string>(),
      }));
      for (const step of sequence) {
        const { storage, model, first } = sides[step.member] as (typeof sides)[0];
        const expected = model.expected(step);
        const { answer, text } = await storage.act(step, expected);
        answers.agree(step, answer, model.act(step, expected));
        if (answer === 'accepted') first.set(step.key, text);
        if (answer === 'replayed') same(text, first.get(step.key));
        same([storage.used, storage.events], [model.used, model.events]);
      }
    }),
    { ...tries(1500), examples: [[EVERY_ANSWER]] },
  );
  for (const answer of ANSWERS) t.ok(answers.seen.has(answer), answer);
});
