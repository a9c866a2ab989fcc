import { createCipheriv, createHmac } from 'node:crypto';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { ProblemError } from '../../../client/send.ts';
import { follow, type Reset } from '../../../client/updates.ts';
import type { ProblemBody, UpdateEvent, UpdatesPage } from '../../../client/wire.ts';
import { type Agent, newAgent } from '../../../harness/agent.ts';
import type { KeyRing } from '../../../platform/keys/key-ring.ts';
import { writeCursor } from '../../../services/updates/cursor.ts';
import { addEntries, backUpFeeds, restoreFeeds } from '../../support/restored-log.ts';
import { type Service, startService } from '../../support/service.ts';

const UPDATES = '/api/v1/updates';

/** A service with a member whose feed has grown from `kept` entries to 170, and was then restored. */
async function startRestored(t: Test, kept: number) {
  const service = await startService(t);
  const agent = await newAgent(service);
  await addEntries(service, agent.id, kept - 2);
  const backup = await backUpFeeds(service);
  await addEntries(service, agent.id, 170 - kept);
  const cursorAt = async (sequence: number): Promise<string> =>
    (await agent.call('GET', `${UPDATES}?cursor=${before(sequence)}&limit=1`)).body.next_cursor;
  const before = (sequence: number) =>
    writeCursor(service.core.keys, agent.id, { sequence: sequence - 1, epoch: 1 });
  const cursors = {
    at155: await cursorAt(155),
    at160: await cursorAt(160),
    at170: await cursorAt(170),
  };
  await restoreFeeds(service, backup);
  const list = (cursor: string, more = '') =>
    agent.call('GET', `${UPDATES}?limit=100&cursor=${cursor}${more}`);
  return { service, agent, cursors, list };
}

const sequences = (events: readonly UpdateEvent[]) => events.map(({ sequence }) => sequence);
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

t.test('refuses a cursor beyond what a restore has kept, and says where to continue', async (t) => {
  const { service, agent, cursors, list } = await startRestored(t, 160);
  await addEntries(service, agent.id, 13);
  for (const more of ['', '&wait=1']) {
    const { status, body } = await list(cursors.at170, more);
    t.match([status, body.status, body.error.kept_through], [400, 'cursor_reset', 160]);
    t.ok(body.error.epoch > 1);
    const next = await list(body.error.cursor);
    t.same(sequences(next.body.events), numbers(161, 173));
  }
});

t.test('continues without an error from a cursor that was kept', async (t) => {
  const { service, agent, cursors, list } = await startRestored(t, 160);
  t.same((await list(cursors.at160)).body.events, []);
  await addEntries(service, agent.id, 1);
  const page = await list(cursors.at155);
  t.same(sequences(page.body.events), numbers(156, 161));
  t.equal((await list(page.body.next_cursor)).status, 200, 'its cursor is of the new epoch');
});

t.test('keeps what the older of two restores has kept', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const read = (cursor = '') => agent.call('GET', `${UPDATES}?limit=100${cursor}`);
  await addEntries(service, agent.id, 3);
  const older = await backUpFeeds(service);
  await addEntries(service, agent.id, 5);
  const newer = await backUpFeeds(service);
  await addEntries(service, agent.id, 5);
  const first = (await read()).body.next_cursor;
  await restoreFeeds(service, newer);
  t.match((await read(`&cursor=${first}`)).body.error, { kept_through: 10 });
  const second = (await read()).body.next_cursor;
  await restoreFeeds(service, older);
  await addEntries(service, agent.id, 9);
  t.match((await read(`&cursor=${first}`)).body.error, { kept_through: 5 });
  const unknown = await read(`&cursor=${second}`);
  t.match(unknown.body.error, { kept_through: 0 }, 'the epoch of this cursor was itself lost');
  await restoreFeeds(service, await backUpFeeds(service));
  t.match((await read(`&cursor=${first}`)).body.error, { kept_through: 5 });
});

t.test('keeps nothing of a member who was registered again after a restore', async (t) => {
  const service = await startService(t);
  const before = await backUpFeeds(service);
  const agent = await newAgent(service);
  const read = (cursor = '') => agent.call('GET', `${UPDATES}?limit=100${cursor}`);
  await addEntries(service, agent.id, 4);
  const { next_cursor } = (await read()).body;
  await restoreFeeds(service, before);
  await service.tamper('INSERT INTO feed_heads VALUES ($1, 0)', [agent.id]);
  await addEntries(service, agent.id, 8);
  await restoreFeeds(service, await backUpFeeds(service));
  t.match((await read(`&cursor=${next_cursor}`)).body.error, { kept_through: 0 });
});

