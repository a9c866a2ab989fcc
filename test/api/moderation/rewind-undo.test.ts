import t from 'tap';
import { addModerator, type Moderator, submit, submitAs } from '../../../harness/moderation.ts';
import { signedIn } from '../../../harness/registration.ts';
import { matchAll } from '../../support/match-all.ts';
import { advanceTime, notifyAuthors, readFeed } from '../../support/passing-time.ts';
import { type Service, startService } from '../../support/service.ts';

const since = () => new Date(Date.now() - 3_600_000).toISOString();

const rewind = async (by: Moderator, of: Moderator) =>
  (await by.post(`moderators/${of.id}/rewind`, { since: since(), dry_run: false })).body;

const undoBatch = (by: Moderator, batchId: string) => by.post(`batches/${batchId}/undo`, {});

const itemOf = async (by: Moderator, id: string) => (await by.get(`notes/${id}`)).body.item;

const act = async (by: Moderator, id: string, action: string, more: object = {}) => {
  const { version: expected_version } = await itemOf(by, id);
  const decided = await by.post(`notes/${id}/decisions`, { action, expected_version, ...more });
  if (decided.status !== 201) throw new Error(decided.text);
};

const SPAM = { policy: 'spam', message: 'No advertisements.' };

const addTeam = async (service: Service) => ({
  rob: await addModerator(service, 'Rob', 'lead'),
  lea: await addModerator(service, 'Lea', 'lead'),
  lou: await addModerator(service, 'Lou', 'lead'),
});

t.test(
  'undoing a rewind makes its decisions again, but nothing public, and only once',
  async (t) => {
    const service = await startService(t);
    const { rob, lea } = await addTeam(service);
    const author = await signedIn(service);
    const feed = async () => (await readFeed(service, author.id)).map(({ type }) => type);
    const rejected = (await submitAs(service, author)).id;
    const [approved, deferred, escalated, reported] = [
      (await submit(service)).id,
      (await submit(service)).id,
      (await submit(service)).id,
      (await submit(service)).id,
    ];
    await act(lea, reported, 'approve');
    await service.call('POST', `/api/guestbook/${reported}/report`, { body: { reason: 'spam' } });
    await act(rob, rejected, 'reject', SPAM);
    await act(rob, approved, 'approve');
    await act(rob, deferred, 'defer');
    await act(rob, escalated, 'escalate', { message: 'Unsure' });
    await act(rob, reported, 'keep');
    const before = await itemOf(lea, deferred);
    const { batch_id } = await rewind(lea, rob);

    const { results } = (await undoBatch(lea, batch_id)).body;
    t.equal(results.length, 5);
    matchAll(
      t,
      [rejected, deferred, escalated, reported].map((id) =>
        results.find(({ note_id }: { note_id: string }) => note_id === id),
      ),
      [{ state: 'rejected' }, { state: 'pending' }, { tier: 'lead' }, { state: 'approved' }],
    );
    t.match(results.find(({ note_id }: { note_id: string }) => note_id === approved).error, {
      reason: 'second_person_required',
    });
    t.match(await itemOf(lea, approved), { state: 'pending' }, 'it waits for a decision');
    t.match(await itemOf(lea, rejected), {
      decision: {
        decision: 'rejected',
        policy: 'spam',
        message: SPAM.message,
        moderator: { name: 'Lea' },
      },
    });
    t.equal((await itemOf(lea, deferred)).deferred_until, before.deferred_until);
    t.match((await itemOf(lea, reported)).decision, { decision: 'kept' });

    const again = (await undoBatch(lea, batch_id)).body.results;
    t.ok(again.every(({ status }: { status: string }) => status === 'state_conflict'));
    await advanceTime(service, '601 seconds');
    await notifyAuthors(service);
    t.equal(await notifyAuthors(service), 0);
    t.same(
      await feed(),
      ['note.submitted', 'note.rejected'],
      'the author hears of the rejection once',
    );
  },
);

t.test(
  'its lead undoes a rewind within the window, later another lead; never who was rewound',
  async (t) => {
    const service = await startService(t);
    const { rob, lea, lou } = await addTeam(service);
    const [one, two] = [(await submit(service)).id, (await submit(service)).id];
    for (const id of [one, two]) await act(rob, id, 'reject', SPAM);
    const { batch_id } = await rewind(lea, rob);
    const reasons = async (by: Moderator) =>
      (await undoBatch(by, batch_id)).body.results.map(
        ({ error }: { error: { reason: string } }) => error.reason,
      );
    const refused = ['second_person_required', 'second_person_required'];
    t.same(await reasons(rob), refused);
    await advanceTime(service, '601 seconds');
    t.same(await reasons(lea), refused);
    await act(lou, two, 'approve');
    const { results } = (await undoBatch(lou, batch_id)).body;
    const byNote = new Map(results.map((result: { note_id: string }) => [result.note_id, result]));
    t.match(byNote.get(one), { status: 'decided', state: 'rejected' });
    t.match(byNote.get(two), { error: { reason: 'wrong_state' } }, 'another decision came later');
    const ann = await addModerator(service, 'Ann');
    t.equal((await undoBatch(ann, batch_id)).status, 403);
  },
);
