import t from 'tap';
import { addModerator, decide, type Moderator, submitAs } from '../../../harness/moderation.ts';
import { signedIn } from '../../../harness/registration.ts';
import { openEventStream } from '../../support/event-stream.ts';
import { advanceTime } from '../../support/passing-time.ts';
import { type Service, startService } from '../../support/service.ts';

/** Creates a member's note that the moderator rejected, with an open appeal. */
async function createAppeal(service: Service, by: Moderator): Promise<string> {
  const member = await signedIn(service);
  const { id } = await submitAs(service, member);
  await decide(by, id, 'reject');
  await advanceTime(service, '11 minutes');
  const { cookie } = member;
  const body = { text: 'Why?' };
  const answer = await service.call('POST', `/api/guestbook/${id}/appeal`, { body, cookie });
  t.equal(answer.status, 202, answer.text);
  return id;
}

t.test('counts the appeals that a moderator may answer, in queue and stream', async (t) => {
  const service = await startService(t);
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const lea = await addModerator(service, 'Lea', 'lead');
  const tri = await addModerator(service, 'Tri', 'triage');
  const aud = await addModerator(service, 'Aud', 'auditor');
  const first = await createAppeal(service, ann);
  await createAppeal(service, ann);
  await createAppeal(service, bob);
  for (const [who, appeals] of [
    [ann, 1],
    [bob, 2],
    [lea, 3],
    [tri, 0],
    [aud, 3],
  ] as const) {
    const { body } = await who.get('queue?view=appeals');
    t.equal(body.items.length, 3, 'every moderator sees all appeals');
    t.equal(body.counts.appeals, appeals);
    const headers = { authorization: `Bearer ${who.token}` };
    const stream = await openEventStream(t, `${service.baseUrl}/api/moderation/stream`, headers);
    await stream.until('counts', (counts) => counts.appeals === appeals);
    stream.close();
  }
  const item = (await bob.get(`notes/${first}`)).body.item;
  await bob.post(`notes/${first}/decisions`, { action: 'grant', expected_version: item.version });
  t.equal((await bob.get('queue')).body.counts.appeals, 1);
  t.equal((await ann.get('queue')).body.counts.appeals, 1);
});
