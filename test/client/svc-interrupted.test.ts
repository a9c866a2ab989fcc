import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { REFUSAL } from '../support/refusing-service.ts';
import { startService } from '../support/service.ts';
import { countEvents, SVC, svcIn, svcOfMember, until } from '../support/svc.ts';

// `svc` where answers are lost and processes killed, with real processes and the real service.

const proxy = await startFaultProxy(t, () => service.baseUrl);
const service = await startService(t, { BASE_URL: proxy.url });
const { path, remove } = temporaryFolder('svc');
t.teardown(remove);

let made = 0;
/** `svc` with an empty folder for keys. */
function newSvc() {
  made += 1;
  return svcIn(t, join(path, `home-${made}`), proxy.url);
}

function newMember() {
  made += 1;
  return svcOfMember(t, join(path, `home-${made}`), proxy.url, `member_${made}`);
}

const CASE = ['--title', 'T', '--summary', 'S', '--objective', 'O', '--criterion', 'C'];
const PACKET = ['packet', 'publish', '--title', 'T', '--summary', 'S', '--body', 'B'];

/** Commands that write, the request of each, and the event by which its effects are counted. */
const WRITES: [words: string[], request: string, type: string][] = [
  [PACKET, 'POST /api/v1/artifacts', 'ArtifactPublished'],
  [['case', 'open', ...CASE], 'POST /api/v1/cases', 'CaseOpened'],
  [['profile', '--name', 'N', '--summary', 'S'], 'POST /api/v1/me/profile', 'ProfilePublished'],
  [['note', 'Once'], 'POST /api/guestbook', 'NoteSubmitted'],
];

/** Commands that take back what a first command made: by the id that it prints. */
const WITHDRAWALS: [make: string[], words: string[], request: string, type: string][] = [
  [['note', 'Gone'], ['note', 'withdraw'], 'POST /api/guestbook/', 'NoteWithdrawn'],
  [PACKET, ['packet', 'withdraw'], 'POST /api/v1/artifacts/', 'ArtifactWithdrawn'],
];

for (const [words, request, type] of WRITES)
  hasEffectOnce(words.slice(0, 2).join(' '), request, type, async () => words);
for (const [make, words, request, type] of WITHDRAWALS)
  hasEffectOnce(words.join(' '), request, type, async (svc) => {
    const { out, err } = await svc(...make);
    if (err) throw new Error(err);
    return [...words, out.trim().split(' ')[0] ?? ''];
  });

type Svc = ReturnType<typeof newSvc>;

function hasEffectOnce(
  title: string,
  request: string,
  type: string,
  wordsFor: (svc: Svc) => Promise<string[]>,
): void {
  t.test(`${title} has an effect once where its answer is lost`, async (t) => {
    const svc = await newMember();
    const words = await wordsFor(svc);
    const before = await countEvents(service, type);
    proxy.dropResponseTo(request);
    t.match(await svc(...words), { code: 0, err: /retrying/ });
    t.equal(await countEvents(service, type), before + 1);
  });

  t.test(`${title} has an effect once where its process is killed and started again`, async (t) => {
    const svc = await newMember();
    const words = await wordsFor(svc);
    const before = await countEvents(service, type);
    const stalled = proxy.stallResponseTo(request);
    const { child, ended } = svc.start(...words);
    await stalled;
    child.kill('SIGKILL');
    t.equal((await ended).code, null);
    const again = await svc(...words);
    t.equal(again.code, 0, again.err);
    t.equal(await countEvents(service, type), before + 1);
    t.notOk(readdirSync(svc.home).some((name) => name.startsWith('pending-')));
  });
}

