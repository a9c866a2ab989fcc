import { randomUUID } from 'node:crypto';
import t from 'tap';
import { capturedCommand } from '../../harness/captured-command.ts';
import { newRegistration } from '../../harness/registration.ts';
import { sql } from '../../platform/sql.ts';
import { NoteSubmission } from '../../services/guestbook/contract.ts';
import { submitNote } from '../../services/guestbook/submit.ts';
import { testDatabase } from '../support/database.ts';
import { matchAll } from '../support/match-all.ts';
import { startPooler } from '../support/pooler.ts';
import { startService } from '../support/service.ts';

t.test('runs through a transaction pooler', async (t) => {
  const database = await testDatabase(t);
  const service = await startService(t, {
    DATABASE_URL: await startPooler(t, database.url),
    DATABASE_DIRECT_URL: database.url,
  });
  const { call, core } = service;
  t.equal((await call('GET', '/readyz')).status, 200);
  const registered = await call('POST', '/api/membership/register', { body: newRegistration() });
  t.equal(registered.status, 200, registered.text);
  t.match((await core.pool.query('SHOW statement_timeout')).rows, [
    { statement_timeout: '2500ms' },
  ]);

  // Every command executes its load before it writes, also after earlier commands.
  for (let turn = 1; turn <= 3; turn++) {
    await core.store.execute({ load: null, decide: () => ({ unchanged: null }) });
    const note = NoteSubmission.parse({ id: randomUUID(), message: 'Hello.' });
    const command = capturedCommand((store) => submitNote({ ...core, store }, note, null));
    const load = { first: sql`SELECT 1 / 0 AS no`, rest: command.load };
    await t.rejects(
      core.store.execute({ ...command, load }),
      { code: '22012' },
      'the load was executed',
    );
  }
});

t.test('warns at the start when notifications would go through a pooler', async (t) => {
  const database = await testDatabase(t);
  const pooled = await startPooler(t, database.url);
  const warningsOf = async (settings: Record<string, string>) => {
    const { logged } = await startService(
      t,
      { SERVER_KEYS: `1:${'ab'.repeat(32)}`, ...settings },
      database,
    );
    return logged.map((line) => JSON.parse(line)).filter(({ level }) => level === 'warn');
  };
  matchAll(t, await warningsOf({ DATABASE_URL: pooled }), [
    { msg: /^DATABASE_URL leads through a pooler, .*: set DATABASE_DIRECT_URL to one$/ },
  ]);
  const both = {
    DATABASE_URL: pooled,
    DATABASE_DIRECT_URL: pooled.replace('127.0.0.1', 'localhost'),
  };
  matchAll(t, await warningsOf(both), [{ msg: /^DATABASE_DIRECT_URL leads through a pooler, / }]);
  const direct = { DATABASE_URL: pooled, DATABASE_DIRECT_URL: database.url };
  t.same(await warningsOf(direct), []);
  t.same(await warningsOf({ DATABASE_URL: database.url }), []);
});
