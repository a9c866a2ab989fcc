import { existsSync, readFileSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { startReceiver } from '../support/receiver.ts';
import { addEntries } from '../support/restored-log.ts';
import { startService } from '../support/service.ts';
import { svcIn, until, untilExists } from '../support/svc.ts';

// `svc updates`: each event in order, again until it is accepted, and none skipped after a kill.

const service = await startService(t);
const { path, remove } = temporaryFolder('svc');
t.teardown(remove);

let made = 0;
/** A member with ten events that the service has not handed over yet. */
async function newMember() {
  made += 1;
  const svc = svcIn(t, join(path, `home-${made}`), service.baseUrl);
  const registered = await svc('register', `follower_${made}`, '--json');
  if (registered.code !== 0) throw new Error(registered.err);
  const { id } = JSON.parse(registered.out).member;
  await addEntries(service, id, 8);
  const whoami = await svc('whoami');
  if (whoami.code !== 0) throw new Error(whoami.err);
  const progress = (name: string): { cursor: string | null; through: number } => {
    const file = join(svc.home, `cursor-${name}.json`);
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { cursor: null, through: 0 };
  };
  return { svc, id, progress, addEvents: (count: number) => addEntries(service, id, count) };
}

const numbers = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at);

const SEQUENCE = /"sequence":(\d+)/g;
const sequencesIn = (text: string): number[] =>
  [...text.matchAll(SEQUENCE)].map(([, number]) => Number(number));

t.test('forwards each event in order, again until the receiver takes it', async (t) => {
  const { svc, progress } = await newMember();
  const refusals: ((response: ServerResponse) => void)[] = [
    (response) => response.writeHead(500).end(),
    (response) => response.socket?.destroy(),
    (response) => response.writeHead(302, { location: '/elsewhere' }).end(),
    () => undefined,
    (response) => response.writeHead(404).end(),
  ];
  const accepted: number[] = [];
  const saved: boolean[] = [];
  const { calls, url } = await startReceiver(t, (response, { body, headers }) => {
    const { id, sequence } = JSON.parse(body);
    t.equal(headers['idempotency-key'], id);
    // The third event is refused in each way, one after the other.
    const refuse = sequence === 3 ? refusals.shift() : undefined;
    if (refuse) return refuse(response);
    accepted.push(sequence);
    saved.push(progress('hook').through < sequence);
    response.writeHead(204).end();
  });
  // Longer than a busy machine needs for an answer, which would count as refused and come twice.
  const words = ['updates', '--name', 'hook', '--forward-to', `${url}/events`, '--timeout', '10'];
  const ended = await svc(...words);
  t.equal(ended.code, 0, ended.err);
  t.same(accepted, numbers(1, 10));
  t.ok(
    saved.every((one) => one),
    'saved after it was accepted, not before',
  );
  t.same(new Set(calls.map((call) => call.path)), new Set(['/events']), 'no redirect is followed');
  t.equal(calls.length, 15);
  for (const line of [/answered 500/, /answered 302/, /answered 404/, /did not answer/])
    t.match(ended.err, line);
  t.equal(progress('hook').through, 10);
});

t.test('skips no event where it is killed while a receiver hangs, and started again', async (t) => {
  const { svc, progress, addEvents } = await newMember();
  let hangs = 4;
  const accepted: number[] = [];
  const { calls, url } = await startReceiver(t, (response, { body }) => {
    const { sequence } = JSON.parse(body);
    if (sequence === hangs) return;
    accepted.push(sequence);
    response.writeHead(200).end();
  });
  const words = ['updates', '--follow', '--name', 'hook', '--forward-to', url];
  for (const at of [4, 5, 9]) {
    hangs = at;
    const { child, ended } = svc.start(...words);
    await until(() => JSON.parse(calls.at(-1)?.body ?? '{}').sequence === at);
    t.equal(progress('hook').through, at - 1);
    child.kill('SIGKILL');
    await ended;
  }
  hangs = 0;
  await addEvents(2);
  const { child } = svc.start(...words);
  await until(() => progress('hook').through === 12);
  child.kill('SIGKILL');
  t.same(accepted, numbers(1, 12));
});

