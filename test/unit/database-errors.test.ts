import t from 'tap';
import { hasYielded, isRace } from '../../platform/postgres/errors.ts';

const withCode = (code: string) => Object.assign(new Error('refused'), { code });

t.test('a unique violation counts as a lost race, but not as an aborted statement', async (t) => {
  const violation = withCode('23505');
  t.equal(isRace(violation), true, 'the command is decided again on what the winner wrote');
  t.equal(hasYielded(violation), false, 'the same statement would fail again');
  for (const code of ['40001', '40P01']) {
    t.equal(isRace(withCode(code)), true, code);
    t.equal(hasYielded(withCode(code)), true, code);
  }
  for (const error of [withCode('23503'), withCode('57014'), new Error('23505')])
    t.equal(isRace(error), false, 'other errors are no race');
});
