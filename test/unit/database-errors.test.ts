import pg from 'pg';
import t from 'tap';
import {
  hasYielded,
  isRace,
  isUnavailable,
  isUnavailableReport,
} from '../../platform/postgres/errors.ts';

const withCode = (code: string) => Object.assign(new Error('refused'), { code });

t.test('a unique violation counts as a lost race, but not as an aborted statement', async (t) => {
  const violation = withCode('23505');
  t.equal(isRace(violation), true, 'the command is decided again on what the winner wrote');
  const onNode = Object.assign(
    new Error('duplicate key value violates unique constraint "events_pkey_102039"'),
    { code: 'XX000' },
  );
  t.equal(isRace(onNode), true, 'also on another node of a cluster');
  const internal = Object.assign(new Error('cache lookup failed for relation 102039'), {
    code: 'XX000',
  });
  t.equal(isRace(internal), false);
  t.equal(hasYielded(violation), false, 'the same statement would fail again');
  for (const code of ['40001', '40P01']) {
    t.equal(isRace(withCode(code)), true, code);
    t.equal(hasYielded(withCode(code)), true, code);
  }
  for (const error of [withCode('23503'), withCode('57014'), new Error('23505')])
    t.equal(isRace(error), false, 'other errors are no race');
});

t.test(
  'takes the end of the coordinator of a cluster for storage that is unavailable',
  async (t) => {
    const internal = (message: string) =>
      Object.assign(new pg.DatabaseError(message, 0, 'error'), { code: 'XX000' });
    t.equal(isUnavailable(internal('postmaster was shut down, exiting')), true);
    t.equal(isUnavailable(internal('cache lookup failed for relation 102039')), false);
  },
);

t.test('knows storage that is unavailable by the code that the job queue keeps', async (t) => {
  // As pg-boss reports a refusal of its worker, and a connection that was refused.
  for (const code of ['57P03', '57P01', '53300', '08006', 'ECONNREFUSED']) {
    t.equal(isUnavailableReport({ message: 'refused (Queue: retention)', code }), true, code);
    t.equal(isUnavailableReport(withCode(code)), true, code);
  }
  t.equal(isUnavailable(withCode('57P03')), false, 'requests know the class of the driver');
  for (const report of [withCode('23503'), new Error('57P03'), { message: 'x', code: 57 }])
    t.equal(isUnavailableReport(report), false, 'other errors are logged with their place');
});