t.test('runs a command for each event, again until it succeeds', async (t) => {
  const { svc, progress } = await newMember();
  const log = join(path, 'exec.log');
  // Fails the second and the third time.
  const command = `cat >>${log}; echo "$SVC_EVENT_TYPE" >>${log}; n=$(grep -c sequence ${log}); [ "$n" != 2 ] && [ "$n" != 3 ]`;
  const ended = await svc('updates', '--exec', command);
  t.equal(ended.code, 0, ended.err);
  const text = readFileSync(log, 'utf8');
  t.same(sequencesIn(text), [1, 2, 2, 2, ...numbers(3, 10)]);
  t.match(text, /^member\.registered$/m);
  t.match(ended.err, /The command ended with 1/);
  t.equal(progress('updates').through, 10);
});

t.test('passes a signal on to the command of an event, and ends after that event', async (t) => {
  const { svc, progress } = await newMember();
  const [begun, done] = [join(path, 'signal.begun'), join(path, 'signal.done')];
  const wait = `touch ${begun}; while [ -d ${path} ]; do sleep 0.05; done`;
  const refusing = svc.start('updates', '--exec', `trap 'exit 1' TERM; ${wait}`);
  await untilExists(begun);
  refusing.child.kill('SIGTERM');
  t.match(await refusing.ended, { code: null, err: '' });
  t.equal(progress('updates').through, 0);

  rmSync(begun);
  const accepting = svc.start('updates', '--exec', `trap 'cat >>${done}; exit' TERM; ${wait}`);
  await untilExists(begun);
  accepting.child.kill('SIGTERM');
  t.match(await accepting.ended, { code: null, err: '' });
  t.same(sequencesIn(readFileSync(done, 'utf8')), [1]);
  t.equal(progress('updates').through, 1);
});

t.test('follows from now on, and from the saved cursor after a kill', async (t) => {
  const { svc, progress, addEvents } = await newMember();
  const log = join(path, 'now.log');
  const words = ['updates', '--follow', '--from', 'now', '--exec', `cat >>${log}`];
  const first = svc.start(...words);
  await until(() => progress('updates').cursor !== null);
  const flags = ['--title', 'T', '--summary', 'S', '--objective', 'O', '--criterion', 'C'];
  t.match(await svc('case', 'open', ...flags), { code: 0 });
  await until(() => progress('updates').through === 11);
  const refused = await svc(...words);
  t.match(refused, { code: 1, err: /Another process follows/ });
  first.child.kill('SIGKILL');
  await first.ended;
  await addEvents(2);
  const second = svc.start(...words);
  await until(() => progress('updates').through === 13);
  second.child.kill('SIGKILL');
  t.same(sequencesIn(readFileSync(log, 'utf8')), [11, 12, 13]);
});

t.test('prints an event again that its reader did not get', async (t) => {
  const { svc, progress } = await newMember();
  const { child, ended } = svc.start('updates', '--json');
  child.stdout.destroy();
  t.match(await ended, { code: 1, err: '' });
  t.same(progress('updates'), { cursor: null, through: 0 });
  t.same(sequencesIn((await svc('updates', '--json')).out), numbers(1, 10));
  t.match(await svc('updates'), { code: 0, out: '' });
});

t.test('filters by type, and refuses what cannot work before it reads', async (t) => {
  const { svc, progress } = await newMember();
  t.match(await svc('updates', '--types', 'member.*'), { out: /^1 member\.registered \S+ \S+\n$/ });
  for (const [flag, value] of [
    ['--from', 'yesterday'],
    ['--types', 'case;rm'],
    ['--name', '../identity'],
    ['--forward-to', 'localhost:80'],
    ['--forward-to', 'http://user:password@localhost'],
    ['--timeout', '0'],
  ] as const)
    t.match(await svc('updates', flag, value), { code: 2 }, `${flag} ${value}`);
  t.equal(progress('updates').through, 1);
});