t.test('lists notes that send no commands to a terminal and pass for no others', async (t) => {
  const svc = await newMember();
  const id = (await svc('note', 'Mine')).out.split(' ')[0] ?? '';
  const hostile = '\u001b[2J\u001b]0;owned\u0007\u202egpj\u2066\u2028\r\n\u0085\u007f';
  const forged = `\n${id} published ${hostile}\nforged`;
  // The service refuses such texts, so something else answers with them.
  const notes = [
    { id: `${id}${forged}`, state: `pending${forged}`, message: `${forged}${'x'.repeat(100_000)}` },
    { id, state: 'withdrawn', message: null },
  ];
  const body = JSON.stringify({ status: 'ok', notes, next_cursor: null, has_more: false });
  const answer = `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`;
  for (const flags of [[], ['--json']]) {
    proxy.answerTo('GET /api/membership/notes', answer);
    const { code, out, err } = await svc('note', 'list', ...flags);
    t.equal(code, 0, err);
    t.notMatch(out, /(?!\n)[\p{Cc}\p{Zl}\p{Bidi_Control}]/u);
    const lines = out.trimEnd().split('\n');
    t.equal(lines.length, 2);
    if (flags.length === 0) t.equal(lines[1], `${id} withdrawn (erased)`);
    else
      t.same(
        lines.map((line) => JSON.parse(line)),
        notes,
        'JSON has the texts as they are',
      );
  }
});

t.test('withdraws once where two processes do it together', async (t) => {
  const svc = await newMember();
  const [id = ''] = (await svc('note', 'Gone twice')).out.split(' ');
  const before = await countEvents(service, 'NoteWithdrawn');
  const both = await Promise.all([svc('note', 'withdraw', id), svc('note', 'withdraw', id)]);
  t.match(both, [
    { code: 0, out: 'withdrawn\n' },
    { code: 0, out: 'withdrawn\n' },
  ]);
  t.equal(await countEvents(service, 'NoteWithdrawn'), before + 1);
});

t.test('register has an effect once where its process is killed', async (t) => {
  const svc = newSvc();
  const stalled = proxy.stallResponseTo('POST /api/membership/register');
  const { child, ended } = svc.start('register', 'killed_once');
  await stalled;
  child.kill('SIGKILL');
  await ended;
  const id = JSON.parse(readFileSync(join(svc.home, 'identity.json'), 'utf8')).id;
  const advice = `Not registered: run \`svc register killed_once --at ${proxy.url}\` again\n`;
  for (const words of [['whoami'], ['note', 'Before the end'], ['updates'], ['mcp']])
    t.match(await svc(...words), { code: 4, out: '', err: advice }, words.join(' '));
  t.match(await svc('case', 'list'), { code: 0, err: '' }, 'what is public can be read');
  t.match(await svc('register', 'killed_once'), { code: 0, out: id });
});

t.test('a refused registration leaves no keys, and every command says so alike', async (t) => {
  const svc = newSvc();
  const head = `retry-after: 86400\r\ncontent-length: ${REFUSAL.length}\r\nconnection: close\r\n`;
  const refusal = `HTTP/1.1 429 Too Many Requests\r\n${head}\r\n${REFUSAL}`;
  proxy.answerTo('POST /api/membership/register', refusal);
  t.match(await svc('register', 'came_late'), { code: 1, err: '429 rate_limited: Too many.' });
  const advice = 'Not registered: run `svc register HANDLE` first\n';
  for (const words of [['whoami'], ['note', 'Too early'], ['updates'], ['mcp']])
    t.match(await svc(...words), { code: 4, out: '', err: advice }, words.join(' '));
  t.same(readdirSync(svc.home), []);
  t.match(await svc('register', 'came_later'), { code: 0 });
});

t.test(
  'delete succeeds where its process was killed, and leaves the files of others',
  async (t) => {
    const svc = await newMember();
    const { handle } = JSON.parse(readFileSync(join(svc.home, 'identity.json'), 'utf8'));
    writeFileSync(join(svc.home, 'thesis.txt'), 'not of svc');
    const stalled = proxy.stallResponseTo('POST /api/v1/me/delete');
    const { child, ended } = svc.start('delete', '--confirm', handle);
    await stalled;
    child.kill('SIGKILL');
    await ended;
    const again = await svc('delete', '--confirm', handle);
    t.equal(again.code, 0, again.err);
    t.same(readdirSync(svc.home), ['thesis.txt']);
  },
);

t.test('keeps an unanswered write through an answer of something between', async (t) => {
  const svc = await newMember();
  const before = await countEvents(service, 'ArtifactPublished');
  const stalled = proxy.stallResponseTo('POST /api/v1/artifacts');
  const { child, ended } = svc.start(...PACKET);
  await stalled;
  child.kill('SIGKILL');
  await ended;
  proxy.answerTo(
    'POST /api/v1/artifacts',
    'HTTP/1.1 302 Found\r\nlocation: /sign-in\r\ncontent-length: 0\r\nconnection: close\r\n\r\n',
  );
  t.match(await svc(...PACKET), { code: 1 });
  t.match(await svc(...PACKET), { code: 0 });
  t.equal(await countEvents(service, 'ArtifactPublished'), before + 1);
});

