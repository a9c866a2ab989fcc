import t from 'tap';
import { type Command, resolveAnswer } from '../../platform/eventstore/command.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import {
  executeIdempotently,
  type IdempotentCommand,
  type IdempotentRequest,
  POLICIES,
} from '../../platform/eventstore/idempotency.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import type { Receipt } from '../../platform/eventstore/receipts.ts';
import { keyRing } from '../../platform/keys/key-ring.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import type { Sql } from '../../platform/sql.ts';

const OWNER = 'a0000000-0000-4000-8000-000000000000';
const KEY = 'b0000000-0000-4000-8000-000000000000';
const SENT = { title: 'Ä', sign_in_key: 'a'.repeat(64), credential_secret: 'b'.repeat(64) };
const keys = keyRing([{ id: 1, secret: Buffer.alloc(32, 7) }]);
const spaces = Object.keys(POLICIES) as Receipt['space'][];
const withoutKey = spaces.filter((space) => !POLICIES[space].keyRequired);
const withKey = spaces.filter((space) => POLICIES[space].keyRequired);

/** A store of receipts alone; `rows` is what each command loads. */
function createReceiptStore(rows: readonly unknown[] = []) {
  const receipts = new Map<string, Receipt>();
  const find = (read: Sql | null) => {
    const receipt = receipts.get(String(read?.values));
    return receipt
      ? [{ ...receipt, body_hash: receipt.bodyHash, http_status: receipt.httpStatus }]
      : [];
  };
  const store = {
    async execute({ load, decide }: Command<unknown, string>) {
      const { receipts: read } = load as unknown as { receipts: Sql | null };
      const loaded = { command: rows, receipts: find(read) };
      const decision = decide({ rows: loaded, now: new Date(0), locked: [] });
      if (isRefusal(decision)) return decision;
      if ('unchanged' in decision) return decision.unchanged;
      for (const one of [decision.receipt?.([]) ?? []].flat())
        receipts.set(String([one.owner.id, one.space, one.key]), one);
      return resolveAnswer(decision, []);
    },
  } as unknown as EventStore;
  return { store, receipts };
}

const requestIn = (
  space: Receipt['space'],
  change: Partial<IdempotentRequest> = {},
): IdempotentRequest =>
  ({
    owner: memberOwner(OWNER),
    space,
    key: KEY,
    operation: 'thing.make',
    route: 'POST /things',
    sent: SENT,
    keys: keys as never,
    ...change,
  }) as IdempotentRequest;

/** A command whose answer is the number of its execution. */
function countingCommand(change: Partial<IdempotentCommand<number, string>> = {}) {
  let executed = 0;
  const command: IdempotentCommand<number, string> = {
    load: [],
    toReply: (answer) => ({ status: 201, body: answer }),
    decide: () => ({ answer: () => ++executed, appends: [], changesRows: true }),
    ...change,
  };
  return { command, executed: () => executed };
}

t.test('the policies name binding, key and conflict of each space', async (t) => {
  const table = Object.entries(POLICIES).map(([space, { binding, keyRequired, conflict }]) => [
    space,
    binding,
    keyRequired,
    conflict.refused,
  ]);
  t.same(table, [
    ['api', 'body and secrets', true, 'idempotency_conflict'],
    ['register', 'body and secrets', true, 'registration_conflict'],
    ['recover', 'body and secrets', true, 'invalid_request'],
    ['note', 'keyed content', true, 'submission_conflict'],
    ['session', 'keyed content', false, 'idempotency_conflict'],
    ['moderation', 'body', false, 'idempotency_conflict'],
  ]);
});

for (const space of spaces)
  t.test(`${space}: executes once and replays an exact repeat`, async (t) => {
    const { store } = createReceiptStore();
    const { command, executed } = countingCommand();
    const request = requestIn(space);
    t.equal(await executeIdempotently(store, request, command), 1);
    t.equal(await executeIdempotently(store, request, command), 1);
    const reordered = Object.fromEntries(Object.entries(SENT).reverse());
    t.equal(await executeIdempotently(store, { ...request, sent: reordered }, command), 1);
    t.equal(executed(), 1);
  });

for (const space of spaces)
  t.test(`${space}: refuses the key for another request`, async (t) => {
    const { store } = createReceiptStore();
    const { command, executed } = countingCommand();
    await executeIdempotently(store, requestIn(space), command);
    const others = [{ route: 'POST /others' }, { sent: { ...SENT, title: 'B' } }];
    for (const other of others)
      t.same(
        await executeIdempotently(store, requestIn(space, other), command),
        POLICIES[space].conflict,
      );
    t.equal(executed(), 1);
    for (const other of [{ owner: memberOwner(KEY) }, { key: OWNER }])
      t.type(await executeIdempotently(store, requestIn(space, other), command), 'number');
    t.equal(executed(), 3, 'another owner and another key have their own receipts');
  });

for (const space of withKey)
  t.test(`${space}: refuses the key for another secret`, async (t) => {
    const { store } = createReceiptStore();
    const { command } = countingCommand();
    await executeIdempotently(store, requestIn(space), command);
    const sent = { ...SENT, credential_secret: 'c'.repeat(64) };
    const { conflict } = POLICIES[space];
    t.same(await executeIdempotently(store, requestIn(space, { sent }), command), conflict);
  });

