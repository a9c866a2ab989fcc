import t from 'tap';
import { addModerator, decide, type Moderator, submitAs } from '../../../harness/moderation.ts';
import { signedIn } from '../../../harness/registration.ts';
import { matchAll } from '../../support/match-all.ts';
import { advanceTime, notifyAuthors, readFeed } from '../../support/passing-time.ts';
import { type Service, startService } from '../../support/service.ts';

type Member = Awaited<ReturnType<typeof signedIn>>;

const typesOf = async (service: Service, { id }: Member) =>
  (await readFeed(service, id)).map(({ type }) => type);

async function act(moderator: Moderator, path: string, body: object) {
  const answer = await moderator.post(path, body);
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body as { event_id: string; version: number };
}

const remove = (expected_version: number) => ({
  action: 'remove',
  policy: 'spam',
  message: 'A hasty word',
  expected_version,
});

/** Waits until decisions are final; returns how many authors were notified. */
async function finalizeDecisions(service: Service): Promise<number> {
  await advanceTime(service, '11 minutes');
  return notifyAuthors(service);
}

t.test('notifies an author of a restoration despite another, undone removal', async (t) => {
  const service = await startService(t);
  const [ann, lea] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const member = await signedIn(service);
  const { id } = await submitAs(service, member);
  const path = `notes/${id}/decisions`;
  await decide(ann, id, 'approve');
  await finalizeDecisions(service);
  await act(ann, path, remove(2));
  await finalizeDecisions(service);
  const back = await act(lea, path, { action: 'restore', expected_version: 3 });
  const again = await act(ann, path, remove(back.version));
  await act(ann, `decisions/${again.event_id}/undo`, { expected_version: again.version });
  await finalizeDecisions(service);
  const types = ['note.submitted', 'note.approved', 'note.removed', 'note.restored'];
  t.same(await typesOf(service, member), types);
  t.equal(await notifyAuthors(service), 0);

  const third = await act(ann, path, remove(again.version + 2));
  await finalizeDecisions(service);
  await act(lea, path, { action: 'restore', expected_version: third.version });
  await finalizeDecisions(service);
  t.same(await typesOf(service, member), [...types, 'note.removed', 'note.restored']);
});

for (const outcome of ['restored', 'granted on appeal'])
  t.test(
    `notifies the parent's author of a reply that was removed and ${outcome} first`,
    async (t) => {
      const service = await startService(t);
      const [ann, lea] = [
        await addModerator(service, 'Ann'),
        await addModerator(service, 'Lea', 'lead'),
      ];
      const [asker, answerer] = [await signedIn(service), await signedIn(service)];
      const parent = await submitAs(service, asker);
      await decide(ann, parent.id, 'approve');
      const reply = await submitAs(service, answerer, { parent_id: parent.id });
      const path = `notes/${reply.id}/decisions`;
      await decide(ann, reply.id, 'approve');
      const removed = await act(ann, path, remove(2));
      await finalizeDecisions(service);
      if (outcome === 'restored')
        await act(lea, path, { action: 'restore', expected_version: removed.version });
      else {
        const body = { text: 'It is an answer.' };
        const { cookie } = answerer;
        await service.call('POST', `/api/guestbook/${reply.id}/appeal`, { body, cookie });
        await act(lea, path, { action: 'grant', expected_version: removed.version + 1 });
      }
      await finalizeDecisions(service);
      const replied = (await readFeed(service, asker.id)).filter(
        ({ type }) => type === 'note.replied',
      );
      matchAll(t, replied, [{ subject: parent.id, data: { reply_id: reply.id } }]);

      const later = await act(ann, path, remove(outcome === 'restored' ? 4 : 5));
      await finalizeDecisions(service);
      await act(lea, path, { action: 'restore', expected_version: later.version });
      await finalizeDecisions(service);
      t.equal((await typesOf(service, asker)).filter((type) => type === 'note.replied').length, 1);
      t.equal((await typesOf(service, answerer)).at(-1), 'note.restored');
    },
  );

t.test('shows the reason of a removal once it can no longer be undone', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const member = await signedIn(service);
  const { id } = await submitAs(service, member);
  await decide(ann, id, 'approve');
  await act(ann, `notes/${id}/decisions`, remove(2));
  const outcome = async () =>
    (await service.call('GET', `/api/guestbook/${id}/outcome`, member)).body;
  t.match(await outcome(), { outcome: 'removed', policy: null, message: null });
  await advanceTime(service, '11 minutes');
  t.match(await outcome(), { outcome: 'removed', policy: 'spam', message: 'A hasty word' });
});
