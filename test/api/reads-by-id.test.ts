import { randomUUID } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { createCaseCommands, createOpenCase, pass } from '../../harness/cases.ts';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { publishArtifact, publishProfile } from '../../harness/records.ts';
import { startService } from '../support/service.ts';

type Listed = { id: string }[];
const ids = (records: Listed) => records.map(({ id }) => id);

t.test('answers one note by id while it is public, and 404 for all others', async (t) => {
  const service = await startService(t);
  const moderator = await addModerator(service, 'Ann', 'lead');
  const read = (id: string) => service.call('GET', `/api/guestbook/${id}`);
  const [note, pending] = [await submit(service, { name: 'Grace' }), await submit(service)];
  await decide(moderator, note.id, 'approve');
  const reply = await submit(service, { parent_id: note.id });
  await decide(moderator, reply.id, 'approve');

  const { body, headers } = await read(note.id.toUpperCase());
  const [listed] = (await service.call('GET', '/api/guestbook')).body.entries;
  t.same(body, { status: 'ok', note: listed });
  t.equal(
    (
      await read(note.id).then(() =>
        service.call('GET', `/api/guestbook/${note.id}`, {
          headers: { 'if-none-match': headers.get('etag') ?? '' },
        }),
      )
    ).status,
    304,
  );
  t.match((await read(reply.id)).body.note, { id: reply.id, parent_id: note.id });
  for (const id of [pending.id, randomUUID()])
    t.match(await read(id), { status: 404, body: { error: { code: 'not_found' } } });
  t.equal((await read('x')).status, 400);

  await moderator.post(`notes/${note.id}/decisions`, {
    action: 'remove',
    policy: 'spam',
    expected_version: 2,
  });
  t.equal((await read(note.id)).status, 404, 'a removed note');
  t.equal((await read(reply.id)).status, 404, 'a reply to it');
});

t.test('finds a member by handle only while the profile is published', async (t) => {
  const service = await startService(t);
  const [ada, bob] = [await newAgent(service), await newAgent(service)];
  await publishProfile(ada);
  const find = async (query: string) => (await service.call('GET', `/api/v1/agents?${query}`)).body;
  const found = await find(`handle=${ada.handle}`);
  t.match(found, { status: 'ok', agents: [{ id: ada.id, handle: ada.handle }], has_more: false });
  t.same((await find(`handle=${bob.handle}`)).agents, [], 'a member without a profile');
  t.same((await find('handle=unknown_member')).agents, []);
  t.equal((await find('handle=Ada!')).error.code, 'invalid_request');
  t.same((await find(`handle=${ada.handle}&ids=${bob.id}`)).agents, [], 'another id');
  await ada.call('POST', '/api/v1/me/profile/withdraw', {});
  t.same((await find(`handle=${ada.handle}`)).agents, [], 'after the withdrawal');
});

t.test('answers those records of a list of ids that are public', async (t) => {
  const service = await startService(t);
  const [ada, bob] = [await newAgent(service), await newAgent(service)];
  for (const agent of [ada, bob]) await publishProfile(agent);
  const [first, second] = [await publishArtifact(ada), await publishArtifact(bob)];
  const other = await publishArtifact(bob);
  const open = await createOpenCase(createCaseCommands(ada));
  const withdrawn = await createOpenCase(createCaseCommands(bob));
  await createCaseCommands(bob).withdraw(withdrawn, 1);
  const list = async (name: string, given: string[], more = '') => {
    const { body } = await service.call('GET', `/api/v1/${name}?ids=${given.join(',')}${more}`);
    return body.error?.code ?? ids(body[name]);
  };

  t.same(await list('agents', [ada.id, bob.id, randomUUID(), ada.id]), [bob.id, ada.id]);
  t.same(await list('artifacts', [first.id, second.id.toUpperCase()]), [second.id, first.id]);
  t.same(await list('artifacts', [first.id, second.id], `&author_id=${bob.id}`), [second.id]);
  t.same(await list('artifacts', [first.id, second.id], '&kind=result'), []);
  t.same(await list('cases', [open, withdrawn]), [withdrawn, open]);
  t.same(await list('cases', [open, withdrawn], '&state=open'), [open]);
  t.same(await list('cases', [open, withdrawn], `&author_id=${bob.id}`), [withdrawn]);
  t.same(await list('cases', [first.id, ada.id]), [], 'ids of records of other kinds');
  for (const bad of [[], ['x'], [open, ''], Array(51).fill(open)])
    t.equal(await list('cases', bad), 'invalid_request', `${bad.length} ids`);
  t.same(await list('cases', Array(50).fill(open)), [open], 'the same id many times');

  await bob.call('POST', `/api/v1/artifacts/${second.id}/withdraw`, {});
  t.same(await list('artifacts', [first.id, second.id, other.id]), [other.id, first.id]);
  const page = await service.call('GET', `/api/v1/artifacts?limit=1&ids=${first.id},${other.id}`);
  const next = await service.call(
    'GET',
    `/api/v1/artifacts?limit=1&ids=${first.id},${other.id}&cursor=${page.body.next_cursor}`,
  );
  t.same(
    [page, next].map(({ body }) => ids(body.artifacts)),
    [[other.id], [first.id]],
  );
});

t.test("lists a member's own cases by role, without those that are not public", async (t) => {
  const service = await startService(t);
  const [ada, bob, eve] = [
    await newAgent(service),
    await newAgent(service),
    await newAgent(service),
  ];
  const [author, worker] = [createCaseCommands(ada), createCaseCommands(bob)];
  const mine = async (agent: typeof ada, query = '') => {
    const { body } = await agent.call('GET', `/api/v1/me/cases${query}`);
    return ids(body.cases);
  };
  const [claimed, submitted, noted, lapsed] = [
    await createOpenCase(author),
    await createOpenCase(author),
    await createOpenCase(author),
    await createOpenCase(author),
  ];
  await worker.claim(submitted, 1);
  await worker.submit(submitted, 2);
  await worker.claim(claimed, 1);
  await worker.claim(lapsed, 1);
  await worker.note(noted);
  await pass(service, lapsed, 7200);

  t.same(await mine(ada), [lapsed, noted, submitted, claimed], 'all that the author opened');
  t.same(await mine(ada, '?role=author'), [lapsed, noted, submitted, claimed]);
  t.same(await mine(ada, '?role=claimant'), []);
  t.same(await mine(bob), [noted, lapsed, claimed, submitted], 'the last one first');
  t.same(await mine(bob, '?role=author'), []);
  t.same(await mine(bob, '?role=claimant'), [submitted, claimed], 'what waits for a review too');
  t.same(await mine(eve), []);
  t.equal((await service.call('GET', '/api/v1/me/cases')).status, 401);
  t.equal((await bob.call('GET', '/api/v1/me/cases?role=reviewer')).status, 400);

  const lead = await addModerator(service, 'Grace', 'lead');
  await lead.post(`subjects/case/${claimed}/decisions`, {
    action: 'remove',
    policy: 'spam',
    message: 'Advertising.',
    expected_version: 2,
  });
  t.same(await mine(bob), [noted, lapsed, submitted], 'without a removed case');
  t.same(await mine(bob, '?role=claimant'), [submitted]);
  const { body: page } = await bob.call('GET', '/api/v1/me/cases?limit=2');
  t.same(ids(page.cases), [noted, lapsed]);
  const { body: next } = await bob.call(
    'GET',
    `/api/v1/me/cases?limit=2&cursor=${page.next_cursor}`,
  );
  t.same([ids(next.cases), next.has_more], [[submitted], false]);
});
