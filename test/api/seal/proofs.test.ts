import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import { verifyProofs } from '../../../cli/verify-proofs.ts';
import { newAgent } from '../../../harness/agent.ts';
import { createCaseCommands, createOpenCase } from '../../../harness/cases.ts';
import { addModerator, decide, submit, submitAs } from '../../../harness/moderation.ts';
import { publishArtifact, publishCase } from '../../../harness/records.ts';
import { signedIn } from '../../../harness/registration.ts';
import { parseCheckpoint } from '../../../platform/tlog/checkpoint.ts';
import { openNote, parseVerifier } from '../../../platform/tlog/note.ts';
import type { ProvenField } from '../../../services/seal/leaf.ts';
import type { EventProof } from '../../../services/seal/proofs.ts';
import { eraseMembers } from '../../../workers/account/erase-member.ts';
import { sealNow } from '../../support/sealed.ts';
import { startService } from '../../support/service.ts';

const service = await startService(t, { SEAL_KEY: randomBytes(32).toString('hex') });
const moderator = await addModerator(service, 'Ann');
const seal = () => sealNow(service.core);
await seal();
const discovery = await service.call('GET', '/api/v1/discovery');
const key = parseVerifier(discovery.body.identity.log_keys[0]);

const proofOf = (type: string, id: string) => service.call('GET', `/log/proofs/${type}/${id}`);

const open = (note: string) => {
  const text = openNote(note, key ? [key] : []);
  const checkpoint = text === undefined ? undefined : parseCheckpoint(text);
  if (!checkpoint) throw new Error(`not signed: ${note}`);
  return checkpoint;
};

/** Verifies the proofs of a reply; returns what they show of each event, and the names of what they hide. */
function verified(reply: { text: string }) {
  verifyProofs(reply.text, open);
  const { events } = JSON.parse(reply.text) as { events: EventProof[] };
  const parts = events.map(({ facts, words }) => [...facts, ...(words ?? [])]);
  const entryOf = ({ name, text = '' }: ProvenField) => [name, JSON.parse(text)] as const;
  return parts.map((fields) => ({
    shown: Object.fromEntries(fields.filter(({ text }) => text !== undefined).map(entryOf)),
    hidden: fields.filter(({ text }) => text === undefined).map(({ name }) => name),
  }));
}

/** Submits a note that everyone may read, and seals it. */
async function publicNote(message: string) {
  const { id } = await submit(service, { name: 'Grace', message });
  await decide(moderator, id, 'approve');
  await seal();
  return id;
}

t.test('proves a public note to everyone, without what only the service knows', async (t) => {
  const id = await publicNote('A note with "quotes", ü and 🙂');
  const reply = await proofOf('note', id);
  t.match(reply, { status: 200, body: { status: 'ok', unsealed: 0 } });
  t.equal(reply.headers.get('cache-control'), 'no-cache');
  const [event, ...others] = verified(reply);
  t.same(others, []);
  t.match(event?.shown, {
    type: 'NoteSubmitted',
    stream_id: `note-${id}`,
    'data.note_id': id,
    'data.attribution': 'guest',
    'personal.name': 'Grace',
    'personal.message': 'A note with "quotes", ü and 🙂',
  });
  t.same(event?.hidden.sort(), [
    'actor',
    'data.member_id',
    'event_id',
    'owner_id',
    'position',
    'stream_version',
  ]);
});

t.test('proves a packet and a case with their words', async (t) => {
  const agent = await newAgent(service);
  const packet = await publishArtifact(agent, 'Words of the packet');
  const opened = await publishCase(agent, 'Words of the case');
  await seal();
  const [published] = verified(await proofOf('artifact', packet.id));
  const read = await service.call('GET', packet.path);
  t.match(published?.shown, { type: 'ArtifactPublished', 'data.author_id': agent.id });
  t.same(JSON.parse(published?.shown['personal.packet']), read.body.artifact.packet);
  const [proven] = verified(await proofOf('case', opened.id));
  t.match(proven?.shown, { type: 'CaseOpened', 'personal.title': 'Words of the case' });
});

t.test('proves the text of a corrected note, and that another was erased', async (t) => {
  const member = await signedIn(service);
  const { id } = await submitAs(service, member, { message: 'Hello from the harbuor' });
  await seal();
  const corrected = await service.call('POST', `/api/guestbook/${id}/correct`, {
    body: { message: 'Hello from the harbour' },
    cookie: member.cookie,
  });
  t.equal(corrected.status, 200);
  await moderator.post(`notes/${id}/decisions`, { action: 'approve', expected_version: 2 });
  await seal();
  const reply = await proofOf('note', id);
  const [submitted, correction] = verified(reply);
  t.match(submitted?.shown, { type: 'NoteSubmitted' });
  t.equal(submitted?.shown['personal.message'], undefined);
  t.equal(reply.body.events[0].words, null);
  t.match(reply.body.events[0].words_hash, /^[0-9a-f]{64}$/);
  t.equal(correction?.shown['personal.message'], 'Hello from the harbour');
  t.notMatch(reply.text, /harbuor/);
});

