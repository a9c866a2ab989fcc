import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import t from 'tap';
import { verifyLog } from '../../cli/verify-log-command.ts';
import { submit } from '../../harness/moderation.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { parseLogWitnesses } from '../../platform/log-settings.ts';
import { signingKey, verifierText } from '../../platform/tlog/note.ts';
import { publishCheckpoint } from '../../services/seal/witnesses.ts';
import { sealNow } from '../support/sealed.ts';
import { startService } from '../support/service.ts';

// litewitness of filippo.io/torchwood, a witness which others have written, as a process of its package. It takes its key
// from an agent of OpenSSH, and the log that it knows from its database.

const PROJECT = join(import.meta.dirname, 'witness');
const NAME = 'witness.example/light';
const go = process.env.FOREIGN_GO ?? '';
const python = process.env.FOREIGN_PYTHON ?? '';
if (!go) console.error('SKIPPED: the witness in Go; FOREIGN_GO is not set');
t.setTimeout(600_000);
const run = promisify(execFile);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

t.test('a witness that others have written co-signs what continues', { skip: !go }, async (t) => {
  const { path, remove } = temporaryFolder('witness');
  const program = join(path, 'litewitness');
  await run(go, ['build', '-o', program, 'filippo.io/torchwood/cmd/litewitness'], { cwd: PROJECT });
  const socket = join(path, 'agent');
  const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
  t.teardown(async () => {
    agent.kill();
    await once(agent, 'exit');
    remove();
  });
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(path, 'key')]);
  while (!existsSync(socket)) await sleep(10);
  await run('ssh-add', ['-q', join(path, 'key')], {
    env: { ...process.env, SSH_AUTH_SOCK: socket },
  });
  const { stdout } = await run('ssh-keygen', ['-lf', join(path, 'key.pub')]);
  const [, fingerprint = ''] = stdout.split(' ');

  const port = await freePort();
  const database = join(path, 'litewitness.db');
  const witness = spawn(
    program,
    [
      ...['-name', NAME, '-db', database, '-ssh-agent', socket, '-key', fingerprint],
      ...['-listen', `127.0.0.1:${port}`],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  t.teardown(async () => {
    witness.kill();
    if (witness.exitCode === null) await once(witness, 'exit');
  });
  let said = '';
  witness.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  const key = (): string | undefined => /vkey="?(\S+\+[0-9a-f]{8}\+[^\s"]+)/.exec(said)?.[1];
  while (!key()) {
    if (witness.exitCode !== null) throw new Error(said);
    await sleep(20);
  }
  const vkey = key() ?? '';
  const answers = () => fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
  while (!(await answers())) await sleep(20);

  const service = await startService(t, { SEAL_KEY: randomBytes(32).toString('hex') });
  const logWitnesses = parseLogWitnesses(`${vkey} http://127.0.0.1:${port}`) ?? [];
  t.equal(logWitnesses.length, 1, vkey);
  const core = { pool: service.core.pool, config: { ...service.core.config, logWitnesses } };
  const origin = `${new URL(service.baseUrl).host}/log/1`;
  const [seed = Buffer.alloc(0)] = service.core.config.sealKey ?? [];
  const logKey = verifierText(origin, signingKey(seed));
  const verify = () => verifyLog([service.baseUrl, '--key', logKey, '--witness', vkey]);

  await submit(service);
  await sealNow(service.core);
  t.match(await publishCheckpoint(core), { failures: { [NAME]: 'status_404' } }, 'an unknown log');
  t.equal((await verify()).status, 1);

  const { DatabaseSync } = await import('node:sqlite');
  const known = new DatabaseSync(database);
  const EMPTY = '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=';
  known
    .prepare('INSERT INTO log (origin, tree_size, tree_hash) VALUES (?, 0, ?)')
    .run(origin, EMPTY);
  known.prepare('INSERT INTO key (origin, key) VALUES (?, ?)').run(origin, logKey);
  known.close();
  for (const events of [1, 5, 300]) {
    await service.tamper(
      `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, actor,
         recorded_at)
       SELECT gen_random_uuid(), 'member-' || gen_random_uuid(), 1, gen_random_uuid(), 'Made', '{}',
         '{"type": "service"}', clock_timestamp() FROM generate_series(1, $1::int)`,
      [events],
    );
    await sealNow(service.core);
    t.same(await publishCheckpoint(core), { failures: {} }, said);
    const { status, out, err } = await verify();
    t.equal(status, 0, err);
    t.match(out, /^Co-signed by witness\.example\/light$/m);
  }
  if (python) {
    const example = join(import.meta.dirname, '../../examples/verify_log.py');
    const args = [example, service.baseUrl, '--key', logKey, '--witness', vkey];
    t.match(await run(python, args), { stdout: /^Verified \d+ events/ });
    const other = vkey.replace(/.....$/, (end) => (end === 'AAAA=' ? 'BBBB=' : 'AAAA='));
    await t.rejects(run(python, [...args.slice(0, -1), other]));
  }

  // Another past, signed with the same key by a process that has not signed before.
  for (const table of ['seal_trees', 'seal_tiles', 'seal_leaves'])
    await service.database.pool.query(`DELETE FROM ${table}`);
  await sealNow({ ...service.core, pool: new Proxy(service.core.pool, {}) });
  const { failures } = await publishCheckpoint(core);
  t.match(failures, { [NAME]: /^status_(409|422)$/ }, 'it is not co-signed');
  t.match(await verify(), { status: 1, err: /not co-signed/ });
});
