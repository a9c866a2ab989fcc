import t from 'tap';
import { retryUntilAnswered, type SharedRunState } from '../../proof/client.ts';
import { type Answer, createHistory } from '../../proof/history.ts';
import { seeded } from '../../proof/random.ts';
import { differences } from '../../proof/rebuilt.ts';

const answer = (status: number, code?: string, body: object = {}): Answer => ({
  status,
  body: code ? { status: code, error: { code } } : body,
  cookie: undefined,
});
const done = answer(201, undefined, { receipt: { event_ids: ['e'] } });
const refused = answer(409, 'state_conflict');
const nothing = answer(503, 'storage_unavailable');
const unconfirmed = answer(503, 'outcome_unconfirmed');

/** What a client remembers of an operation that was answered so, one try after another. */
async function remembered(answers: (Answer | undefined)[], more: object = {}) {
  const history = createHistory();
  const left = [...answers];
  await retryUntilAnswered({ history } as SharedRunState, seeded(1), {
    operation: 'case.create',
    actor: 'ann',
    address: '',
    key: 'k',
    patience: answers.length - 1,
    send: async () => left.shift(),
    ...more,
  });
  return { entry: history.entries[0], wrong: history.wrong };
}

t.test('an acknowledgement is done, whatever was lost before it', async (t) => {
  for (const before of [[], [undefined], [nothing, unconfirmed]]) {
    const { entry } = await remembered([...before, done]);
    t.match(entry, { outcome: 'done', events: ['e'] });
  }
});

t.test('a refusal counts only where nothing was lost before it', async (t) => {
  t.match((await remembered([refused])).entry, { outcome: 'refused' });
  t.match((await remembered([nothing, refused])).entry, { outcome: 'refused' });
  t.match((await remembered([undefined, refused])).entry, { outcome: 'unknown', lost: 1 });
  t.match((await remembered([unconfirmed, refused])).entry, { outcome: 'unknown' });
});

t.test('who is told that nothing happened is taken at the word', async (t) => {
  t.match((await remembered([nothing])).entry, { outcome: 'refused' });
  t.match((await remembered([unconfirmed])).entry, { outcome: 'unknown' });
  t.match((await remembered([undefined])).entry, { outcome: 'unknown' });
});

t.test('two answers to one request are wrong, and 500 always', async (t) => {
  const other = answer(201, undefined, { receipt: { event_ids: ['f'] } });
  const copies = await remembered([done, other], { copies: 2, patience: 0 });
  t.match(copies.wrong.join(), /two answers to one request/);
  t.same((await remembered([done, done], { copies: 2, patience: 0 })).wrong, []);
  const onCase = (title: string, summary: string | null, state = 'submitted') =>
    answer(200, undefined, {
      case: {
        title,
        summary: '',
        objective: '',
        acceptance_criteria: [],
        submission: { summary },
        state,
      },
      receipt: { event_ids: ['e'] },
    });
  const claims = async (...two: Answer[]) =>
    (await remembered(two, { operation: 'case.claim', copies: 2, patience: 0 })).wrong;
  t.same(await claims(onCase('T', 'S'), onCase('', null)), [], 'the words of an erased account');
  t.match((await claims(onCase('T', 'S'), onCase('T', 'S', 'open'))).join(), /two answers/);
  const again = await remembered([done, other], { again: true });
  t.match(again.wrong.join(), /two answers/);
  t.match((await remembered([answer(500, 'internal_error'), done])).wrong.join(), /answered 500/);
});

t.test(
  'a batch may be answered anew until something of it is accepted, and never after',
  async (t) => {
    const none = (batch_id: string) =>
      answer(200, undefined, { batch_id, results: [{ status: 'state_conflict' }] });
    const some = answer(200, undefined, { batch_id: 'c', results: [{ event_id: 'e' }] });
    const twice = { copies: 2, patience: 0 };
    t.same((await remembered([none('a'), none('b')], twice)).wrong, []);
    const accepted = await remembered([none('a'), some, some], { ...twice, again: true });
    t.same(accepted.wrong, []);
    t.match(accepted.entry, { outcome: 'done', events: ['e'] });
    const forgotten = await remembered([some, none('b')], { again: true });
    t.match(forgotten.wrong.join(), /two answers to one request/);
  },
);

t.test('a read model that differs from its rebuild is named', async (t) => {
  const tables = { cases: [{ id: 1 }], notes: [{ id: 2 }] };
  t.same(differences(tables, structuredClone(tables)), []);
  t.match(differences(tables, { ...tables, notes: [{ id: 3 }] }).join(), /^notes: 1 rows/);
  t.match(differences(tables, { cases: [{ id: 1 }], notes: [] }).join(), /^notes: 1 rows/);
});
