import { randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Session } from '../../client/bearer.ts';
import { type ClientOptions, createClient } from '../../client/client.ts';
import { createFileStore } from '../../client/file-store.ts';
import { newIdentity } from '../../client/identity.ts';
import { ProblemError } from '../../client/send.ts';
import type { Reset } from '../../client/updates.ts';
import type { UpdateEvent } from '../../client/wire.ts';
import { bootstrap, newCredential } from '../../harness/agent.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { wireProxy } from '../../harness/wire-proxy.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { addEntries, backUpFeeds, restoreFeeds } from '../support/restored-log.ts';
import { type Service, startService } from '../support/service.ts';

type Ending = Parameters<typeof startService>[0];

let count = 0;

/** Starts a service behind a proxy, with a registered client that does not pause. */
async function createSetting(t: Ending, settings: Record<string, string> = {}) {
  const service = await startService(t, settings);
  const proxy = await startFaultProxy(t, () => service.baseUrl);
  count += 1;
  const identity = newIdentity(`client_${count}`);
  let kept: Session | undefined;
  const keeper = {
    load: () => kept,
    save: (session: Session) => {
      kept = structuredClone(session);
    },
  };
  const open = (more: Partial<ClientOptions> = {}) =>
    createClient({
      baseUrl: service.baseUrl,
      identity,
      keeper,
      pause: async () => undefined,
      ...more,
    });
  await open().register();
  return { service, proxy, identity, open, kept: () => kept };
}

async function readCredentialEvents({ database }: Service, memberId: string): Promise<string[]> {
  const { rows } = await database.pool.query(
    `SELECT type FROM feed WHERE member_id = $1 AND type LIKE 'credential.%' ORDER BY sequence`,
    [memberId],
  );
  return rows.map(({ type }) => type);
}

t.test('registers, creates a credential and rotates it before it ends', async (t) => {
  const { service, identity, open, kept } = await createSetting(t);
  const client = open({ lifetime: 3600, renewBefore: 60 });
  const registered = await client.register();
  t.match(registered, { status: 'registered', member: { id: identity.id } });
  const me = await client.me();
  t.match(me, { member: { handle: identity.handle }, credential: { state: 'active' } });
  await Promise.all([client.me(), client.me(), client.me()]);
  await open({ lifetime: 3600, renewBefore: 60 }).me();
  t.same(await readCredentialEvents(service, identity.id), ['credential.created']);

  const before = kept()?.credential?.credential_id;
  await open({ lifetime: 3600, renewBefore: 3000 }).me();
  t.equal(kept()?.credential?.credential_id, before, 'a credential far from its end stays');
  await open({ lifetime: 3600, renewBefore: 3700 }).me();
  t.not(kept()?.credential?.credential_id, before);
  t.same(await readCredentialEvents(service, identity.id), [
    'credential.created',
    'credential.rotated',
    'credential.created',
  ]);
});

t.test('replaces a credential that was revoked or whose budget is spent', async (t) => {
  const { service, identity, open } = await createSetting(t, { LIMIT_WRITES_PER_DAY: '0' });
  const client = open();
  const { credential } = await client.me();
  await client.revoke(credential.credential_id);
  const again = await client.me();
  t.not(again.credential.credential_id, credential.credential_id);
  await client.renew();
  t.not((await client.me()).credential.credential_id, again.credential.credential_id);
  t.equal((await readCredentialEvents(service, identity.id)).includes('credential.rotated'), false);
});

