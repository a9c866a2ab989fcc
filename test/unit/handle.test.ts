import t from 'tap';
import { z } from 'zod';
import { attribute } from '../../platform/eventstore/append.ts';
import { type Command, resolveAnswer } from '../../platform/eventstore/command.ts';
import type { Decider } from '../../platform/eventstore/decider.ts';
import { defineEvent, type RecordedEvent } from '../../platform/eventstore/event.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import { definePolicy, handle } from '../../platform/eventstore/handle.ts';
import { derive, flattenReads, shapeRows } from '../../platform/eventstore/load.ts';
import { memberOwner, moderatorOwner } from '../../platform/eventstore/owner.ts';
import type { Receipt } from '../../platform/eventstore/receipts.ts';
import { defineStream } from '../../platform/eventstore/stream.ts';
import { isRefusal, type Refusal, refuse } from '../../platform/refusal.ts';
import { type Sql, sql } from '../../platform/sql.ts';

const MODERATOR = 'a0000000-0000-4000-8000-000000000000';
const AUTHOR = 'b0000000-0000-4000-8000-000000000000';
const KEY = 'c0000000-0000-4000-8000-000000000000';
const THING = 'd0000000-0000-4000-8000-000000000000';
const NOW = new Date(0);
const moderator = { type: 'moderator' as const, id: MODERATOR };

const Counted = defineEvent('Counted', { summary: '', data: z.strictObject({ by: z.int() }) });
const Reset = defineEvent('Reset', { summary: '', data: z.strictObject({}) });
type Events = typeof Counted | typeof Reset;

/** Counts to ten, from where it starts again. */
const counter: Decider<number, { by: number }, Events, 'state_conflict'> = {
  initial: 0,
  decide(state, { by }) {
    if (by < 0) return refuse('state_conflict');
    if (by === 0) return [];
    const counted = { type: 'Counted' as const, data: { by }, personal: null };
    const reset = { type: 'Reset' as const, data: {}, personal: null };
    return state + by > 10 ? [reset, counted] : [counted];
  },
  evolve: (state, event) => (event.type === 'Reset' ? 0 : state + event.data.by),
};
const counters = defineStream('counter', counter, { Reset: { type: 'service' } });

const policyRow = sql`SELECT 'policy'`;
const countRow = sql<{ count: number }>`SELECT 'count'`;

interface Options {
  live?: boolean;
  limited?: boolean;
  /** The count of the stream; without one, the stream is not found. */
  count?: number | null;
  by?: number;
  sent?: object;
}

/** A store that keeps receipts and records what each command writes. */
function createStore() {
  const receipts = new Map<string, Receipt>();
  const written: object[] = [];
  const handled = ({ live = true, limited = false, count = 4, by = 1, sent = {} }: Options) => {
    const rowsOf = ({ name, values }: Sql) => {
      if (name === policyRow.name) return [{ live, limited }];
      if (name === countRow.name) return count === null ? [] : [{ count }];
      const receipt = receipts.get(String(values));
      return receipt ? [{ ...receipt, body_hash: receipt.bodyHash }] : [];
    };
    const store = {
      async execute({ load, decide }: Command<unknown, string>) {
        const rows = shapeRows(load, flattenReads(load).map(rowsOf));
        const decision = decide({ rows, now: NOW, locked: [] });
        if (isRefusal(decision)) return decision;
        if ('unchanged' in decision) return decision.unchanged;
        const events = decision.appends.flatMap(({ events }) =>
          events.map((event, index) => ({ ...event, event_id: `event ${index}` })),
        ) as unknown as RecordedEvent[];
        for (const one of [decision.receipt?.(events) ?? []].flat())
          receipts.set(String([one.owner.id, one.space, one.key]), one);
        written.push({ appends: decision.appends, rows: decision.rows });
        return resolveAnswer(decision, events);
      },
    } as unknown as EventStore;
    const policy = definePolicy({
      actor: moderator,
      lock: [],
      load: policyRow as Sql<{ live: boolean; limited: boolean }>,
      prove: ([row]) => (row?.live ? null : refuse('moderator_required')),
      request: {
        owner: moderatorOwner(MODERATOR),
        space: 'moderation',
        key: KEY,
        operation: 'count',
        route: 'POST /count',
        sent,
        keys: null,
      } as never,
      repeat: ({ reply }): { status: number; body: unknown } => ({ status: 299, body: reply }),
      charge: ([row], { changes }) =>
        row?.limited
          ? refuse('rate_limited')
          : {
              rows: [policyRow],
              give: (events) => events.map(({ event_id }) => event_id),
              headers: { changes: String(changes) },
            },
    });
    return handle(store, policy, {
      load: {
        thing: derive(countRow, ([row]) =>
          row ? counters.at(memberOwner(AUTHOR), THING, 7, row.count) : refuse('not_found'),
        ),
      },
      decide({ thing }, now) {
        const counted = thing.decide({ by });
        if (isRefusal(counted)) return counted;
        const { state, version } = counted;
        return {
          ...counted,
          rows: [countRow],
          reply: (ids) => ({ status: 201, body: { state, version, ids, at: now.getTime() } }),
        };
      },
    });
  };
  return { handled, written, receipts };
}

