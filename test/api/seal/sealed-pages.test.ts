import { randomBytes } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { addModerator, decide, submit, submitAs } from '../../../harness/moderation.ts';
import { publishArtifact, publishCase } from '../../../harness/records.ts';
import { signedIn } from '../../../harness/registration.ts';
import { provableArtifact } from '../../../services/artifacts/publication-kind.ts';
import { provableCase } from '../../../services/cases/publication-kinds.ts';
import { provableNote } from '../../../services/guestbook/note-stream.ts';
import { sealAll } from '../../support/sealed.ts';
import { startService } from '../../support/service.ts';
import { recordStatements } from '../../support/statements.ts';

// Statements are prepared once, so they are recorded from the beginning.
const statements = recordStatements(t);
const service = await startService(t, { SEAL_KEY: randomBytes(32).toString('hex') });
const moderator = await addModerator(service, 'Ann');
const seal = () => sealAll(service);

const MARKDOWN = { accept: 'text/markdown' };

/** What the page of a record says of the log, in HTML and Markdown. */
async function placesOn(path: string) {
  const html = await service.call('GET', path);
  const markdown = await service.call('GET', path, { headers: MARKDOWN });
  const [, proof, leaf] =
    html.text.match(/<a href="(\/log\/proofs\/[^"]+)"[^>]*>In the log at (\d+)</) ?? [];
  const [, written] = markdown.text.match(/\[In the sealed log at (\d+)\]/) ?? [];
  return { proof, leaf, written, etag: html.headers.get('etag') };
}

t.test('the page of a note, a packet or a case says where it is in the log', async (t) => {
  const agent = await newAgent(service);
  const { id } = await submit(service, { message: 'A note of the log' });
  await decide(moderator, id, 'approve');
  const packet = await publishArtifact(agent, 'A packet of the log');
  const opened = await publishCase(agent, 'A case of the log');
  const paths = {
    note: `/notes/${id}`,
    artifact: `/packets/${packet.id}`,
    case: `/cases/${opened.id}`,
  };
  const before = new Map<string, string | null>();
  for (const path of Object.values(paths)) {
    const { etag, ...places } = await placesOn(path);
    t.same(places, { proof: undefined, leaf: undefined, written: undefined }, 'not sealed yet');
    before.set(path, etag);
  }
  await seal();
  for (const [type, path] of Object.entries(paths)) {
    const { proof, leaf, written, etag } = await placesOn(path);
    t.match(proof, new RegExp(`^/log/proofs/${type}/`), type);
    const { body } = await service.call('GET', proof ?? '');
    t.same(
      body.events.map((event: { leaf: number }) => String(event.leaf)),
      [leaf],
      'the leaf of the proof',
    );
    t.equal(written, leaf, 'also in Markdown');
    t.not(etag, before.get(path), 'a kept page is not served on');
  }
});

t.test('says nothing of a corrected note until its correction is sealed', async (t) => {
  const member = await signedIn(service);
  const { id } = await submitAs(service, member, { message: 'Hello from the harbuor' });
  await seal();
  const corrected = await service.call('POST', `/api/guestbook/${id}/correct`, {
    body: { message: 'Hello from the harbour' },
    cookie: member.cookie,
  });
  t.equal(corrected.status, 200);
  await moderator.post(`notes/${id}/decisions`, { action: 'approve', expected_version: 2 });
  t.equal((await placesOn(`/notes/${id}`)).leaf, undefined);
  await seal();
  const { proof, leaf } = await placesOn(`/notes/${id}`);
  const { body } = await service.call('GET', proof ?? '');
  t.equal(String(body.events[1].leaf), leaf, 'the leaf of the text that is shown');
});

t.test('costs one statement on the page of a record, and none in lists and feeds', async (t) => {
  const { id } = await submit(service, { message: 'A note with replies' });
  await decide(moderator, id, 'approve');
  for (let count = 0; count < 3; count++) {
    const reply = await submit(service, { message: `Reply ${count}`, parent_id: id });
    await decide(moderator, reply.id, 'approve');
  }
  await seal();
  const lookUps = () =>
    [...statements.values()].reduce(
      (sum, { text, times }) => (/record_leaves|seal_leaves/.test(text) ? sum + times : sum),
      0,
    );
  for (const [path, expected] of Object.entries({
    [`/notes/${id}`]: 1,
    [`/notes/${id}.atom`]: 0,
    '/': 0,
    '/cases': 0,
    '/packets': 0,
    '/activity': 0,
  })) {
    const before = lookUps();
    t.equal((await service.call('GET', path)).status, 200, path);
    t.equal(lookUps() - before, expected, path);
  }
});

t.test(
  'the view of leaves has the events that everyone gets proofs of, and no others',
  async (t) => {
    const { rows } = await service.database.pool.query(
      "SELECT pg_get_viewdef('record_leaves') AS definition",
    );
    const listed = [...rows[0].definition.matchAll(/'(\w+)'/g)].map(([, type]) => type);
    const proven = [provableNote, provableArtifact, provableCase].flatMap(({ events }) =>
      Object.keys(events),
    );
    t.same(listed.sort(), proven.sort());
  },
);