t.test('a proof that was made before an erasure is good after it', async (t) => {
  const id = await publicNote('Words that will be erased');
  const before = await proofOf('note', id);
  await service.database.pool.query(
    `UPDATE events SET personal = NULL WHERE stream_id = 'note-${id}'`,
  );
  await service.tamper('SELECT 1');
  verified(before);
  const after = await proofOf('note', id);
  t.match(verified(after)[0]?.shown, { type: 'NoteSubmitted', 'personal.message': undefined });
  t.equal(after.body.events[0].words_hash, before.body.events[0].words_hash);
});

t.test('says how much is not sealed yet', async (t) => {
  const { id } = await submit(service, { message: 'Not sealed yet' });
  await decide(moderator, id, 'approve');
  t.match(await proofOf('note', id), { status: 200, body: { events: [], unsealed: 1 } });
  await seal();
  t.match(await proofOf('note', id), { body: { events: [{}], unsealed: 0 } });
});

t.test('proves nothing that the reader may not read', async (t) => {
  const { id: pending } = await submit(service, { message: 'Pending' });
  const { id: rejected } = await submit(service, { message: 'Rejected' });
  await decide(moderator, rejected, 'reject');
  const agent = await newAgent(service);
  const packet = await publishArtifact(agent, 'Withdrawn');
  await agent.call('POST', `/api/v1/artifacts/${packet.id}/withdraw`, {});
  await seal();
  const cases: [string, string][] = [
    ['note', pending],
    ['note', rejected],
    ['artifact', packet.id],
    ['case', packet.id],
    ['note', randomUUID()],
  ];
  for (const [type, id] of cases) t.equal((await proofOf(type, id)).status, 404, type);
  for (const [type, id] of [
    ['profile', agent.id],
    ['note', 'x'],
  ] as const)
    t.match(await proofOf(type, id), { status: 400, body: { error: { code: 'invalid_request' } } });
});

/** All pages of a member's proofs, of at most `limit` events. */
async function ownProofs(agent: Awaited<ReturnType<typeof newAgent>>, limit: number) {
  const found: ReturnType<typeof verified> = [];
  let cursor: string | null = null;
  do {
    const more: string = cursor === null ? '' : `&cursor=${cursor}`;
    const page = await agent.call('GET', `/api/v1/me/proofs?limit=${limit}${more}`);
    if (page.status !== 200) throw new Error(page.text);
    found.push(...verified(page));
    cursor = page.body.next_cursor;
  } while (cursor !== null);
  return found;
}

t.test('proves to a member everything that it did, page by page', async (t) => {
  const agent = await newAgent(service);
  const packet = await publishArtifact(agent, 'Mine');
  const opened = await publishCase(agent, 'Mine, too');
  const { id: other } = await newAgent(service);
  await seal();
  const { rows } = await service.database.pool.query(
    `SELECT event_id FROM events WHERE owner_id = $1 AND actor = $2`,
    [agent.id, { type: 'member', id: agent.id }],
  );
  for (const limit of [1, 3, 100]) {
    const proofs = await ownProofs(agent, limit);
    t.same(
      proofs.map(({ shown }) => shown.event_id).sort(),
      rows.map(({ event_id }) => event_id).sort(),
      `in pages of ${limit}`,
    );
  }
  const proofs = await ownProofs(agent, 100);
  const types = proofs.map(({ shown }) => shown.type);
  for (const type of ['MemberRegistered', 'CredentialCreated', 'ArtifactPublished', 'CaseOpened'])
    t.ok(types.includes(type), type);
  const registered = proofs.find(({ shown }) => shown.type === 'MemberRegistered');
  t.match(registered?.shown, { 'personal.handle': agent.handle });
  t.ok(registered?.hidden.includes('data.handle_hash'), 'a hash of the handle stays hidden');
  for (const { shown } of proofs) t.not(shown.owner_id, other);
  t.ok(proofs.some(({ shown }) => shown['data.artifact_id'] === packet.id));
  t.ok(proofs.some(({ shown }) => shown['data.case_id'] === opened.id));
});

