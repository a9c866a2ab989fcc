import t from 'tap';
import { newRegistration } from '../../harness/registration.ts';
import { testDatabase } from '../support/database.ts';
import { startService } from '../support/service.ts';

t.test('refuses to change or delete events but allows erasing personal data', async (t) => {
  const service = await startService(t);
  await service.call('POST', '/api/membership/register', { body: newRegistration() });
  const { pool } = service.database;
  for (const statement of [
    `UPDATE events SET data = '{}'`,
    `UPDATE events SET personal = '{"handle":"other"}'`,
    `UPDATE events SET personal = NULL, type = 'Other'`,
    'DELETE FROM events',
    'TRUNCATE events',
  ])
    await t.rejects(pool.query(statement), { code: '23000' }, statement);
  await service.tamper('UPDATE events SET personal = NULL');
  const { rows } = await pool.query('SELECT personal, type FROM events');
  t.same(rows, [{ personal: null, type: 'MemberRegistered' }]);
});

t.test('keeps the digits of a number in an event', async (t) => {
  const { pool } = await testDatabase(t);
  await pool.query(`INSERT INTO events
    (owner_id, stream_id, stream_version, event_id, type, data, actor, recorded_at)
    VALUES (gen_random_uuid(), 'one', 1, gen_random_uuid(), 'One', '{"n":1}', '{"n":1}', now())`);
  for (const column of ['data', 'actor'])
    await t.rejects(pool.query(`UPDATE events SET ${column} = '{"n":1.000}'`), { code: '23000' });
});
