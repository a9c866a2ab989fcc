import { randomUUID } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import {
  addModerator,
  decide,
  type Moderator,
  submit,
  submitAs,
} from '../../../harness/moderation.ts';
import { publishArtifact, publishCase, report } from '../../../harness/records.ts';
import { signedIn } from '../../../harness/registration.ts';
import { MAX_OWN_VIEWS } from '../../../services/moderation/views/contract.ts';
import { type Service, startService } from '../../support/service.ts';

type Listed = { id: string; name: string; count: unknown; mine: boolean };

const call = (service: Service, { token }: Moderator, method: string, id: string, body?: object) =>
  service.call(method, `/api/moderation/views/${id}`, {
    body,
    headers: { authorization: `Bearer ${token}` },
  });

const toSave = (name: string, filters: object = {}, more: object = {}) => ({
  name,
  shared: false,
  view: 'todo',
  filters,
  ...more,
});

const listed = async (who: Moderator): Promise<Listed[]> => (await who.get('views')).body.views;

const idsOf = async (who: Moderator, query: string): Promise<string[]> =>
  (await who.get(`queue?${query}`)).body.items.map((item: { id: string }) => item.id);

t.test('filters by guestbook, script and record of the author, and orders both ways', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const lea = await addModerator(service, 'Lea', 'lead');
  const ada = await signedIn(service);
  const bob = await signedIn(service);
  const first = (await submitAs(service, ada)).id;
  await decide(ann, first, 'approve');
  const guest = (await submit(service, { experience: 'observatory' })).id;
  const clean = (await submitAs(service, ada, { message: 'Привет всем' })).id;
  const fresh = (await submitAs(service, bob, { message: 'こんにちは世界' })).id;
  t.same(await idsOf(ann, 'experience=observatory'), [guest]);
  t.same(await idsOf(ann, 'script=cyrillic'), [clean]);
  t.same(await idsOf(ann, 'script=japanese'), [fresh]);
  t.same(await idsOf(ann, 'script=han'), []);
  t.same(await idsOf(ann, 'script=latin'), [guest]);
  t.same(await idsOf(ann, 'author_record=guest'), [guest]);
  t.same(await idsOf(ann, 'author_record=new'), [fresh]);
  t.same(await idsOf(ann, 'author_record=clean'), [clean]);
  await decide(ann, clean, 'reject');
  const mixed = (await submitAs(service, ada)).id;
  t.same(await idsOf(ann, 'author_record=mixed'), [mixed]);
  t.same(await idsOf(ann, 'author_record=clean'), []);

  await ann.post(`notes/${fresh}/decisions`, {
    action: 'escalate',
    expected_version: 1,
    message: 'Please look',
  });
  t.same(await idsOf(lea, ''), [fresh, guest, mixed], 'the escalated note first');
  t.same(await idsOf(lea, 'sort=newest'), [mixed, fresh, guest], 'by time alone');
  t.same(await idsOf(ann, 'sort=newest'), [mixed, guest]);
  t.same(await idsOf(ann, 'view=decided&sort=oldest'), [clean, first], 'always the newest first');
  for (const [query, expected] of [
    ['sort=newest', [mixed, fresh, guest]],
    ['view=decided&sort=newest', [clean, first]],
  ] as const) {
    const pages: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await lea.get(`queue?limit=1&${query}${cursor && `&cursor=${cursor}`}`);
      pages.push(...body.items.map(({ id }: { id: string }) => id));
      cursor = body.next_cursor;
    }
    t.same(pages, expected, `${query}, page by page`);
  }
  const { next_cursor: cursor } = (await lea.get('queue?limit=1&sort=newest')).body;
  t.equal((await lea.get(`queue?cursor=${cursor}`)).status, 400, 'a cursor of another order');
});

