import t from 'tap';
import { type PageAnswer, withoutRetried } from '../support/retried-answers.ts';

const URL = 'http://localhost/api/moderation/decisions';
const REFUSED = { text: 'the server responded with a status of 503 (Unavailable)', url: URL };
const answer = (status: number, request = 'POST a'): PageAnswer => ({ status, url: URL, request });

t.test('excuses a 503 only if its repeat was served', (t) => {
  const left = (...answers: PageAnswer[]) => withoutRetried([REFUSED], answers).length;
  t.equal(left(answer(503), answer(200)), 0);
  t.equal(left(answer(503), answer(503), answer(200)), 0);
  t.equal(left(answer(503)), 1, 'without a repeat');
  t.equal(left(answer(200), answer(503)), 1, 'with an earlier request');
  t.equal(left(answer(503), answer(200, 'POST b')), 1, 'with another request');
  t.equal(left(answer(503), answer(409)), 1, 'with a repeat that was refused');
  t.end();
});

t.test('excuses as many faults as were repeated, and no others', (t) => {
  const other = { text: 'TypeError', url: URL };
  const elsewhere = { ...REFUSED, url: 'http://localhost/livez' };
  const answers = [answer(503), answer(200)];
  t.same(withoutRetried([other, REFUSED, elsewhere, REFUSED], answers), [
    other,
    elsewhere,
    REFUSED,
  ]);
  t.end();
});
