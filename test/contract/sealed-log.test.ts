import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { verifyLog } from '../../cli/verify-log-command.ts';
import { submit } from '../../harness/moderation.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { type LeafOpening, leafContent, type SealedEvent } from '../../services/seal/leaf.ts';
import { sealCommitted } from '../../services/seal/seal-log.ts';
import { eventsToSeal, leavesBetween } from '../../services/seal/tree-store.ts';
import { type Service, startService } from '../support/service.ts';

// Verifiers of the sealed log: that of this project, the example in Python, and one made of the packages of Go's
// checksum database, which others have written.

const EXAMPLE = join(import.meta.dirname, '../../examples/verify_log.py');
const GO_PROJECT = join(import.meta.dirname, 'sealed-log');
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
    await sealCommitted(service.core);
  };
  await submit(service, { message: 'A note with "quotes", ü and 🙂' });
  await more(700);
  // These events are of no type that a read model knows.
  await service.tamper('SELECT 1');
  const discovery = await service.call('GET', '/api/v1/discovery');
  const [key] = discovery.body.identity.log_keys as [string];
  const note = async () => (await service.call('GET', '/log/checkpoint')).text;
  return { service, more, key, note };
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

async function run(command: string, args: string[], input = '') {
  const child = spawn(command, args, { env: { ...process.env, NODE_OPTIONS: '' } });
  child.stdin.end(input);
  const [out, err, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.on('close', resolve)),
  ]);
  return { out, err, status };
}

t.test(
  'packages of Go verify checkpoint, tiles, consistency and leaves',
  { skip: !go },
  async (t) => {
    const { path, remove } = temporaryFolder('sealed-log');
    t.teardown(remove);
    const program = join(path, 'program');
    await promisify(execFile)(go, ['build', '-o', program, '.'], { cwd: GO_PROJECT });
    const { service, more, key, note } = await startSealed(t);
    const older = join(path, 'older');
    writeFileSync(older, await note());
    await more(300);
    const lines = await leafLines(service);
    const verified = await run(program, [service.baseUrl, key, older], lines);
    t.equal(verified.status, 0, verified.err);
    t.match(verified.out, /^\d+ events continue \d+\n(\d+) of \1 leaves are in the tree\n$/);
    const changed = lines.replace(/^5 ../m, '5 00').replace(/^5 00(?=00)/m, '5 01');
    const refused = await run(program, [service.baseUrl, key], changed);
    t.not(refused.status, 0, 'another leaf');
    t.match(refused.err, /inclusion/);
    writeFileSync(older, (await note()).replace(/^(\S+\n)\d+/, '$15'));
    t.not((await run(program, [service.baseUrl, key, older])).status, 0, 'another checkpoint');
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
    await sealCommitted({ ...service.core, pool: new Proxy(service.core.pool, {}) });
    const forked = await follow();
    t.equal(forked.status, 3, forked.err);
    t.match(forked.err, /^FORK: the first \d+ events are not those/);
    t.equal(forked.out.match(/^\u2014 /gm)?.length, 2, 'both signed checkpoints are shown');
  });
