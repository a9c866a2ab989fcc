import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { verifyLog } from '../../cli/verify-log-command.ts';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { type LeafOpening, leafContent, type SealedEvent } from '../../services/seal/leaf.ts';
import type { EventProof } from '../../services/seal/proofs.ts';
import { eventsToSeal, leavesBetween } from '../../services/seal/tree-store.ts';
import { sealNow } from '../support/sealed.ts';
import { type Service, startService } from '../support/service.ts';

// Verifiers of the sealed log: that of this project, the example in Python, and one made of the packages of Go's
// checksum database, which others have written.

const EXAMPLE = join(import.meta.dirname, '../../examples/verify_log.py');
const GO_PROJECT = join(import.meta.dirname, '../../examples/verify-log-go');
const go = process.env.FOREIGN_GO ?? '';
const python = process.env.FOREIGN_PYTHON ?? '';
if (!go) console.error('SKIPPED: the verifier in Go; FOREIGN_GO is not set');
if (!python) console.error('SKIPPED: the verifier in Python; FOREIGN_PYTHON is not set');
t.setTimeout(500_000);

/** Starts a service whose log has more leaves than a tile, sealed; `more` seals further ones. */
async function startSealed(t: Test) {
  const service = await startService(t, { SEAL_KEY: randomBytes(32).toString('hex') });
  const more = async (count: number) => {
    await service.database.pool.query(
      `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, personal,
         actor, recorded_at)
       SELECT gen_random_uuid(), 'member-' || gen_random_uuid(), 1, gen_random_uuid(), 'Made',
         jsonb_build_object('n', n), NULL, '{"type": "service"}', clock_timestamp()
       FROM generate_series(1, $1::int) n`,
      [count],
    );
    await sealNow(service.core);
  };
  const moderator = await addModerator(service, 'Ann');
  const { id } = await submit(service, { message: 'A note with "quotes", ü and 🙂' });
  await decide(moderator, id, 'approve');
  await more(700);
  // These events are of no type that a read model knows.
  await service.tamper('SELECT 1');
  const discovery = await service.call('GET', '/api/v1/discovery');
  const [key] = discovery.body.identity.log_keys as [string];
  const note = async () => (await service.call('GET', '/log/checkpoint')).text;
  return { service, id, more, key, note };
}

/** The contents of all leaves, as lines of number and hex digits. */
async function leafLines({ core: { pool } }: Service): Promise<string> {
  const [events, leaves] = [eventsToSeal(0, 1e9), leavesBetween(0, 1e9)];
  const { rows } = await pool.query<SealedEvent>(events.text, events.values);
  const { rows: opened } = await pool.query<LeafOpening>(leaves.text, leaves.values);
  return rows
    .map((event, leaf) => {
      const content = leafContent(event, opened[leaf] as LeafOpening);
      return `${leaf} ${content.toString('hex')}\n`;
    })
    .join('');
}

async function run(command: string, args: string[]) {
  const child = spawn(command, args, { env: { ...process.env, NODE_OPTIONS: '' } });
  child.stdin.end();
  const [out, err, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.on('close', resolve)),
  ]);
  return { out, err, status };
}

let program: Promise<string> | undefined;

/** Builds the verifier in Go once; the folder is removed at the end of the file. */
function goProgram(): Promise<string> {
  program ??= (async () => {
    const { path, remove } = temporaryFolder('sealed-log');
    t.teardown(remove);
    const file = join(path, 'program');
    await promisify(execFile)(go, ['build', '-o', file, '.'], { cwd: GO_PROJECT });
    return file;
  })();
  return program;
}

t.test(
  'packages of Go verify checkpoint, tiles, consistency and leaves',
  { skip: !go },
  async (t) => {
    const { path, remove } = temporaryFolder('older');
    t.teardown(remove);
    const { service, more, key, note } = await startSealed(t);
    const [older, leaves] = [join(path, 'older'), join(path, 'leaves')];
    const verify = async (...options: string[]) =>
      run(await goProgram(), [...options, service.baseUrl, key]);
    writeFileSync(older, await note());
    await more(300);
    const lines = await leafLines(service);
    writeFileSync(leaves, lines);
    const verified = await verify('-older', older, '-leaves', leaves);
    t.equal(verified.status, 0, verified.err);
    t.match(
      verified.out,
      /^The tiles have the root of (\d+) events .*\nThey continue the \d+ of .*\n\1 leaves are in the tree\n$/,
    );
    writeFileSync(leaves, lines.replace(/^5 ../m, '5 00').replace(/^5 00(?=00)/m, '5 01'));
    const refused = await verify('-leaves', leaves);
    t.not(refused.status, 0, 'another leaf');
    t.match(refused.err, /inclusion/);
    writeFileSync(older, (await note()).replace(/^(\S+\n)\d+/, '$15'));
    t.not((await verify('-older', older)).status, 0, 'another checkpoint');
  },
);

/** The two verifiers of this project, which take the same arguments. */
const VERIFIERS: readonly [
  name: string,
  skip: boolean,
  verify: (args: string[]) => Promise<{
    status: unknown;
    out: string;
    err: string;
  }>,
][] = [
  ['npm run verify-log', false, verifyLog],
  ['examples/verify_log.py', !python, (args) => run(python, [EXAMPLE, ...args])],
];

