import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { assertRebuilt } from '../../harness/rebuilt.ts';
import { writeRecords } from '../../harness/records-of-member.ts';
import { eraseMembers } from '../../workers/account/erase-member.ts';
import { holdInserts } from '../support/meanwhile.ts';
import { startService } from '../support/service.ts';

const WORKER = join(import.meta.dirname, '..', '..', 'workers', 'worker.ts');
const COUNT = 1000;
const WORD = 'zanzibar';

t.test('continues a deletion with thousands of records after a worker was killed', async (t) => {
  const keys = `1:${randomBytes(32).toString('hex')}`;
  const service = await startService(t, { SERVER_KEYS: keys });
  const { pool, url } = service.database;
  const agent = await newAgent(service);
  await writeRecords(service.core.store, agent.id, COUNT, WORD);
  const count = async (from: string): Promise<number> =>
    (await pool.query(`SELECT count(*)::int AS count FROM ${from}`)).rows[0].count;
  const deletion = { confirm_handle: agent.handle, erase_notes: true };
  t.equal((await agent.call('POST', '/api/v1/me/delete', deletion)).status, 200);

  const read = async (path: string) => (await service.call('GET', path)).body;
  const assertHidden = async () => {
    t.same((await read('/api/v1/artifacts')).artifacts, []);
    t.same((await read('/api/v1/cases')).cases, []);
    t.same((await read('/api/guestbook')).entries, []);
    t.same((await read('/api/v1/activity')).entries, []);
    t.equal((await read(`/api/v1/search?q=${WORD}`)).count, 0);
    await assertRebuilt(pool);
  };
  await assertHidden();
  const held = await holdInserts(pool, 'events', `events WHERE type = 'CaseAuthorLeft'`, COUNT / 3);
  const worker = spawn(process.execPath, [WORKER], {
    env: { ...INHERITED_ENV, DATABASE_URL: url, SERVER_KEYS: keys },
    stdio: 'ignore',
  });
  const exited = new Promise((resolve) => worker.once('exit', resolve));
  t.teardown(() => worker.kill('SIGKILL'));
  await held.untilHeld();
  worker.kill('SIGKILL');
  await exited;
  await held.release();
  const ended = await count(`events WHERE type = 'CaseAuthorLeft'`);
  t.ok(ended < COUNT, `${ended} of ${COUNT} cases have ended`);
  await assertHidden();

  t.equal(await eraseMembers(service.core), 1);
  t.equal(await count(`events WHERE type = 'CaseAuthorLeft'`), COUNT);
  t.equal(await count(`events WHERE personal::text LIKE '%${WORD}%'`), 0);
  t.equal(await count(`notes WHERE message IS NOT NULL OR erased_at IS NULL`), 0);
  t.equal(await count(`cases WHERE NOT author_gone OR title IS NOT NULL`), 0);
  t.equal(await count(`artifacts WHERE state <> 'withdrawn' OR title IS NOT NULL`), 0);
  await assertHidden();
});
