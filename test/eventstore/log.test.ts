import t from 'tap';
import { newRegistration, startService } from '../harness/service.ts';

t.test(
  'the database refuses to change or drop an event, but lets its personal part go',
  async (t) => {
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
  },
);
