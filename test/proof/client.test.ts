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

/** The client's record of an operation that received these responses in turn. */
async function recordOperation(answers: (Answer | undefined)[], more: object = {}) {
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

t.test('records an acknowledgement as done, whatever was lost before', async (t) => {
  for (const before of [[], [undefined], [nothing, unconfirmed]]) {
    const { entry } = await recordOperation([...before, done]);
    t.match(entry, { outcome: 'done', events: ['e'] });
  }
});

t.test('records a refusal only if nothing was lost before', async (t) => {
  t.match((await recordOperation([refused])).entry, { outcome: 'refused' });
  t.match((await recordOperation([nothing, refused])).entry, { outcome: 'refused' });
  t.match((await recordOperation([undefined, refused])).entry, { outcome: 'unknown', lost: 1 });
  t.match((await recordOperation([unconfirmed, refused])).entry, { outcome: 'unknown' });
});

t.test('accepts a response that nothing happened', async (t) => {
  t.match((await recordOperation([nothing])).entry, { outcome: 'refused' });
  t.match((await recordOperation([unconfirmed])).entry, { outcome: 'unknown' });
  t.match((await recordOperation([undefined])).entry, { outcome: 'unknown' });
});

t.test('reports two responses to one request, and every 500', async (t) => {
  const other = answer(201, undefined, { receipt: { event_ids: ['f'] } });
  const copies = await recordOperation([done, other], { copies: 2, patience: 0 });
  t.match(copies.wrong.join(), /two answers to one request/);
  t.same((await recordOperation([done, done], { copies: 2, patience: 0 })).wrong, []);
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
    (await recordOperation(two, { operation: 'case.claim', copies: 2, patience: 0 })).wrong;
  t.same(await claims(onCase('T', 'S'), onCase('', null)), [], 'erased texts may differ');
  t.match((await claims(onCase('T', 'S'), onCase('T', 'S', 'open'))).join(), /two answers/);
  const again = await recordOperation([done, other], { again: true });
  t.match(again.wrong.join(), /two answers/);
  t.match(
    (await recordOperation([answer(500, 'internal_error'), done])).wrong.join(),
    /answered 500/,
  );
});

t.test('allows new batch responses only until something was accepted', async (t) => {
  const none = (batch_id: string) =>
    answer(200, undefined, { batch_id, results: [{ status: 'state_conflict' }] });
  const some = answer(200, undefined, { batch_id: 'c', results: [{ event_id: 'e' }] });
  const twice = { copies: 2, patience: 0 };
  t.same((await recordOperation([none('a'), none('b')], twice)).wrong, []);
  const accepted = await recordOperation([none('a'), some, some], { ...twice, again: true });
  t.same(accepted.wrong, []);
  t.match(accepted.entry, { outcome: 'done', events: ['e'] });
  const forgotten = await recordOperation([some, none('b')], { again: true });
  t.match(forgotten.wrong.join(), /two answers to one request/);
});

t.test('names a read model that differs from its rebuild', async (t) => {
  const tables = { cases: [{ id: 1 }], notes: [{ id: 2 }] };
  t.same(differences(tables, structuredClone(tables)), []);
  t.match(differences(tables, { ...tables, notes: [{ id: 3 }] }).join(), /^notes: 1 rows/);
  t.match(differences(tables, { cases: [{ id: 1 }], notes: [] }).join(), /^notes: 1 rows/);
});