t.test('repeats the same operation after a lost answer, with one effect', async (t) => {
  const { service, proxy, identity, open, kept } = await createSetting(t);
  const client = open({ baseUrl: proxy.url });

  proxy.dropResponseTo('POST /api/v1/credentials');
  await client.me();
  t.equal(proxy.droppedCount(), 1);
  t.same(await readCredentialEvents(service, identity.id), ['credential.created']);

  proxy.dropResponseTo('POST /api/v1/me/credentials/rotate');
  const before = kept()?.credential?.credential_id;
  await client.renew();
  t.equal(proxy.droppedCount(), 2);
  t.not(kept()?.credential?.credential_id, before);
  t.equal((await client.me()).credential.credential_id, kept()?.credential?.credential_id);
  t.same(await readCredentialEvents(service, identity.id), [
    'credential.created',
    'credential.rotated',
    'credential.created',
  ]);

  const second = newCredential(['updates:read']);
  await bootstrap(service, identity, second);
  const key = randomUUID();
  proxy.dropResponseTo(key);
  const revoked = await client.revoke(second.credential_id, key);
  t.equal(proxy.droppedCount(), 3);
  t.equal(revoked.receipt.operation_id, key);
  t.equal(revoked.receipt.event_ids.length, 1, 'the receipt lists the one event');

  await client.renew();
  const replayed = await client.revoke(second.credential_id, key);
  t.same(replayed, revoked, 'a later bearer receives the same receipt');
});

t.test('completes a pending operation after the client was killed', async (t) => {
  const { service, proxy, identity, open, kept } = await createSetting(t);
  for (const path of ['POST /api/v1/credentials', 'POST /api/v1/me/credentials/rotate']) {
    const dying = open({ baseUrl: proxy.url, patience: 0 });
    proxy.dropResponseTo(path);
    await t.rejects(path.endsWith('rotate') ? dying.renew() : dying.me().then(() => undefined), {
      name: 'NoAnswerError',
    });
    const { pending } = kept() ?? {};
    t.ok(pending);
    const { credential } = await open().me();
    t.equal(credential.credential_id, pending?.next.credential_id);
    t.notOk(kept()?.pending);
  }
  t.same(await readCredentialEvents(service, identity.id), [
    'credential.created',
    'credential.rotated',
    'credential.created',
  ]);
});

t.test('repeats a write after a 503 until it is answered, with one effect', async (t) => {
  const service = await startService(t);
  const wire = await wireProxy(t, service.database.url);
  const [key] = service.core.config.serverKeys ?? [];
  const shaky = await startService(t, {
    DATABASE_URL: wire.url,
    SERVER_KEYS: `${key?.id}:${key?.secret.toString('hex')}`,
  });
  const identity = newIdentity('patient');
  const pauses: number[] = [];
  const client = createClient({
    baseUrl: shaky.baseUrl,
    identity,
    pause: async (milliseconds) => {
      pauses.push(milliseconds);
      wire.release();
    },
  });
  await client.register();
  await client.me();
  pauses.length = 0;
  wire.hold();
  await client.renew();
  t.ok(pauses.length > 0);
  t.ok(shaky.logged.some((line) => /"status":503/.test(line)));
  t.same(await readCredentialEvents(service, identity.id), [
    'credential.created',
    'credential.rotated',
    'credential.created',
  ]);
});

t.test('obeys Retry-After and reports a wait beyond its patience', async (t) => {
  const { service, open } = await createSetting(t, { LIMIT_BOOTSTRAP_ATTEMPTS: '1' });
  await open({ keeper: { load: () => undefined, save: () => undefined } }).me();
  const pauses: number[] = [];
  const client = open({
    pause: async (milliseconds) => {
      pauses.push(milliseconds);
      await service.database.pool.query('DELETE FROM rate_counters');
    },
  });
  t.equal((await client.me()).status, 'ok');
  t.same(pauses, [600_000]);

  const hurried = open({
    patience: 599_000,
    keeper: { load: () => undefined, save: () => undefined },
  });
  await t.rejects(hurried.me(), { name: 'ProblemError', code: 'rate_limited', retryAfter: 600 });
});

t.test('throws a refusal with its code, without a retry', async (t) => {
  const { service, identity, open } = await createSetting(t);
  const stranger = open({ identity: { ...identity, sign_in_key: identity.recovery_key } });
  const refused = await stranger.me().catch((error: unknown) => error);
  t.ok(refused instanceof ProblemError);
  t.match(refused, { status: 401, code: 'credential_not_accepted' });
  const before = service.logged.length;
  await t.rejects(open().write('/api/v1/me/credentials/revoke', { credential_id: randomUUID() }), {
    status: 409,
    code: 'state_conflict',
    body: { error: { reason: 'credential_unavailable' } },
  });
  t.equal(service.logged.length - before, 2, 'one bootstrap and one refusal');
  const invalid = open().updates({ cursor: 'x' });
  await t.rejects(invalid.next(), { code: 'invalid_cursor' });
});

