import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { verifyLog } from '../../cli/verify-log-command.ts';
import { answered, asking, callA2a } from '../../harness/a2a.ts';
import { bootstrap, inSeconds, newAgent, newCredential } from '../../harness/agent.ts';
import { type Api, type ApiResponse, createApi, readCookie } from '../../harness/api.ts';
import { createAuthenticator } from '../../harness/authenticator.ts';
import { createCaseCommands, createOpenCase } from '../../harness/cases.ts';
import { freePort } from '../../harness/free-port.ts';
import { atDesk, decide, type Moderator, submit, submitAs } from '../../harness/moderation.ts';
import { patient } from '../../harness/patient.ts';
import { needs, startProgram } from '../../harness/programs.ts';
import { publishArtifact, publishProfile } from '../../harness/records.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { testDatabase } from '../support/database.ts';
import { WITHOUT_PATRONI, writeConfig } from '../support/deploy-config.ts';
import { guideProgram } from '../support/guide-program.ts';
import { runModeratorCommand } from '../support/moderator-command.ts';
import { untilInTime } from '../support/operate.ts';
import { installPackedClient } from '../support/packed-client.ts';
import { isSigned, startReceiver } from '../support/receiver.ts';
import { isStorageRefusal } from '../support/storage-refusals.ts';
import { ACCEPT, bridge } from '../support/svc-mcp.ts';
import { type Fleet, startFleet } from './fleet.ts';

// A walk from outside: what an operator starts, behind a proxy that adds its usual headers, with
// each capability used to the end of its jobs. Every new capability gets its steps here.

// Both walks mostly wait, the longest for a credential that expires after a minute.
t.setTimeout(900_000);
t.jobs = 2;

const TRACE = 'http-request set-header traceparent 00-%[uuid(),regsub(-,,g)]-00f067aa0ba902b7-01';