for (const space of spaces)
  t.test(`${space}: an erased receipt matches no request`, async (t) => {
    const { store, receipts } = createReceiptStore();
    const { command } = countingCommand();
    await executeIdempotently(store, requestIn(space), command);
    for (const [key, receipt] of receipts)
      receipts.set(key, { ...receipt, bodyHash: '', bound: null, reply: null });
    const repeated = await executeIdempotently(store, requestIn(space), command);
    t.same(repeated, POLICIES[space].conflict);
  });

for (const space of withKey)
  t.test(`${space}: throws without a key`, async (t) => {
    const { store } = createReceiptStore();
    const { command } = countingCommand();
    t.throws(() => executeIdempotently(store, requestIn(space, { key: undefined }), command), {
      message: 'thing.make: a request without an idempotency key',
    });
  });

for (const space of withoutKey)
  t.test(`${space}: executes each request without a key and stores nothing`, async (t) => {
    const { store, receipts } = createReceiptStore();
    const { command } = countingCommand();
    const request = requestIn(space, { key: undefined });
    t.equal(await executeIdempotently(store, request, command), 1);
    t.equal(await executeIdempotently(store, request, command), 2);
    t.equal(receipts.size, 0);
  });

// The hashes were made by earlier releases, whose receipts must still match.
const PLAIN = 'b8fc03acc109807537f7cc14ff718ac24e80e0a767efd96eb00bcaea6a32331e';
const NOTE = '1e9a75ed63224db724157ca791ede9ba77fb82a90f477f5e44ee2e3872ea51f3';
const SIGN_IN_KEY = '88c71f33f2fe1aff3d0028a9f4202bbacf6f320c14837765375df8b9e9493bd5';
const CREDENTIAL_SECRET = '9ff29d6a074a4076d4aeff89ac057408a00784f375617675368c80596e7c9132';
const STORED = {
  body: { bodyHash: PLAIN, bound: null },
  'body and secrets': {
    bodyHash: PLAIN,
    bound: {
      sign_in_key: { key_id: 1, hash: SIGN_IN_KEY },
      credential_secret: { key_id: 1, hash: CREDENTIAL_SECRET },
    },
  },
  'keyed content': { bodyHash: NOTE, bound: { submission: { key_id: 1, hash: NOTE } } },
};

for (const space of spaces)
  t.test(`${space}: stores the receipt as earlier releases did`, async (t) => {
    const { store, receipts } = createReceiptStore();
    let hashed = '';
    const { command } = countingCommand({
      decide(_loaded, bodyHash) {
        hashed = bodyHash();
        return { answer: 1, appends: [], changesRows: true };
      },
    });
    await executeIdempotently(store, requestIn(space), command);
    const stored = STORED[POLICIES[space].binding];
    t.same(
      [...receipts.values()],
      [
        {
          owner: memberOwner(OWNER),
          space,
          key: KEY,
          operation: 'thing.make',
          route: 'POST /things',
          ...stored,
          httpStatus: 201,
          reply: 1,
          eventIds: [],
        },
      ],
    );
    t.equal(hashed, stored.bodyHash);
  });

t.test('a body without secrets is bound by its hash alone', async (t) => {
  const { store, receipts } = createReceiptStore();
  const { command } = countingCommand();
  await executeIdempotently(store, requestIn('api', { sent: { title: 'A' } }), command);
  t.same([...receipts.values()][0]?.bound, null);
});

t.test('checks the guard before the receipt, and tells it of an exact repeat', async (t) => {
  const { store } = createReceiptStore([{ live: true }]);
  const repeats: boolean[] = [];
  let refused = false;
  const { command, executed } = countingCommand({
    guard({ rows }, isRepeat) {
      t.same(rows, [{ live: true }]);
      repeats.push(isRepeat());
      return refused ? refuse('session_required') : null;
    },
  });
  await executeIdempotently(store, requestIn('note'), command);
  await executeIdempotently(store, requestIn('note'), command);
  await executeIdempotently(store, requestIn('note', { sent: {} }), command);
  t.same(repeats, [false, true, false]);
  refused = true;
  for (const sent of [SENT, {}])
    t.same(
      await executeIdempotently(store, requestIn('note', { sent }), command),
      refuse('session_required'),
    );
  t.equal(executed(), 1);
});

t.test('a command may answer a repeat from its present rows, or refuse it', async (t) => {
  const { store } = createReceiptStore([2]);
  const replays = [
    { replay: ({ reply }, { rows }) => Number(reply) * 10 + Number((rows as number[])[0]) },
    { replay: () => refuse('registration_conflict') },
  ] satisfies Partial<IdempotentCommand<number, string>>[];
  const { command } = countingCommand();
  await executeIdempotently(store, requestIn('note'), command);
  t.same(
    await Promise.all(
      replays.map((replay) =>
        executeIdempotently(store, requestIn('note'), { ...command, ...replay }),
      ),
    ),
    [12, refuse('registration_conflict')],
  );
});

t.test('a refused or unchanged command stores no receipt', async (t) => {
  const { store, receipts } = createReceiptStore();
  const decisions = [refuse('not_found'), { unchanged: 7 }];
  const { command } = countingCommand({ decide: () => decisions.shift() as { unchanged: number } });
  t.same(await executeIdempotently(store, requestIn('api'), command), refuse('not_found'));
  t.equal(await executeIdempotently(store, requestIn('api'), command), 7);
  t.equal(receipts.size, 0);
});
