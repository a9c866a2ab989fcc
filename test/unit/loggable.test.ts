import pg from 'pg';
import t from 'tap';
import { toLoggable } from '../../platform/telemetry/logger.ts';

t.test('logs an error with its causes and without values that it quotes', async (t) => {
  const cause = Object.assign(new pg.DatabaseError('Key (id)=(secret)', 1, 'error'), {
    code: '23505',
    constraint: 'notes_pkey',
    detail: 'secret',
  });
  const logged = toLoggable(new Error('first\nsecret second line', { cause }));
  t.match(logged, {
    name: 'Error',
    message: 'first\nsecret second line',
    cause: { code: '23505' },
  });
  t.match(logged.cause, { message: 'the database refused a value', constraint: 'notes_pkey' });
  t.match(logged.stack, /^ +at /);
  t.notMatch(JSON.stringify(logged.cause), /secret/);
  const brief = toLoggable(new Error('gone', { cause }), { stack: false });
  t.match(brief, { message: 'gone', cause: { code: '23505' } });
  t.notMatch(JSON.stringify(brief), / at /, 'no place in the code, of a cause either');
  t.notMatch(logged.stack, /secret/);
});

t.test('logs an error report of the job queue as an error', async (t) => {
  const report = {
    message: 'connect ECONNREFUSED',
    code: 'ECONNREFUSED',
    queue: 'retention',
    x: 1,
  };
  const { message, code, queue } = report;
  t.match(toLoggable(report), { message, code, queue });
  t.notHas(toLoggable(report), { x: 1 });
  t.match(toLoggable({ ...report, code: '22P02' }), { message: 'the database refused a value' });
  for (const other of [undefined, null, 'text', {}])
    t.same(toLoggable(other), { message: 'not an error' });
});