const proxies = {
  haproxy: (t: Test, port: string, [one, other]: readonly number[]) => [
    '-db',
    '-f',
    writeConfig(t, 'haproxy.cfg', {
      ...WITHOUT_PATRONI,
      'maxconn 20000': 'maxconn 200',
      'bind :8080': `bind 127.0.0.1:${port}`,
      'default_backend web': `${TRACE}\n    default_backend web`,
      // A process that a busy machine does not run for a second is not down.
      'default-server inter 1s': 'timeout check 60s\n    default-server inter 1s',
      '127.0.0.1:3001': `127.0.0.1:${one}`,
      '127.0.0.1:3002': `127.0.0.1:${other}`,
    }),
  ],
  nginx: (t: Test, port: string, [one, other]: readonly number[]) => {
    // Its account may write only here.
    const folder = temporaryFolder('nginx');
    t.teardown(folder.remove);
    chmodSync(folder.path, 0o777);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${folder.path}/${name};`)
      .join(' ');
    const config = writeConfig(t, 'nginx.conf', {
      'pid /run/nginx.pid;': `pid ${folder.path}/pid; daemon off;`,
      'access_log off;': `access_log off; ${temporary}`,
      'worker_connections 20000': 'worker_connections 200',
      'listen 8080': `listen 127.0.0.1:${port}`,
      '127.0.0.1:3001': `127.0.0.1:${one}`,
      '127.0.0.1:3002': `127.0.0.1:${other}`,
    });
    return ['-e', 'stderr', '-c', config];
  },
};

/** Signs the checkpoints of the sealed log. */
const SECRET_SEED = '07'.repeat(32);

/** Signs the calls to the receiver of notices. */
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

let installing: ReturnType<typeof installGuideClient> | undefined;

/** Both walks use one project with the packed client and the program of the guide. */
async function installGuideClient() {
  const { path } = await installPackedClient(t);
  writeFileSync(join(path, 'agent.ts'), guideProgram('typescript.md', 'ts', 4));
  return path;
}

const PROXIES = Object.keys(proxies) as (keyof typeof proxies)[];
/** The operator's commands do not pass the proxy, so one walk has them. */
const OPERATED = PROXIES.find((proxy) => !needs(proxy).skip);

for (const proxy of PROXIES)
  t.test(
    `every capability does its job to the end behind ${proxy}`,
    { ...needs(proxy), buffered: true },
    async (t) => {
      const port = await freePort();
      const receiver = await startReceiver(t);
      const fleet = await startFleet(t, port, {
        UNDO_WINDOW_SECONDS: '1',
        LIMIT_REGISTRATIONS_PER_DAY: '10',
        LOG_LEVEL: 'info',
        NOTIFY_URLS: `${receiver.url}/hook`,
        NOTIFY_SECRETS: SECRET,
        SEAL_KEY: SECRET_SEED,
      });
      const program = await startProgram(proxy, proxies[proxy](t, port, fleet.ports), port);
      t.teardown(program.kill);
      // A host with a name, as passkeys need it.
      const origin = `http://localhost:${port}`;
      const api = patient(createApi(origin));
      await until(
        'the proxy serves',
        async () => (await api.call('GET', '/readyz')).status === 200,
      );
      const { author, lead, noteId } = await walk(t, fleet, api, origin, proxy === OPERATED);
      await t.test('installed clients bring cases to their end', (t) =>
        useClients(t, fleet, api, origin),
      );
      await submit(api);
      await until('a receiver is called', async () => receiver.calls.length > 0);
      const [called] = receiver.calls;
      t.match(called && JSON.parse(called.body), { type: 'moderation.notices' });
      t.ok(called && isSigned(called, SECRET));
      await until(
        'a worker has sealed the log',
        async () => (await api.call('GET', '/log/checkpoint')).status === 200,
      );
      // A stranger verifies that a public note is in the log, and a member what it did.
      const folder = temporaryFolder('proofs');
      t.teardown(folder.remove);
      const file = join(folder.path, 'proofs.json');
      const verifyProofs = async (read: () => Promise<ApiResponse>) => {
        await until('the events are sealed', async () => {
          const proofs = await read();
          writeFileSync(file, proofs.text);
          return proofs.body.events?.length > 0;
        });
        const { status, out, err } = await verifyLog([origin, '--proof', file]);
        t.equal(status, 0, err);
        t.match(out, /^Verified \d+ events of localhost/);
        return out;
      };
      const ofNote = await verifyProofs(() => api.call('GET', `/log/proofs/note/${noteId}`));
      t.match(ofNote, /^In the log at \d+: .*personal\.message="A lighthouse in the fog"$/m);
      const ofAuthor = await verifyProofs(() => author.call('GET', '/api/v1/me/proofs?limit=100'));
      t.match(ofAuthor, /^In the log at \d+: .*type="MemberRegistered"/m);
      // A moderator takes the audit along, and an auditor verifies it without the service.
      const audit = { BASE_URL: origin, MODERATOR_TOKEN: lead.token };
      writeFileSync(file, (await runModeratorCommand(audit, ['audit', '--proofs'])).stdout);
      const [key] = (await api.call('GET', '/api/v1/discovery')).body.identity.log_keys;
      const ofAudit = await verifyLog(['--key', key, '--proof', file]);
      t.match(
        ofAudit,
        { status: 0, out: /^In the log at \d+: .*type="NoteRejected"/m },
        ofAudit.err,
      );
    },
  );

/** Runs the programs of the guides with the packed client, `svc` and the client in Python, to the end of their jobs. */
async function useClients(t: Test, fleet: Fleet, api: Api, origin: string): Promise<void> {
  installing ??= installGuideClient();
  const project = await installing;
  const folder = temporaryFolder('clients');
  t.teardown(folder.remove);
  const shell = guideProgram('shell.md', 'sh', 5);
  const bin = join(project, 'node_modules/.bin');
  const programs: [name: string, command: string, args: string[]][] = [
    ['client', process.execPath, ['agent.ts']],
    ['svc', 'bash', ['-eu', '-o', 'pipefail', '-c', shell]],
  ];
  const { CLIENT_PYTHON: python } = process.env;
  if (python) programs.push(['python', python, ['-c', guideProgram('python.md', 'python', 6)]]);
  else t.comment('SKIPPED: the client in Python; CLIENT_PYTHON names none that has it');

  for (const [name, command, args] of programs) {
    const { stdout } = await promisify(execFile)(command, args, {
      cwd: project,
      env: {
        ...process.env,
        PATH: [bin, dirname(process.execPath), process.env.PATH].join(':'),
        SERVICE: origin,
        FOLDER: join(folder.path, name),
      },
    });
    const id = /^opened (\S+)/m.exec(stdout)?.[1];
    const { body } = await api.call('GET', `/api/v1/cases/${id}`);
    t.match(body.case, { state: 'accepted', title: 'Check the index' }, name);
  }
  const { rows } = await fleet.pool.query(
    `SELECT count(*)::int AS accepted FROM cases WHERE state = 'accepted' AND title = 'Check the index'`,
  );
  t.same(rows, [{ accepted: programs.length }]);

  // A host publishes as the author of the guide, with the consent of the person.
  const home = join(folder.path, 'svc', 'author');
  const revision = '2026-07-28';
  const host = await bridge(t, home, ACCEPT, { svc: join(bin, 'svc'), revision });
  const text = { title: 'Seen by a host', summary: 'One lighthouse', body: 'In the fog' };
  const published = await host.call('publish_packet', text);
  t.match(published, { isError: false, artifact: { id: String } });
  t.match(host.questions, [/^Do you want to publish a packet at http.*One lighthouse/s]);
  const { body } = await api.call('GET', `/api/v1/artifacts/${published.artifact.id}`);
  t.match(body.artifact.packet, { title: 'Seen by a host', content: { body: 'In the fog' } });
}