t.test('appends what the decider decides, and stores the reply in a receipt', async (t) => {
  const { handled, written, receipts } = createStore();
  const body = { state: 5, version: 8, ids: ['event 0'], at: 0 };
  t.same(await handled({}), { status: 201, body, headers: { changes: 'true' } });
  t.same(written, [
    {
      appends: [
        {
          owner: memberOwner(AUTHOR),
          stream: `counter-${THING}`,
          version: 7,
          actor: moderator,
          events: [{ type: 'Counted', data: { by: 1 }, personal: null }],
        },
      ],
      rows: [policyRow, countRow],
    },
  ]);
  t.match([...receipts.values()], [{ httpStatus: 201, reply: body, eventIds: ['event 0'] }]);
});

t.test('answers a repeat from the receipt, also after the stream has changed', async (t) => {
  const { handled, written } = createStore();
  await handled({});
  for (const change of [{}, { count: null }, { limited: true }, { by: -1 }])
    t.match(await handled(change), { status: 299, body: { state: 5 } });
  t.equal(written.length, 1);
  t.same(await handled({ sent: { other: true } }), refuse('idempotency_conflict'));
});

t.test('refuses in this order: proof, another request, stream, decider, limit', async (t) => {
  const refused = async (change: Options, earlier: boolean) => {
    const { handled } = createStore();
    if (earlier) await handled({});
    return ((await handled(change)) as Refusal).refused;
  };
  const all: Options = { live: false, sent: { other: true }, count: null, by: -1, limited: true };
  t.equal(await refused(all, true), 'moderator_required');
  t.equal(await refused({ ...all, live: true }, true), 'idempotency_conflict');
  t.equal(await refused({ ...all, live: true }, false), 'not_found');
  t.equal(await refused({ ...all, live: true, count: 4 }, false), 'state_conflict');
  t.equal(await refused({ limited: true }, false), 'rate_limited');
});

t.test('a decision without events writes nothing, and so has no receipt', async (t) => {
  const { handled, written, receipts } = createStore();
  t.match(await handled({ by: 0 }), {
    body: { version: 7, ids: [] },
    headers: { changes: 'false' },
  });
  t.same([written.length, receipts.size], [0, 0]);
});

t.test('a stream attributes some events to another actor', async (t) => {
  const stream = counters.at(memberOwner(AUTHOR), THING, 7, 9);
  const counted = stream.decide({ by: 3 });
  if (isRefusal(counted)) return t.fail('refused');
  t.match(counted, { state: 3, version: 9 });
  t.match(attribute(counted.appends, moderator), [
    { version: 7, actor: { type: 'service' }, events: [{ type: 'Reset' }] },
    { version: 8, actor: moderator, events: [{ type: 'Counted' }] },
  ]);
});

t.test('loads a stream by replaying it; a new one has no event', async (t) => {
  const counted = [2, 3].map((by, index) => ({
    type: 'Counted',
    data: { by },
    stream_version: index + 1,
  }));
  const load = counters.load(memberOwner(AUTHOR), THING);
  t.match(flattenReads(load), [{ values: [AUTHOR, `counter-${THING}`] }]);
  t.match(shapeRows(load, [counted]), { state: 5, version: 2 });
  t.match(shapeRows(load, [[]]), { state: 0, version: 0 });
  t.match(counters.create(memberOwner(AUTHOR), THING), { state: 0, version: 0 });
  t.same(counters.create(memberOwner(AUTHOR), THING).append(refuse('gone')), refuse('gone'));
});