/** Another value for one part of the first event of a reply with proofs. */
const FORGERIES: readonly [what: string, forge: (event: EventProof) => void][] = [
  [
    'another text',
    ({ words }) => Object.assign(words?.find(({ text }) => text) ?? {}, { text: '"x"' }),
  ],
  [
    'another hash',
    ({ facts }) => Object.assign(facts.find(({ text }) => !text) ?? {}, { hash: '0'.repeat(64) }),
  ],
  [
    'a part of the text in the salt',
    ({ words }) => {
      const [field] = words?.filter(({ text = '' }) => text.length > 3) ?? [];
      const { salt = '', text = '' } = field ?? {};
      const moved = Buffer.from(text.slice(0, 3)).toString('hex');
      Object.assign(field ?? {}, { salt: salt + moved, text: text.slice(3) });
    },
  ],
  ['another leaf', (event) => Object.assign(event, { leaf: event.leaf + 1 })],
  ['a field less', ({ facts }) => facts.pop()],
  ['a field named twice', ({ facts }) => facts.unshift(...facts.slice(0, 1))],
  ['other words', (event) => Object.assign(event, { words_hash: '1'.repeat(64) })],
  ['no words', (event) => Object.assign(event, { words: null, words_hash: null })],
  ['a longer path', ({ path }) => path.push('2'.repeat(64))],
  ['a shorter path', ({ path }) => path.pop()],
];

/** That in Go has no state; its options come before the address and the key. */
const GO_VERIFIER: (typeof VERIFIERS)[number] = [
  'examples/verify-log-go',
  !go,
  async ([url = '', , key = '', ...options]) => run(await goProgram(), [...options, url, key]),
];

for (const [name, skip, verify] of [...VERIFIERS, GO_VERIFIER])
  t.test(`${name} verifies what a proof shows, and refuses forged ones`, { skip }, async (t) => {
    const { service, id, more, key } = await startSealed(t);
    const { path, remove } = temporaryFolder('proofs');
    t.teardown(remove);
    const file = join(path, 'proof.json');
    const verifyProof = () => verify([service.baseUrl, '--key', key, '--proof', file]);
    const { text } = await service.call('GET', `/log/proofs/note/${id}`);
    await more(300);
    writeFileSync(file, text);
    const good = await verifyProof();
    t.equal(good.status, 0, good.err);
    t.match(
      good.out,
      /^'?In the log at \d+: .*type="NoteSubmitted".*personal\.message="A note with /m,
    );
    for (const [what, forge] of FORGERIES) {
      const proofs = JSON.parse(text);
      forge(proofs.events[0]);
      writeFileSync(file, JSON.stringify(proofs));
      const refused = await verifyProof();
      t.match(refused, { status: 1, err: /^Not verified: / }, what);
    }
    writeFileSync(file, JSON.stringify({ ...JSON.parse(text), events: [] }));
    t.match(await verifyProof(), { status: 1, err: /^Not verified: .*no event/ });
    const hidden = JSON.parse(text);
    hidden.events[0].words = null;
    writeFileSync(file, JSON.stringify(hidden));
    t.match(await verifyProof(), { status: 0, out: /are not shown, so no text is verified/ });
    const other = await startSealed(t);
    writeFileSync(file, (await other.service.call('GET', `/log/proofs/note/${other.id}`)).text);
    t.equal((await verifyProof()).status, 1, 'of another log');
    for (const wrong of ['', '[]', '{"checkpoint": 1}', '{"checkpoint": "x", "events": [{}]}']) {
      writeFileSync(file, wrong);
      t.match(await verifyProof(), { status: 1, err: /^Not verified: / }, JSON.stringify(wrong));
    }
  });

for (const [name, skip, verify] of VERIFIERS)
  t.test(`${name} follows checkpoints, and reports forks and rollbacks`, { skip }, async (t) => {
    const { service, more, key } = await startSealed(t);
    const { path, remove } = temporaryFolder('verify-log');
    t.teardown(remove);
    const state = join(path, 'state');
    const follow = () => verify([service.baseUrl, '--state', state]);
    const first = await follow();
    t.equal(first.status, 0, first.err);
    t.match(first.out, /^Verified 70\d events .*\nThe service named this key/s);
    await more(300);
    const second = await follow();
    t.equal(second.status, 0, second.err);
    t.match(second.out, /It continues the checkpoint of 70\d events/);
    t.equal((await verify([service.baseUrl, '--key', key])).status, 0);

    const other = await startSealed(t);
    const foreign = await verify([service.baseUrl, '--key', other.key]);
    t.equal(foreign.status, 1, 'signed by another key');
    t.match(foreign.err, /^Not verified: .*not signed by/);

    // The operator signs another past with the same key, in the name of the same log.
    for (const table of ['seal_trees', 'seal_tiles', 'seal_leaves'])
      await service.database.pool.query(`DELETE FROM ${table}`);
    // A process that has not signed before.
    await sealNow({ ...service.core, pool: new Proxy(service.core.pool, {}) });
    const forked = await follow();
    t.equal(forked.status, 3, forked.err);
    t.match(forked.err, /^FORK: the first \d+ events are not those/);
    t.equal(forked.out.match(/^\u2014 /gm)?.length, 2, 'both signed checkpoints are shown');
  });