/** Asks until the answer is true. Only the timeout of the test limits the wait. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const started = performance.now();
  while (!(await holds())) {
    await sleep(100);
    if (performance.now() - started > 300_000) throw new Error(`waited in vain: ${what}`);
  }
}

async function walk(t: Test, fleet: Fleet, api: Api, origin: string, isOperated: boolean) {
  const lead = await addModerator(fleet, api, 'grace');
  const second = await addModerator(fleet, api, 'edsger');
  const author = await newAgent(api);
  const helper = await newAgent(api);
  const { cookie } = await login(api, author);

  /** Waits until a member's feed has an entry of this type. */
  const notified = (agent: typeof author, type: string) =>
    until(`the feed has ${type}`, async () => {
      const { body } = await agent.call('GET', `/api/v1/updates?limit=100&types=${type}`);
      return body.events.length > 0;
    });
  const screened = (id: string) =>
    until('the note is screened', async () => {
      const { body } = await lead.get(`notes/${id}`);
      return body.item.screening.state === 'done';
    });

  // This credential expires while the walk goes on. It has to last for a minute when its request is answered.
  const expiring = await newAgent(api);
  const makeExpiring = () =>
    bootstrap(api, expiring, { ...newCredential(), expires_at: inSeconds(62) });
  let made = await makeExpiring();
  while (/must be 60 seconds to 24 hours from now/.test(made.text)) made = await makeExpiring();
  t.equal(made.status, 201, made.text);

  // A guest signs by the form that needs no script; the note is screened, approved and found.
  const id = randomUUID();
  const fields = { id, name: 'Ada', message: 'A lighthouse in the fog', experience: 'service' };
  const sent = await api.call('POST', '/guestbook', { form: { ...fields, website: '' } });
  t.equal(sent.status, 303, sent.text);
  await screened(id);
  t.equal((await decide(lead, id, 'approve')).status, 201);
  t.same(await publicNotes(api), [id]);
  t.match((await api.call('GET', `/notes/${id}`)).text, /A lighthouse in the fog/);
  t.match((await api.call('GET', '/guestbook/service.atom')).text, /A lighthouse in the fog/);
  const found = await api.call('GET', '/api/v1/search?q=lighthouse');
  t.match(found.body.results, [{ kind: 'note', id }]);
  const mcp = await api.call('POST', '/mcp', {
    headers: { accept: 'application/json, text/event-stream' },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'search_public', arguments: { query: 'lighthouse' } },
    },
  });
  t.match(mcp.text, id, 'MCP finds the note');

  // A member corrects a note; it is rejected; the member is notified and appeals; another lead grants it.
  const own = await submitAs(api, { handle: author.handle, cookie }, { message: 'Buy a baot' });
  await screened(own.id);
  const corrected = { cookie, body: { message: 'Buy a boat' } };
  const correction = await api.call('POST', `/api/guestbook/${own.id}/correct`, corrected);
  t.match(correction, { status: 200, body: { version: 2 } });
  await screened(own.id);
  const rejection = { action: 'reject', policy: 'spam', expected_version: 2 };
  t.equal((await lead.post(`notes/${own.id}/decisions`, rejection)).status, 201);
  await notified(author, 'note.rejected');
  const ownNotes = async () => (await api.call('GET', '/api/membership/notes', { cookie })).body;
  t.match((await ownNotes()).notes[0], { id: own.id, state: 'rejected', actions: ['appeal'] });
  const appeal = { cookie, body: { text: 'It is a real boat' } };
  t.equal((await api.call('POST', `/api/guestbook/${own.id}/appeal`, appeal)).status, 202);
  const { body: appealed } = await second.get(`notes/${own.id}`);
  const granting = { action: 'grant', expected_version: appealed.item.version };
  t.equal((await second.post(`notes/${own.id}/decisions`, granting)).status, 201);
  await notified(author, 'appeal.granted');
  t.match((await ownNotes()).notes[0], { state: 'approved', outcome: { outcome: 'granted' } });
  t.same((await publicNotes(api)).toSorted(), [id, own.id].toSorted());

  // A member's report leads to a removal, of which author and reporter are notified.
  const subject = { type: 'note', id: own.id };
  const report = await helper.call('POST', '/api/v1/reports', { subject, reason: 'spam' });
  t.equal(report.status, 201, report.text);
  const { body: reported } = await lead.get(`notes/${own.id}`);
  const removal = { action: 'remove', policy: 'spam', expected_version: reported.item.version };
  t.equal((await lead.post(`notes/${own.id}/decisions`, removal)).status, 201);
  // What stood there before the lead removed the note.
  const { body: removed } = await second.get(`notes/${own.id}`);
  const before = new Date(Date.parse(removed.item.decision.decided_at) - 1).toISOString();
  const { body: past } = await second.get(`notes/${own.id}?as_of=${before}`);
  t.match([past.item.state, removed.item.state], ['approved', 'removed']);
  t.equal(past.item.version, reported.item.version);
  await notified(author, 'note.removed');
  await notified(helper, 'report.resolved');
  t.same(await publicNotes(api), [id]);

  // A member is disabled and appeals; another lead finds the appeal and grants it; the member signs in again.
  const stopped = await newAgent(api);
  const disabling = { policy: 'spam', message: 'Nine adverts in an hour' };
  t.equal((await lead.post(`members/${stopped.id}/disable`, disabling)).status, 201);
  t.equal((await stopped.call('GET', '/api/v1/me')).status, 401);
  const membership = `subjects/member/${stopped.id}`;
  await until('the member may know the reason', async () => {
    const { body } = await lead.get(membership);
    return body.item.decision.told_at !== null;
  });
  const proof = { id: stopped.id, sign_in_key: stopped.sign_in_key };
  const asked = (path: string, more: object = {}) =>
    api.call('POST', `/api/membership/disabled${path}`, { body: { ...proof, ...more } });
  t.match((await asked('')).body, { policy: 'spam', message: disabling.message });
  t.equal((await asked('/appeal', { text: 'My brother had my key' })).status, 202);
  const { body: open } = await second.get('queue?view=appeals');
  t.match(open.items, [{ id: stopped.id, text: 'My brother had my key' }]);
  const lifting = { action: 'grant', expected_version: open.items[0].version };
  t.equal((await second.post(`${membership}/decisions`, lifting)).status, 201);
  t.match((await login(api, stopped)).cookie, /./);

  // A lead rewinds what a moderator decided; another lead takes that back, which makes nothing public.
  const rob = await addModerator(fleet, api, 'rob');
  const [advert, greeting] = [await submit(api), await submit(api)];
  await decide(rob, advert.id, 'approve');
  await decide(rob, greeting.id, 'reject');
  const moderate = ({ token }: Moderator, ...args: string[]) =>
    runModeratorCommand({ BASE_URL: origin, MODERATOR_TOKEN: token }, args);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const rewound = await moderate(lead, 'rewind', 'rob', '--since', since, '--yes');
  t.match(rewound, { code: 0, stdout: /^Undone: 2\n/ }, rewound.stderr);
  t.same(await publicNotes(api), [id]);
  const batchId = /undo-batch (\S+)/.exec(rewound.stdout)?.[1] ?? '';
  const back = await moderate(second, 'undo-batch', batchId);
  t.match(back.stdout, `decided  note ${greeting.id}\n`, back.stderr);
  t.same(await publicNotes(api), [id]);

  // A flood of one text has one row of the queue, which represents all of them.
  const flood: string[] = [];
  for (const end of ['', '!', '?']) {
    const { id: advert } = await submit(api, {
      message: `Cheap boats for everyone, today only${end}`,
    });
    await screened(advert);
    flood.push(advert);
  }
  const folding = `/api/moderation/folds/text/${flood[1]}`;
  const asLead = { headers: { authorization: `Bearer ${lead.token}` } };
  t.equal((await api.call('PUT', folding, { ...asLead, body: { days: 1 } })).status, 200);
  const { body: queue } = await lead.get('queue');
  const rows = queue.items.filter(({ id: row }: { id: string }) => flood.includes(row));
  t.match(rows, [{ id: flood[0], fold: { notes: 3 } }]);
  const rejected = await lead.post('decisions/batch', {
    action: 'reject',
    policy: 'spam',
    items: flood.map((note_id) => ({ note_id, expected_version: 1 })),
  });
  t.equal(rejected.body.results?.length, 3, rejected.text);
  t.equal((await api.call('DELETE', folding, asLead)).status, 200);

  // A member adds a passkey, and signs in with it.
  const passkeys = (path: string, body: object, session?: string) =>
    api.call('POST', `/api/membership/passkeys${path}`, { body, cookie: session });
  const authenticator = createAuthenticator(origin);
  const { body: creation } = await passkeys('/challenge', {}, cookie);
  const credential = authenticator.register(creation.options);
  const adding = { name: 'Laptop', sign_in_key: author.sign_in_key, credential };
  const added = await passkeys('', adding, cookie);
  t.equal(added.status, 200, added.text);
  const { body: request } = await passkeys('/session/challenge', {});
  const entered = await passkeys('/session', { credential: authenticator.signIn(request.options) });
  t.match(entered, { status: 200, body: { id: author.id } }, entered.text);
  await notified(author, 'passkey.added');

  // Agents publish a profile and a packet, and bring a case to its end, over HTTP and A2A.
  await publishProfile(author);
  const packet = await publishArtifact(author);
  t.equal((await api.call('GET', packet.path)).status, 200);
  const [ours, theirs] = [createCaseCommands(author), createCaseCommands(helper)];
  const caseId = await createOpenCase(ours);
  const { body: newest } = await author.call('GET', '/api/v1/updates?start=now');
  const polled = author.call('GET', `/api/v1/updates?wait=25&cursor=${newest.next_cursor}`);
  const input = { case_id: caseId, expected_version: 1 };
  const claimed = await callA2a(api, helper, asking('case.claim', input, randomUUID()));
  t.equal(answered(claimed).result?.case.state, 'claimed', claimed.text);
  t.match((await polled).body.events, [{ type: 'case.claimed' }], 'the long poll is woken');
  t.equal((await theirs.submit(caseId, 2)).status, 201);
  t.equal((await ours.review(caseId, 3, 'accept')).status, 201);
  await notified(helper, 'case.reviewed');
  t.equal((await api.call('GET', `/api/v1/cases/${caseId}`)).body.case.state, 'accepted');
  t.match((await api.call('GET', '/api/v1/activity')).body.entries[0], { type: 'case.accepted' });
  t.same((await api.call('GET', '/api/transparency')).body.weeks, [], 'no week is over');
  t.equal((await api.call('GET', '/transparency')).status, 200);

  // A member takes an export and leaves; a worker erases what the member wrote from the log.
  const exported = await helper.call('GET', '/api/v1/me/export');
  t.equal(exported.body.member.handle, helper.handle);
  const leaving = { confirm_handle: helper.handle };
  t.equal((await helper.call('POST', '/api/v1/me/delete', leaving)).status, 200);
  t.equal((await helper.call('GET', '/api/v1/me')).status, 401);
  const count = async (condition: string, values: unknown[] = []) =>
    (await fleet.pool.query(`SELECT count(*)::int AS n FROM events WHERE ${condition}`, values))
      .rows[0].n as number;
  const erased = `type = 'MemberErased' AND owner_id = $1`;
  await until('the member is erased', async () => (await count(erased, [helper.id])) === 1);
  t.equal(await count('owner_id = $1 AND personal IS NOT NULL', [helper.id]), 0);

  if (isOperated) await operate(t, fleet, api, id);

  await notified(expiring, 'credential.expired');
  await until('no job waits for its next attempt', async () => {
    const { rowCount } = await fleet.pool.query(`SELECT FROM pgboss.job WHERE state = 'retry'`);
    return rowCount === 0;
  });
  const { rows: dead } = await fleet.pool.query(
    `SELECT name, data, output FROM pgboss.job WHERE state = 'failed' OR name = 'dead-letters'`,
  );
  t.same(dead, [], 'no job failed for the last time');

  // Each process shows its operator the same service.
  for (const port of fleet.metricsPorts) {
    const headers = { accept: 'application/json' };
    const seen = await untilInTime(async () =>
      (await fetch(`http://127.0.0.1:${port}/operate`, { headers })).json(),
    );
    t.notMatch(JSON.stringify(seen), /"unread"/, 'every section is read');
    t.match(seen, {
      database: {
        processes: [{ process: 'web' }, { process: 'worker', listening: 2 }],
      },
      jobs: { dead_letters: { count: 0, more: false } },
      seal: { sealed: true, refused: false },
      erasures: { members: { count: 0, more: false } },
    });
  }

  const failures = fleet.log.filter(
    (line) => /"level":"?(error|fatal)/.test(line) && !isStorageRefusal(line),
  );
  t.same(failures, [], 'no process logged an error');
  const traced = fleet.log.filter((line) => line.includes('"trace_id":"'));
  t.ok(traced.length > 0, 'the proxy sent its headers');
  return { author, lead, noteId: id };
}