/** A cursor of format 1, as it was written before there were epochs. */
function writeOldCursor(keys: KeyRing, memberId: string, sequence: number): string {
  const [key, nonceKey] = [keys.derive('cursor', 1), keys.derive('cursor-nonce', 1)];
  if (!key || !nonceKey) throw new Error('no key');
  const head = Buffer.from([1, 0, 1]);
  const plain = Buffer.alloc(8);
  plain.writeBigUInt64BE(BigInt(sequence));
  const nonce = createHmac('sha256', nonceKey)
    .update(memberId)
    .update(plain)
    .digest()
    .subarray(0, 12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 });
  cipher.setAAD(Buffer.concat([head, Buffer.from(memberId)]));
  const sealed = [cipher.update(plain), cipher.final()];
  return Buffer.concat([head, nonce, ...sealed, cipher.getAuthTag()]).toString('base64url');
}

t.test('reads a cursor without an epoch as one of the first epoch', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const cursor = writeOldCursor(service.core.keys, agent.id, 2);
  const read = () => agent.call('GET', `${UPDATES}?cursor=${cursor}`);
  const backup = await backUpFeeds(service);
  await addEntries(service, agent.id, 1);
  const page = await read();
  t.same(sequences(page.body.events), [3]);
  t.equal(page.body.next_cursor.length, 56);
  await restoreFeeds(service, backup);
  await addEntries(service, agent.id, 1);
  t.same(sequences((await read()).body.events), [3]);
  const old3 = writeOldCursor(service.core.keys, agent.id, 3);
  const reset = await agent.call('GET', `${UPDATES}?cursor=${old3}`);
  t.match(reset.body, { status: 'cursor_reset', error: { kept_through: 2 } });
});

/** A client that records the events of an agent, and removes those that a restore has taken back. */
function createRecorder(agent: Agent) {
  let events: UpdateEvent[] = [];
  let cursor: string | undefined;
  const read = async (path: string): Promise<UpdatesPage> => {
    const { status, body, headers } = await agent.call('GET', path);
    if (status === 200) return body;
    throw new ProblemError(path, new Response(null, { status, headers }), body as ProblemBody);
  };
  return {
    /** Reads one page, or everything. */
    async read(limit: number, onePage: boolean): Promise<void> {
      const options = {
        cursor,
        limit,
        untilNow: true,
        save(page: readonly UpdateEvent[], next: string) {
          events.push(...page);
          cursor = next;
        },
        onReset(reset: Reset) {
          events = events.filter(({ sequence }) => sequence <= reset.keptThrough);
          ({ cursor } = reset);
        },
      };
      for await (const event of follow(read, options)) if (event && onePage) return;
    },
    events: () => events,
  };
}

const feedOf = async ({ database }: Service, agent: Agent) =>
  (
    await database.pool.query(
      'SELECT event_id AS id, sequence::int FROM feed WHERE member_id = $1 ORDER BY sequence',
      [agent.id],
    )
  ).rows;

const step = fc.oneof(
  fc.record({ do: fc.constant('write' as const), count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ do: fc.constant('read' as const), limit: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ do: fc.constant('back up' as const) }),
  fc.record({ do: fc.constant('restore' as const), which: fc.nat() }),
);

t.test("a client's record equals the feed after any schedule of restores", async (t) => {
  const service = await startService(t, { LIMIT_BOOTSTRAP_ATTEMPTS: '1000' });
  let restores = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      // In the first backup, the member is not registered yet.
      const backups = [await backUpFeeds(service)];
      const agent = await newAgent(service);
      // Two clients that read at different times.
      const recorders = [createRecorder(agent), createRecorder(agent)];
      for (const [index, one] of steps.entries()) {
        if (one.do === 'write') await addEntries(service, agent.id, one.count);
        if (one.do === 'read') await recorders[index % 2]?.read(one.limit, index % 3 > 0);
        if (one.do === 'back up') backups.push(await backUpFeeds(service));
        const backup = one.do === 'restore' && backups[one.which % backups.length];
        if (!backup) continue;
        await restoreFeeds(service, backup);
        await service.tamper('INSERT INTO feed_heads VALUES ($1, 0) ON CONFLICT DO NOTHING', [
          agent.id,
        ]);
        restores++;
      }
      const feed = await feedOf(service, agent);
      for (const recorder of recorders) {
        await recorder.read(3, false);
        const seen = recorder.events().map(({ id, sequence }) => ({ id, sequence }));
        if (JSON.stringify(seen) !== JSON.stringify(feed))
          throw new Error(`recorded ${JSON.stringify(seen)} of ${JSON.stringify(feed)}`);
      }
    }),
    { numRuns: 60 },
  );
  t.ok(restores > 20, `${restores} restores`);
});