t.test(
  'proves to a member what it did with cases of others, and nothing else of them',
  async (t) => {
    const [author, member, other] = [
      await newAgent(service),
      await newAgent(service),
      await newAgent(service),
    ].map(createCaseCommands);
    if (!author || !member || !other) throw new Error('no agents');
    const done: string[] = [];
    for (const title of ['First words of the author', 'Second words of the author']) {
      const id = await createOpenCase(author, { title });
      await member.claim(id, 1);
      await member.submit(id, 2, { summary: 'My own summary' });
      await other.review(id, 3, 'accept');
      await member.note(id, 'My own note');
      await other.note(id, 'A note of another');
      done.push(`case-${id} CaseClaimed`, `case-${id} CaseSubmitted`);
    }
    const reviewed = await createOpenCase(author, { title: 'Third words of the author' });
    await other.claim(reviewed, 1);
    await other.submit(reviewed, 2, { summary: 'A summary of another' });
    await member.review(reviewed, 3, 'accept');
    await author.review(reviewed, 4, 'accept');
    done.push(`case-${reviewed} CaseReviewed`);
    await member.claim(await createOpenCase(member), 1);
    await seal();

    for (const limit of [1, 2, 100]) {
      const proofs = await ownProofs(member.agent, limit);
      const acts = proofs.filter(({ hidden }) => hidden.includes('owner_id'));
      t.same(
        acts.map(({ shown }) => `${shown.stream_id} ${shown.type}`),
        done,
        `in pages of ${limit}`,
      );
      const own = proofs.filter(({ hidden }) => !hidden.includes('owner_id'));
      for (const { shown } of own) t.equal(shown.owner_id, member.agent.id);
      t.equal(proofs.filter(({ shown }) => shown.type === 'CaseNoted').length, 2);
    }
    const proofs = await ownProofs(member.agent, 100);
    const submitted = proofs.find(({ shown }) => shown.type === 'CaseSubmitted');
    t.match(submitted?.shown, { 'personal.summary': 'My own summary' });
    t.same(submitted?.hidden.sort(), ['data.members', 'owner_id', 'stream_version']);
    const text = JSON.stringify(proofs);
    for (const foreign of [/words of the author/, /of another/, RegExp(other.agent.id)])
      t.notMatch(text, foreign);
    t.notMatch(text, RegExp(author.agent.id));
  },
);

t.test('a member keeps proofs of what it did with a case whose author is erased', async (t) => {
  const author = createCaseCommands(await newAgent(service));
  const member = createCaseCommands(await newAgent(service));
  const id = await createOpenCase(author, { title: 'Words that go' });
  await member.claim(id, 1);
  await member.submit(id, 2, { summary: 'My own summary' });
  await seal();
  const acts = async () =>
    (await ownProofs(member.agent, 100)).filter(({ shown }) => shown.stream_id === `case-${id}`);
  const before = await acts();
  t.same(
    before.map(({ shown }) => shown.type),
    ['CaseClaimed', 'CaseSubmitted'],
  );
  await author.agent.call('POST', '/api/v1/me/delete', { confirm_handle: author.agent.handle });
  await eraseMembers(service.core);
  await seal();
  t.same(await acts(), before);
});

t.test('proves to a member no act of a moderator', async (t) => {
  const agent = await newAgent(service);
  const packet = await publishArtifact(agent);
  await service.database.pool.query(
    `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, actor, recorded_at)
     VALUES ($1::uuid, $2, 2, gen_random_uuid(), 'ArtifactRemoved', '{"policy": "secret"}',
       jsonb_build_object('type', 'moderator', 'id', $1::uuid), clock_timestamp())`,
    [agent.id, `artifact-${packet.id}`],
  );
  await service.tamper('SELECT 1');
  await seal();
  const proofs = await ownProofs(agent, 100);
  t.ok(proofs.length > 0);
  t.notOk(proofs.some(({ shown }) => shown.type === 'ArtifactRemoved'));
});

t.test('refuses cursors of other lists, and credentials without the scope', async (t) => {
  const agent = await newAgent(service);
  const pageOf = (cursor: string) => agent.call('GET', `/api/v1/me/proofs?cursor=${cursor}`);
  const foreign = [
    "note-x' OR 1 1 proofs",
    'note-x 0 proofs',
    '0 proofs on cases',
    '1e3 proofs on cases',
  ];
  for (const cursor of ['x', ...foreign.map((text) => Buffer.from(text).toString('base64url'))])
    t.match(await pageOf(cursor), { status: 400, body: { error: { code: 'invalid_cursor' } } });
  const reader = await newAgent(service, ['profile:write']);
  t.match(await reader.call('GET', '/api/v1/me/proofs'), {
    status: 403,
    body: { error: { code: 'scope_required' } },
  });
});

t.test('answers that nothing is sealed, where no key is set', async (t) => {
  const unsealed = await startService(t);
  const agent = await newAgent(unsealed);
  const { id } = await submit(unsealed);
  t.match(await agent.call('GET', '/api/v1/me/proofs'), { status: 404 });
  t.match(await unsealed.call('GET', `/log/proofs/note/${id}`), {
    status: 404,
    body: { error: { message: /not sealed/ } },
  });
});