t.test('saves a page with its cursor before it yields the events', async (t) => {
  const { service, proxy, identity, open } = await createSetting(t);
  const saved: UpdateEvent[] = [];
  let cursor: string | undefined;
  const client = open({ baseUrl: proxy.url });
  const save = (events: readonly UpdateEvent[], next: string) => {
    saved.push(...events);
    cursor = next;
  };
  proxy.dropResponseTo('GET /api/v1/updates');
  for await (const { sequence } of client.updates({ save, limit: 1, untilNow: true }))
    t.equal(saved.at(-1)?.sequence, sequence);
  t.equal(proxy.droppedCount(), 1);
  t.same(
    saved.map(({ type }) => type),
    ['member.registered', 'credential.created'],
  );
  const failing = client.updates({
    cursor,
    save: () => {
      throw new Error('disk full');
    },
  });
  const next = failing.next();
  await bootstrap(service, identity, newCredential());
  await t.rejects(next, { message: 'disk full' });
  const following = client.updates({ cursor, save });
  t.match((await following.next()).value, { sequence: 3 }, 'an unsaved event is delivered again');
  const later = following.next();
  await bootstrap(service, identity, newCredential());
  t.match((await later).value, { sequence: 4 });
  await following.return();
});

t.test('drops what a restore has taken back, or stops without onReset', async (t) => {
  const { service, identity, open } = await createSetting(t);
  const { path, remove } = temporaryFolder('reset');
  t.teardown(remove);
  const folder = createFileStore(path);
  const client = open();
  await client.me();
  const backup = await backUpFeeds(service);
  await addEntries(service, identity.id, 3);
  const follow = async (more: object) => {
    const cursor = folder.pages().at(-1)?.cursor;
    const save = folder.savePage;
    for await (const _ of client.updates({ cursor, save, limit: 2, untilNow: true, ...more }));
  };
  const sequences = () => folder.pages().flatMap(({ events }) => events.map((e) => e.sequence));
  await follow({});
  t.same(sequences(), [1, 2, 3, 4, 5]);
  await restoreFeeds(service, backup);
  await addEntries(service, identity.id, 1);
  await t.rejects(follow({}), { name: 'ProblemError', code: 'cursor_reset' });
  t.same(sequences(), [1, 2, 3, 4, 5], 'nothing was skipped');
  const resets: Reset[] = [];
  const onReset = (reset: Reset) => {
    resets.push(reset);
    folder.reset(reset);
  };
  await follow({ onReset });
  t.match(resets, [{ keptThrough: 2, epoch: Number }]);
  t.same(sequences(), [1, 2, 3]);
});

t.test('ends pending requests by an aborted signal', async (t) => {
  const { open } = await createSetting(t);
  const ending = new AbortController();
  const client = open({ signal: ending.signal });
  const events = client.updates();
  await events.next();
  await events.next();
  const waiting = events.next();
  ending.abort();
  await t.rejects(waiting, { name: 'AbortError' });
});

t.test('imports only its own files, except what is for Node alone', async (t) => {
  const folder = join(import.meta.dirname, '../../client');
  const files = globSync('*.ts', { cwd: folder });
  const forNode = ['build.ts', 'example.ts', 'file-store.ts', 'svc.ts'];
  t.ok(files.length > 5);
  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8');
    for (const [, imported = ''] of text.matchAll(/from '([^']+)'/g))
      if (!forNode.includes(file) || !imported.startsWith('node:'))
        t.match(
          imported,
          file === 'svc.ts' ? /^\.\/(svc\/)?[a-z-]+\.ts$/ : /^\.\/[a-z-]+\.ts$/,
          `${file} imports ${imported}`,
        );
  }
});