/** The ids of the public notes of the guestbook. */
const publicNotes = async (api: Api): Promise<string[]> =>
  (await api.call('GET', '/api/guestbook')).body.entries.map(({ id }: { id: string }) => id);

/** The operator's commands, on a service whose only public note is `id`. */
async function operate(t: Test, fleet: Fleet, api: Api, id: string): Promise<void> {
  // The operator judges the rules by what they recorded; they find the same again.
  const judged = JSON.parse(await fleet.operate('moderator', ['backtest', '--json']));
  t.ok(judged.comparable >= 2);
  t.equal(judged.reproduced, judged.comparable);

  // The operator brings the comments of another program, copies what is public, and undoes the import.
  const archive = 'test/cli/exports/isso-generic.json';
  const reviewer = ['--reviewed-by', 'rob'];
  const brought = await fleet.operate('import', ['--from', 'isso', archive, ...reviewer]);
  t.match(brought, /^ {2}published as reviewed: 2$/m);
  const { entries } = (await api.call('GET', '/api/guestbook')).body;
  t.match(entries[0], { message: 'Hello again', created_at: Date.UTC(2018, 5, 2, 10) / 1000 });
  const copies = temporaryFolder('public');
  t.teardown(copies.remove);
  const copy = join(copies.path, 'copy');
  t.match(await fleet.operate('export-public', [copy]), /^Exported 3 notes, /);
  t.match(readFileSync(join(copy, 'service.html'), 'utf8'), 'Hello from before');
  const importId = /^Import (\S+):$/m.exec(brought)?.[1] ?? '';
  t.match(await fleet.operate('import', ['--undo', importId]), /^Withdrew and erased 2 notes$/m);
  t.same(await publicNotes(api), [id]);

  // Every read model is compared with the log while the service runs.
  t.match(await fleet.operate('verify', ['--live']), /^Proven: \d+ rows of every read model/m);

  // A row is changed by hand; the operator mends it.
  await fleet.pool.query('UPDATE notes SET version = version + 1 WHERE note_id = $1', [id]);
  const mending = await fleet.operate('verify', ['--live', '--mend']);
  t.match(mending, /^notes note_id="[0-9a-f-]{36}" differs in version: mended$/m);
  t.match(mending, /^Mended 1 rows of notes, and compared again\nProven: /m);

  // A backup of the running service, verified, restored into another database, which serves.
  const folder = temporaryFolder('walk');
  t.teardown(folder.remove);
  const backup = join(folder.path, 'backup');
  const passphrase = { BACKUP_PASSPHRASE: 'a walk from outside' };
  await fleet.operate('backup', [backup], passphrase);
  t.match(await fleet.operate('verify', [backup], passphrase), /every read model equals/);
  const restored = await testDatabase(t, { empty: true });
  await fleet.operate('restore', [backup], { ...passphrase, DATABASE_URL: restored.url });
  const notes = 'SELECT note_id, state FROM notes ORDER BY note_id';
  t.same((await restored.pool.query(notes)).rows, (await fleet.pool.query(notes)).rows);
}

async function login(api: Api, { id, sign_in_key }: { id: string; sign_in_key: string }) {
  const answer = await api.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  return { cookie: readCookie(answer) };
}

async function addModerator(fleet: Fleet, api: Api, name: string): Promise<Moderator> {
  const output = await fleet.operate('moderator', ['add', name, '--role', 'lead']);
  const id = /\(lead, (\S+)\)/.exec(output)?.[1] ?? '';
  return atDesk(api, { id, token: output.trim().split('\n').at(-1) ?? '' });
}
