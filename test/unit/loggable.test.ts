import pg from 'pg';
import t from 'tap';
import { toLoggable } from '../../platform/telemetry/loggable.ts';

t.test('an error is logged with its causes, and with no value that it quotes', async (t) => {
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
  t.notMatch(logged.stack, /secret/);
});

t.test('what the job queue tells is no error, and is logged as one', async (t) => {
  const logged = {
    message: 'connect ECONNREFUSED',
    code: 'ECONNREFUSED',
    queue: 'retention',
    x: 1,
  };
  const { message, code, queue } = logged;
  t.match(toLoggable(logged), { message, code, queue });
  t.notHas(toLoggable(logged), { x: 1 });
  t.match(toLoggable({ ...logged, code: '22P02' }), { message: 'the database refused a value' });
  for (const other of [undefined, null, 'text', {}])
    t.same(toLoggable(other), { message: 'not an error' });
});