t.test('withdraws once though something between has answered first', async (t) => {
  const svc = await newMember();
  const id = (await svc('note', 'Behind a portal')).out.split(' ')[0] ?? '';
  const before = await countEvents(service, 'NoteWithdrawn');
  const stalled = proxy.stallResponseTo(`POST /api/guestbook/${id}/withdraw`);
  const { child, ended } = svc.start('note', 'withdraw', id);
  await stalled;
  child.kill('SIGKILL');
  await ended;
  const page = '<html>Sign in to this network</html>';
  for (const [status, body, code] of [
    ['200 OK', page, 3],
    ['200 OK', '{"success":true}', 3],
    ['302 Found', page, 1],
    ['413 Content Too Large', page, 1],
    ['511 Network Authentication Required', page, 1],
  ] as const) {
    const head = `content-length: ${body.length}\r\nconnection: close\r\nlocation: /sign-in\r\n`;
    proxy.answerTo(
      `POST /api/guestbook/${id}/withdraw`,
      `HTTP/1.1 ${status}\r\n${head}\r\n${body}`,
    );
    const { code: ended, out, err } = await svc('note', 'withdraw', id, '--json');
    t.match({ code: ended, out }, { code, out: '' }, status);
    t.match(JSON.parse(err), { error: { message: status.slice(0, 3) } });
    t.notMatch(err, 'Sign in');
    t.ok(
      readdirSync(svc.home).some((name) => name.startsWith('pending-')),
      status,
    );
  }
  t.match(await svc('note', 'withdraw', id), { code: 0, out: 'withdrawn\n' });
  t.notOk(readdirSync(svc.home).some((name) => name.startsWith('pending-')));
  t.equal(await countEvents(service, 'NoteWithdrawn'), before + 1);
});

t.test('changes nothing where the disk is full, and goes on when it is not', async (t) => {
  const full = async (home: string, ...words: string[]) => {
    // No file may grow, as on a full disk.
    const script = `trap '' XFSZ; ulimit -f 0; "$@" 2>&1 | cat`;
    const program = [process.execPath, SVC, ...words, '--home', home, '--at', proxy.url];
    const { stdout } = await promisify(execFile)('bash', ['-c', script, 'bash', ...program]);
    return stdout;
  };
  const none = newSvc();
  t.match(await full(none.home, 'register', 'on_full_disk'), 'EFBIG');
  t.same(readdirSync(none.home), [], 'no half of a file is left');
  t.match(await none('register', 'on_full_disk'), { code: 0 });

  const svc = await newMember();
  const id = (await svc('note', 'On a full disk')).out.split(' ')[0] ?? '';
  const before = await countEvents(service, 'NoteWithdrawn');
  const files = readdirSync(svc.home);
  t.match(await full(svc.home, 'note', 'list'), `${id} pending`, 'reading writes nothing');
  t.match(await full(svc.home, 'note', 'withdraw', id), 'EFBIG');
  t.same(readdirSync(svc.home), files);
  t.equal(await countEvents(service, 'NoteWithdrawn'), before, 'what is not saved is not sent');
  t.match(await svc('note', 'withdraw', id), { code: 0 });
});

t.test('refuses what is too large for the service, and sends it no more', async (t) => {
  const svc = await newMember();
  t.match(await svc('note', 'x'.repeat(100_000)), { code: 1, err: /POST .*: 413 body_too_large/ });
  t.notOk(readdirSync(svc.home).some((name) => name.startsWith('pending-')));
});

t.test('keeps the keys of a member when something else answers for the service', async (t) => {
  const svc = await newMember();
  const kept = readFileSync(join(svc.home, 'identity.json'), 'utf8');
  const { handle } = JSON.parse(kept);
  proxy.answerTo(
    'POST /api/membership/register',
    'HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n',
  );
  t.match(await svc('register', handle), { code: 1 });
  t.equal(readFileSync(join(svc.home, 'identity.json'), 'utf8'), kept);
  t.match(await svc('register', handle), { code: 0 });
  const other = newSvc();
  t.match(await other('register', handle), { code: 6 });
  t.match(await other('register', 'free_handle'), { code: 0 });
});

