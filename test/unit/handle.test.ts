import t from 'tap';
import { z } from 'zod';
import { memberOwner, moderatorOwner } from '../../domain/owners.ts';
import { attribute } from '../../platform/eventstore/append.ts';
import type { Decider } from '../../platform/eventstore/decider.ts';
import { defineEvent } from '../../platform/eventstore/event.ts';
import {
  type Command,
  definePolicy,
  handle,
  type Policy,
} from '../../platform/eventstore/handle.ts';
import { derive, flattenReads, shapeRows } from '../../platform/eventstore/load.ts';
import { defineStream } from '../../platform/eventstore/stream.ts';
import { isRefusal, type Refusal, refuse } from '../../platform/refusal.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { RECEIPT_SPACES } from '../../services/receipt-spaces.ts';
import { createFakeStore } from '../support/fake-store.ts';

const MODERATOR = 'a0000000-0000-4000-8000-000000000000';
const AUTHOR = 'b0000000-0000-4000-8000-000000000000';
const KEY = 'c0000000-0000-4000-8000-000000000000';
const THING = 'd0000000-0000-4000-8000-000000000000';
const moderator = { type: 'moderator' as const, id: MODERATOR };

const Counted = defineEvent('Counted', { summary: '', data: z.strictObject({ by: z.int() }) });
const Reset = defineEvent('Reset', { summary: '', data: z.strictObject({}) });
type Counts = typeof Counted | typeof Reset;

/** Counts to ten, from where it starts again. */
const counter: Decider<number, { by: number }, Counts, 'state_conflict'> = {
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

type Reply = { status: number; body: unknown };

interface Options {
  live?: boolean;
  limited?: boolean;
  /** The count of the stream; without one, the stream is not found. */
  count?: number | null;
  by?: number;
  sent?: object;
}

const requestWith = (sent: object, key: string | null = KEY) =>
  ({
    owner: moderatorOwner(MODERATOR),
    space: RECEIPT_SPACES.moderation,
    key: key ?? undefined,
    operation: 'count',
    route: 'POST /count',
    sent,
    keys: null,
  }) as never;

/** Commands that count how often they were decided, and change rows. */
function createCountingStore({
  key = KEY,
  prove,
}: {
  key?: string | null;
  prove?: Policy<'x', Reply, string>['prove'];
} = {}) {
  const { store, receipts } = createFakeStore();
  let decided = 0;
  type Change = Partial<Command<Reply, 'gone', string>> & { by?: number };
  const count = ({ by = 1, ...change }: Change = {}) =>
    handle(
      store,
      {
        actor: moderator,
        ...(prove ? { prove } : {}),
        request: requestWith({ by }, key),
      } as Policy<'x', Reply, string>,
      { load: {}, decide: () => accept(() => ++decided), ...change },
    );
  return { count, receipts };
}

const accept = (body: () => unknown) => ({
  appends: [],
  changesRows: true,
  reply: () => ({ status: 201, body: body() }),
});

/** Counts within the limits of a caller. */
function createStore() {
  const executor = createFakeStore(({ name }) => rowsOf(name));
  let rowsOf = (_name: string | undefined): object[] | undefined => undefined;
  const handled = ({ live = true, limited = false, count = 4, by = 1, sent = {} }: Options) => {
    rowsOf = (name) => {
      if (name === policyRow.name) return [{ live, limited }];
      if (name === countRow.name) return count === null ? [] : [{ count }];
      return undefined;
    };
    const policy = definePolicy({
      actor: moderator,
      lock: [],
      load: policyRow as Sql<{ live: boolean; limited: boolean }>,
      prove: ([row]) => (row?.live ? null : refuse('moderator_required')),
      request: requestWith(sent),
      repeat: ({ body }): { status: number; body: unknown } => ({ status: 299, body }),
      charge: ([row], { changes }) =>
        row?.limited
          ? refuse('rate_limited')
          : {
              rows: [policyRow],
              give: (events) => events.map(({ event_id }) => event_id),
              headers: { changes: String(changes) },
            },
    });
    return handle(executor.store, policy, {
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
  return { handled, ...executor };
}

t.test('appends what the decider decides, and stores the reply in a receipt', async (t) => {
  const { handled, written, receipts } = createStore();
  const body = { state: 5, version: 8, ids: ['event 0'], at: 0 };
  t.same(await handled({}), { status: 201, body, headers: { changes: 'true' } });
  t.match(written, [
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

t.test(
  'a command says what its receipt stores, and how a repeat is answered from that',
  async (t) => {
    const { count, receipts } = createCountingStore();
    const first = await count({ store: ({ body }) => [body] });
    t.same(first, { status: 201, body: 1 });
    t.match([...receipts.values()], [{ httpStatus: 201, reply: [1] }]);
    t.same(await count({ restore: ({ body }) => ({ status: 200, body: (body as [number])[0] }) }), {
      status: 200,
      body: 1,
    });
    t.same(await count({ restore: () => refuse('gone') }), refuse('gone'));
  },
);

t.test(
  'a proof learns whether the request is a repeat, and what it proves is for the decision',
  async (t) => {
    const asked: boolean[] = [];
    const { count } = createCountingStore({
      prove(_rows, isRepeat) {
        asked.push(isRepeat());
        return 'Ada' as never;
      },
    });
    await count({ decide: (_loaded, _now, caller) => accept(() => caller) });
    t.match(await count(), { body: 'Ada' });
    await count({ by: 2 });
    t.same(asked, [false, true, false]);
  },
);

t.test('without a key, a command is decided again and has no receipt', async (t) => {
  const { count, receipts } = createCountingStore({ key: null });
  t.match([await count(), await count()], [{ body: 1 }, { body: 2 }]);
  t.equal(receipts.size, 0);
});

t.test(
  'an actor needs no proof and no receipt, and may write rows or jobs without an event',
  async (t) => {
    const { store, written } = createFakeStore();
    const actor = { type: 'service' as const };
    const events = [{ type: 'Reset', data: {}, personal: null }];
    const append = { owner: memberOwner(AUTHOR), stream: 'counter', version: 0, events };
    const job = { queue: 'count', data: {} };
    for (const writes of [
      { appends: [append] },
      { appends: [], rows: [countRow] },
      { appends: [], jobs: [job] },
      { appends: [], rows: [], jobs: [] },
    ])
      t.equal(
        await handle(store, actor, { load: {}, decide: () => ({ ...writes, reply: () => 7 }) }),
        7,
      );
    t.match(written, [
      { appends: [{ ...append, actor }], rows: [] },
      { appends: [], rows: [countRow] },
      { appends: [], jobs: [job] },
    ]);
    t.equal(written.length, 3, 'a command that writes nothing commits nothing');
  },
);

t.test('locks the members of the policy and those of the command', async (t) => {
  const { store, locked } = createFakeStore();
  const policy = { actor: moderator, lock: [MODERATOR] };
  await handle(store, policy, { lock: [AUTHOR], load: {}, decide: () => accept(() => null) });
  t.same(locked, [[MODERATOR, AUTHOR]]);
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
