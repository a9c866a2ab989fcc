import { randomUUID } from 'node:crypto';
import { getEventListeners } from 'node:events';
import pg from 'pg';
import t from 'tap';
import { freePort } from '../../harness/free-port.ts';
import { createNotifications } from '../../platform/postgres/notifications.ts';
import { testDatabase } from '../support/database.ts';

type Ending = Parameters<typeof testDatabase>[0];

/** An interval that disables polling, so that wake-ups arrive only over the connection. */
const NEVER = 1_000_000;

/** Opens the wake-ups of one process and waits for its connection, which calls every listener. */
async function openWakeUps(t: Ending, url: string, name: string, pollMs = NEVER) {
  const wakeUps = createNotifications(url, name, pollMs);
  t.teardown(() => wakeUps.close());
  await new Promise<void>((resolve) => wakeUps.subscribe('ready', resolve));

  function listen(topic: string) {
    let calls = 0;
    let called: () => void = () => undefined;
    const stop = wakeUps.subscribe(topic, () => {
      calls++;
      called();
    });
    const reach = async (count: number) => {
      while (calls < count)
        await new Promise<void>((resolve) => {
          called = resolve;
        });
    };
    return { reach, stop, calls: () => calls };
  }

  return { ...wakeUps, listen };
}

/** Returns a function that reads the channel's raw payloads so far. */
async function collectPayloads(t: Ending, url: string) {
  const client = new pg.Client(url);
  await client.connect();
  t.teardown(() => client.end());
  const seen: string[] = [];
  client.on('notification', ({ payload }) => seen.push(payload ?? ''));
  await client.query('LISTEN wake_ups');
  // PostgreSQL notifies listeners one after another, this one perhaps last. Its own notification
  // arrives with the reply to NOTIFY, after all earlier notifications.
  return async () => {
    await client.query(`NOTIFY wake_ups, 'asked'`);
    return seen.filter((payload) => payload !== 'asked');
  };
}

const endConnections = (pool: pg.Pool) =>
  pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE '%wake-ups'`,
  );

t.test('wakes the listeners of a topic, in this process and in others', async (t) => {
  const { url } = await testDatabase(t);
  const [here, there] = [await openWakeUps(t, url, 'here'), await openWakeUps(t, url, 'there')];
  const [ann, bob] = [randomUUID(), randomUUID()];
  const own = here.listen(ann);
  const other = there.listen(ann);
  const another = there.listen(bob);

  here.wake([ann]);
  await Promise.all([own.reach(1), other.reach(1)]);
  here.wake([bob]);
  await another.reach(1);
  t.equal(own.calls(), 1, 'its own notification does not call it again');
  t.equal(other.calls(), 1);

  other.stop();
  here.wake([ann, bob]);
  await another.reach(2);
  t.equal(other.calls(), 1, 'a listener that has left is not called');
});

t.test('reconnects after a lost connection and calls every listener', async (t) => {
  const { url, pool } = await testDatabase(t);
  const [here, there] = [await openWakeUps(t, url, 'here'), await openWakeUps(t, url, 'there')];
  const sender = here.listen('a');
  const listener = there.listen('b');
  await endConnections(pool);
  here.wake(['b']);
  await Promise.all([sender.reach(1), listener.reach(1)]);
  const before = listener.calls();
  here.wake(['b']);
  await listener.reach(before + 1);
  t.pass('both sides have reconnected');
});

t.test('removes its abort listeners after a lost connection', async (t) => {
  const { url, pool } = await testDatabase(t);
  const { AbortController: Given } = globalThis;
  const signals: AbortSignal[] = [];
  globalThis.AbortController = class extends Given {
    constructor() {
      super();
      signals.push(this.signal);
    }
  };
  const opening = openWakeUps(t, url, 'here');
  globalThis.AbortController = Given;
  const listener = (await opening).listen('topic');
  const waiting = () => signals.map((signal) => getEventListeners(signal, 'abort').length);
  const before = waiting();
  for (let turn = 1; turn <= 3; turn++) {
    await endConnections(pool);
    await listener.reach(turn);
  }
  t.same(waiting(), before);
});

t.test('sends simultaneous wake-ups once, in payloads that fit', async (t) => {
  const { url } = await testDatabase(t);
  const [here, there] = [await openWakeUps(t, url, 'here'), await openWakeUps(t, url, 'there')];
  const last = there.listen('last');
  const seen = await collectPayloads(t, url);
  for (let round = 0; round < 100; round++) here.wake(['one', 'two']);
  here.wake(['last']);
  await last.reach(1);
  t.same(await seen(), ['one,two,last']);

  const members = Array.from({ length: 1000 }, () => randomUUID() as string);
  const listeners = members.map((member) => there.listen(member));
  here.wake([...members, 'last']);
  await Promise.all([...listeners, last].map((listener) => listener.reach(1)));
  const sent = (await seen()).slice(1);
  t.same(sent.join(',').split(',').sort(), [...members, 'last'].sort());
  t.ok(sent.length >= 5);
  t.ok(sent.every((payload) => Buffer.byteLength(payload) < 8000));
});

t.test('wakes every listener if there are too many topics', async (t) => {
  const { url } = await testDatabase(t);
  const [here, there] = [await openWakeUps(t, url, 'here'), await openWakeUps(t, url, 'there')];
  const listener = there.listen('unnamed');
  const seen = await collectPayloads(t, url);
  here.wake(Array.from({ length: 6000 }, () => randomUUID() as string));
  await listener.reach(1);
  t.same(await seen(), ['*']);
});

t.test('calls listeners although storage is unreachable', async (t) => {
  const url = `postgres://nobody@127.0.0.1:${await freePort()}/nothing`;
  const wakeUps = await openWakeUps(t, url, 'alone', 20);
  const listener = wakeUps.listen('topic');
  await listener.reach(2);
  wakeUps.wake(['topic']);
  await listener.reach(3);
  await wakeUps.close();
  t.pass('closing does not wait for storage');
});

t.test('sends pending wake-ups when it closes, also as its first', async (t) => {
  const { url } = await testDatabase(t);
  const there = await openWakeUps(t, url, 'there');
  const listener = there.listen('topic');
  // Closing gives up after a second, in which a busy machine may not have connected.
  while (listener.calls() === 0) {
    const here = createNotifications(url, 'here');
    here.wake(['topic']);
    await here.close();
  }
  t.pass('the listener was called');
});