t.test('takes over the lock of a process that was killed', async (t) => {
  const svc = await newMember();
  const stalled = proxy.stallResponseTo('POST /api/v1/credentials');
  const { child, ended } = svc.start('whoami');
  await stalled;
  child.kill('SIGKILL');
  await ended;
  t.ok(existsSync(join(svc.home, 'session.lock')));
  const before = await countEvents(service, 'CredentialCreated');
  const all = await Promise.all([svc('whoami'), svc('whoami'), svc('whoami')]);
  t.match(all, [{ code: 0 }, { code: 0 }, { code: 0 }]);
  t.equal(await countEvents(service, 'CredentialCreated'), before);
  t.notOk(existsSync(join(svc.home, 'session.lock')));
});

t.test('takes over a lock whose process id belongs to a later process', async (t) => {
  const svc = await newMember();
  writeFileSync(join(svc.home, 'session.lock'), `${process.pid} 1`);
  t.match(await svc('whoami'), { code: 0 });
});

t.test('waits for the lock of a process that runs', async (t) => {
  const svc = await newMember();
  const holder: ChildProcess = spawn('sleep', ['1000']);
  t.teardown(() => holder.kill('SIGKILL'));
  await once(holder, 'spawn');
  const stat = readFileSync(`/proc/${holder.pid}/stat`, 'utf8');
  const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  let attempts = 0;
  const watcher = watch(svc.home, (_, name) => {
    if (name?.startsWith('session.lock.')) attempts += 1;
  });
  t.teardown(() => watcher.close());
  writeFileSync(join(svc.home, 'session.lock'), `${holder.pid} ${start}`);
  const order: string[] = [];
  const ended = svc('whoami').then((outcome) => {
    order.push('svc');
    return outcome;
  });
  await until(() => attempts > 5);
  order.push('holder');
  holder.kill('SIGKILL');
  t.match(await ended, { code: 0 });
  t.same(order, ['holder', 'svc']);
});

t.test('makes one credential for several processes that begin together', async (t) => {
  const svc = await newMember();
  const before = await countEvents(service, 'CredentialCreated');
  const all = await Promise.all([svc('whoami'), svc('whoami'), svc('whoami')]);
  t.match(all, [{ code: 0 }, { code: 0 }, { code: 0 }]);
  t.equal(await countEvents(service, 'CredentialCreated'), before + 1);
});

t.test('publishes twice where two processes have the same command', async (t) => {
  const svc = await newMember();
  const [one, other] = await Promise.all([svc(...PACKET), svc(...PACKET)]);
  t.match([one, other], [{ code: 0 }, { code: 0 }]);
  t.not(one.out, other.out);
});

t.test('refuses keys that other users can read or change, and says how to mend it', async (t) => {
  const svc = await newMember();
  const file = join(svc.home, 'identity.json');
  t.equal(statSync(svc.home).mode & 0o777, 0o700);
  t.equal(statSync(file).mode & 0o777, 0o600);
  chmodSync(file, 0o640);
  t.match(await svc('whoami'), { code: 1, err: `chmod 600 ${file}` });
  chmodSync(file, 0o600);
  chmodSync(svc.home, 0o777);
  t.match(await svc('whoami'), { code: 1, err: `chmod 700 ${svc.home}` });
  chmodSync(svc.home, 0o755);
  t.match(await svc('whoami'), { code: 0 });
});

t.test('shows nothing of a file of keys that is damaged', async (t) => {
  const svc = newSvc();
  mkdirSync(svc.home, { mode: 0o700 });
  writeFileSync(join(svc.home, 'identity.json'), '"sign_in_key": "0123', { mode: 0o600 });
  const { code, err } = await svc('whoami');
  t.equal(code, 1);
  t.match(err, /identity\.json is not JSON/);
  t.notMatch(err, /0123/);
});

t.test('creates no folder to read what is public', async (t) => {
  const svc = newSvc();
  t.match(await svc('case', 'list'), { code: 0 });
  t.match(await svc('case', 'open', ...CASE), { code: 4 });
  t.notOk(existsSync(svc.home));
});
