import t from 'tap';
import { memberOwner } from '../../domain/owners.ts';
import { type Command, handle, type Policy } from '../../platform/eventstore/handle.ts';
import type { IdempotentRequest } from '../../platform/eventstore/idempotency.ts';
import { keyRing } from '../../platform/keys/key-ring.ts';
import { refuse } from '../../platform/refusal.ts';
import { RECEIPT_SPACES } from '../../services/receipt-spaces.ts';
import { createFakeStore } from '../support/fake-store.ts';

const OWNER = 'a0000000-0000-4000-8000-000000000000';
const KEY = 'b0000000-0000-4000-8000-000000000000';
const SENT = { title: 'Ä', sign_in_key: 'a'.repeat(64), credential_secret: 'b'.repeat(64) };
const keys = keyRing([{ id: 1, secret: Buffer.alloc(32, 7) }]);
type Space = keyof typeof RECEIPT_SPACES;
const spaces = Object.keys(RECEIPT_SPACES) as Space[];
const withoutKey = spaces.filter((space) => !RECEIPT_SPACES[space].keyRequired);
const withKey = spaces.filter((space) => RECEIPT_SPACES[space].keyRequired);

const requestIn = (space: Space, change: Partial<IdempotentRequest> = {}): IdempotentRequest => ({
  owner: memberOwner(OWNER),
  space: RECEIPT_SPACES[space],
  key: KEY,
  operation: 'thing.make',
  route: 'POST /things',
  sent: SENT,
  keys,
  ...change,
});

interface Reply {
  status: number;
  body: unknown;
}
type Change = Partial<Command<Reply, string, null, string>>;

/** Commands whose reply is the number of their execution, and what their receipts are bound by. */
function createCounter() {
  const { store, receipts } = createFakeStore();
  let executed = 0;
  const hashes: string[] = [];
  const issue = (request: IdempotentRequest, change: Change = {}) => {
    const policy: Policy<string, Reply, null, string> = {
      actor: { type: 'service' },
      request,
      charge(_rows, { bodyHash }) {
        hashes.push(bodyHash());
        return { rows: [], give: () => '', headers: {} };
      },
    };
    return handle(store, policy, {
      load: {},
      decide: () => ({
        appends: [],
        changesRows: true,
        reply: () => ({ status: 201, body: ++executed }),
      }),
      ...change,
    });
  };
  return { issue, receipts, hashes, executed: () => executed };
}

t.test('the spaces name binding, key and conflict of each space', async (t) => {
  const table = Object.entries(RECEIPT_SPACES).map(
    ([space, { binding, keyRequired, conflict }]) => [
      space,
      binding,
      keyRequired,
      conflict.refused,
    ],
  );
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
    const { issue, executed } = createCounter();
    const request = requestIn(space);
    t.match(await issue(request), { body: 1 });
    t.match(await issue(request), { body: 1 });
    const reordered = Object.fromEntries(Object.entries(SENT).reverse());
    t.match(await issue({ ...request, sent: reordered }), { body: 1 });
    t.equal(executed(), 1);
  });

for (const space of spaces)
  t.test(`${space}: refuses the key for another request`, async (t) => {
    const { issue, executed } = createCounter();
    await issue(requestIn(space));
    const others = [{ route: 'POST /others' }, { sent: { ...SENT, title: 'B' } }];
    for (const other of others)
      t.same(await issue(requestIn(space, other)), RECEIPT_SPACES[space].conflict);
    t.equal(executed(), 1);
    for (const other of [{ owner: memberOwner(KEY) }, { key: OWNER }])
      t.match(await issue(requestIn(space, other)), { status: 201 });
    t.equal(executed(), 3, 'another owner and another key have their own receipts');
  });

for (const space of withKey)
  t.test(`${space}: refuses the key for another secret`, async (t) => {
    const { issue } = createCounter();
    await issue(requestIn(space));
    const sent = { ...SENT, credential_secret: 'c'.repeat(64) };
    const { conflict } = RECEIPT_SPACES[space];
    t.same(await issue(requestIn(space, { sent })), conflict);
  });

for (const space of spaces)
  t.test(`${space}: an erased receipt matches no request`, async (t) => {
    const { issue, receipts } = createCounter();
    await issue(requestIn(space));
    for (const [key, receipt] of receipts)
      receipts.set(key, { ...receipt, bodyHash: '', bound: null, reply: null });
    const repeated = await issue(requestIn(space));
    t.same(repeated, RECEIPT_SPACES[space].conflict);
  });

for (const space of withKey)
  t.test(`${space}: throws without a key`, async (t) => {
    const { issue } = createCounter();
    return t.rejects(issue(requestIn(space, { key: undefined })), {
      message: 'thing.make: a request without an idempotency key',
    });
  });

for (const space of withoutKey)
  t.test(`${space}: executes each request without a key and stores nothing`, async (t) => {
    const { issue, receipts } = createCounter();
    const request = requestIn(space, { key: undefined });
    t.match(await issue(request), { body: 1 });
    t.match(await issue(request), { body: 2 });
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
    const { issue, receipts, hashes } = createCounter();
    await issue(requestIn(space));
    const stored = STORED[RECEIPT_SPACES[space].binding];
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
    t.same(hashes, [stored.bodyHash]);
  });

t.test('a body without secrets is bound by its hash alone', async (t) => {
  const { issue, receipts } = createCounter();
  await issue(requestIn('api', { sent: { title: 'A' } }));
  t.same([...receipts.values()][0]?.bound, null);
});

t.test('a refused command, and one that changes nothing, store no receipt', async (t) => {
  const { issue, receipts } = createCounter();
  const request = requestIn('api');
  t.same(await issue(request, { decide: () => refuse('not_found') }), refuse('not_found'));
  const nothing = { appends: [], reply: () => ({ status: 200, body: 7 }) };
  t.match(await issue(request, { decide: () => nothing }), { body: 7 });
  t.equal(receipts.size, 0);
});