t.test('filters by reason, kind and policy, records too', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const agent = await newAgent(service);
  const reporter = await newAgent(service);
  const packet = await publishArtifact(agent);
  const opened = await publishCase(agent);
  await report(reporter, packet, { reason: 'privacy' });
  await report(reporter, opened, { reason: 'spam' });
  const note = (await submit(service)).id;
  await decide(ann, note, 'approve');
  await service.call('POST', `/api/guestbook/${note}/report`, { body: { reason: 'spam' } });
  t.same(await idsOf(ann, 'view=reported&reason=privacy'), [packet.id]);
  t.same((await idsOf(ann, 'view=reported&reason=spam')).toSorted(), [opened.id, note].toSorted());
  t.same(await idsOf(ann, 'view=reported&type=case'), [opened.id]);
  t.same(await idsOf(ann, 'view=reported&type=note'), [note]);
  t.same((await idsOf(ann, 'view=reported&sort=newest'))[0], note);
  const removal = { action: 'remove', policy: 'illegal' };
  await ann.post(`subjects/${opened.type}/${opened.id}/decisions`, {
    ...removal,
    expected_version: 1,
  });
  const other = (await submit(service)).id;
  await decide(ann, other, 'reject');
  t.same(await idsOf(ann, 'view=decided&policy=illegal'), [opened.id]);
  t.same(await idsOf(ann, 'view=decided&policy=spam'), [other]);
  t.same(await idsOf(ann, `view=decided&decided_by=${ann.id}&state=removed`), [opened.id]);
  t.same(await idsOf(ann, `view=decided&decided_by=${agent.id}`), []);
  t.same(await idsOf(ann, 'view=decided&state=rejected'), [other]);
});

t.test('saves views under a name, private or shared, and counts them', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const bob = await addModerator(service, 'Bob');
  const aud = await addModerator(service, 'Aud', 'auditor');
  for (let n = 0; n < 3; n++) await submit(service, { message: 'See https://example.com/a' });
  await submit(service, { experience: 'observatory' });
  const [own, shared] = [randomUUID(), randomUUID()];
  t.equal(
    (await call(service, ann, 'PUT', own, toSave('Stars', { experience: 'observatory' }))).status,
    200,
  );
  const all = toSave('All', { sort: 'newest', older_than: 0 }, { shared: true });
  await call(service, ann, 'PUT', shared, all);
  t.match(await listed(ann), [
    { id: own, name: 'Stars', mine: true, count: { items: 1, more: false } },
    { id: shared, name: 'All', mine: true, filters: all.filters, count: { items: 4, more: false } },
  ]);
  t.match(await listed(bob), [{ id: shared, mine: false, moderator: { name: 'Ann' } }]);
  t.match(await listed(aud), [{ id: shared }]);

  t.equal((await call(service, bob, 'DELETE', shared)).status, 404, 'it is not his');
  await call(service, bob, 'PUT', shared, toSave('His own', {}));
  t.match(await listed(ann), [{ name: 'Stars' }, { name: 'All' }], 'an id belongs to a moderator');
  await call(service, ann, 'PUT', own, toSave('Far away', { experience: 'observatory' }));
  t.match(await listed(ann), [{ name: 'Far away' }, { name: 'All' }], 'it keeps its place');
  t.equal((await call(service, ann, 'DELETE', shared)).status, 200);
  t.match(await listed(bob), [{ name: 'His own' }]);
  t.equal((await call(service, aud, 'PUT', own, toSave('x'))).status, 403);
  const refused = await call(service, ann, 'PUT', own, toSave('x', { author: 'ada' }));
  t.equal(refused.status, 400, 'no filter names an author');
  for (let n = 1; n < MAX_OWN_VIEWS; n++)
    t.equal((await call(service, ann, 'PUT', randomUUID(), toSave(`View ${n}`))).status, 200);
  const beyond = await call(service, ann, 'PUT', randomUUID(), toSave('One more'));
  t.match(beyond.body.error, { code: 'state_conflict', reason: 'view_limit' });
  t.equal((await listed(ann)).filter(({ count }) => count === null).length, MAX_OWN_VIEWS - 9);
});
