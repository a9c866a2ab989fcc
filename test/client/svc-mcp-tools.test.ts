import { join } from 'node:path';
import t, { type Test } from 'tap';
import { addModerator } from '../../harness/moderation.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { startService } from '../support/service.ts';
import { countEvents, svcOfMember } from '../support/svc.ts';
import { ACCEPT, bridge } from '../support/svc-mcp.ts';

// The tools of `svc mcp` besides those that finish a case, and how much they give to a host.

const MAX_ANSWER_CHARS = 20_000;

const proxy = await startFaultProxy(t, () => service.baseUrl);
const service = await startService(t, {
  BASE_URL: proxy.url,
  LIMIT_NOTES_PER_DAY: '100',
});
const { path, remove } = temporaryFolder('svc-mcp-tools');
t.teardown(remove);

let made = 0;
async function newMember() {
  made += 1;
  const home = join(path, `home-${made}`);
  return (await svcOfMember(t, home, proxy.url, `tooled_${made}`)).home;
}

const newBridge = async (t: Test) => bridge(t, await newMember(), ACCEPT);
type Bridge = Awaited<ReturnType<typeof bridge>>;

const BRIEF = { title: 'Found', summary: 'Two gaps', body: 'Rows 3 and 9' };
const CASE = { title: 'T', summary: 'S', objective: 'O', acceptance_criteria: ['C'] };
const PROFILE = { display_name: 'Ada', summary: 'Reads' };

t.test('lists tools in fewer characters than a host puts before a model', async (t) => {
  const { client } = await newBridge(t);
  const { tools } = await client.listTools();
  t.ok(JSON.stringify(tools).length < MAX_ANSWER_CHARS, `${JSON.stringify(tools).length}`);
  const destructive = tools.filter(({ annotations }) => annotations?.destructiveHint);
  t.same(destructive.map(({ name }) => name).sort(), [
    'review_case',
    'withdraw_case',
    'withdraw_note',
    'withdraw_packet',
    'withdraw_profile',
  ]);
});

t.test('signs the guestbook, and withdraws what the member has published', async (t) => {
  const { call, questions } = await newBridge(t);
  const signed = await call('sign_guestbook', { message: 'Hello from a host' });
  t.match(signed, { isError: false, status: 'pending_review', id: String });
  t.match(await call('my_notes'), { notes: [{ id: signed.id, state: 'pending' }] });
  t.match(await call('withdraw_note', { note_id: signed.id }), { status: 'withdrawn' });
  t.match(questions.at(-1), `withdraw the note ${signed.id} (Hello from a host) for good`);
  t.match(await call('my_notes'), { notes: [{ id: signed.id, state: 'withdrawn' }] });
  const asked = questions.length;
  const again = await call('withdraw_note', { note_id: signed.id });
  t.match(again, { isError: false, status: 'withdrawn' }, 'the same end');
  t.notMatch(again, { finished_before: true });
  t.equal(questions.length, asked + 1, 'a call after the answer is asked about again');

  const packet_id = (await call('publish_packet', BRIEF)).artifact.id;
  t.match(await call('get_packet', { packet_id }), { artifact: { packet: { title: 'Found' } } });
  t.match(await call('withdraw_packet', { packet_id }), { isError: false });
  t.match(questions.at(-1), `withdraw the packet ${packet_id} (Found) for good`);
  t.match(await call('get_packet', { packet_id }), { isError: true, status: 410 });

  t.match(await call('publish_profile', PROFILE), { isError: false });
  t.match(await call('withdraw_profile'), { isError: false });

  const case_id = (await call('open_case', CASE)).case.id;
  t.match(await call('list_cases', { state: 'open', limit: 1 }), { cases: [{ id: case_id }] });
  t.match(await call('withdraw_case', { case_id }), { case: { state: 'withdrawn' } });
});

t.test(
  'refuses what needs a membership once it is disabled, in the middle of a session',
  async (t) => {
    const { call } = await newBridge(t);
    const { id } = await call('sign_guestbook', { message: 'Before' });
    t.match(await call('my_notes'), { notes: [{ id, state: 'pending' }] });
    t.match(await call('publish_profile', PROFILE), { isError: false }, 'it has a bearer now');
    const lead = await addModerator(service, `Lea ${made}`, 'lead');
    const { rows } = await service.database.pool.query(
      'SELECT member_id FROM notes WHERE note_id = $1',
      [id],
    );
    const disabled = await service.call(
      'POST',
      `/api/moderation/members/${rows[0].member_id}/disable`,
      {
        headers: { authorization: `Bearer ${lead.token}`, origin: proxy.url },
        body: { policy: 'spam', message: null, until: null },
      },
    );
    t.equal(disabled.status, 201, disabled.text);
    for (const [tool, given] of [
      ['my_notes', {}],
      ['sign_guestbook', { message: 'After' }],
      ['open_case', CASE],
      ['publish_packet', BRIEF],
    ] as const) {
      const refused = { isError: true, status: 401, reason: 'membership_disabled' };
      t.match(await call(tool, given), refused, tool);
    }
    t.match(await call('list_cases'), { isError: false }, 'what is public is still read');
    const { rows: notes } = await service.database.pool.query(
      `SELECT FROM notes WHERE message = 'After'`,
    );
    t.equal(notes.length, 0);
  },
);

t.test('reads and withdraws nothing of another member', async (t) => {
  const [author, other] = [await newBridge(t), await newBridge(t)];
  const { id: note_id } = await author.call('sign_guestbook', { message: 'Mine' });
  const packet_id = (await author.call('publish_packet', BRIEF)).artifact.id;
  t.match(await other.call('my_notes'), { notes: [] });
  t.match(await other.call('withdraw_note', { note_id }), { isError: true, code: 'not_found' });
  t.notMatch(other.questions.at(-1), 'Mine');
  t.match(await other.call('withdraw_packet', { packet_id }), { isError: true });
  t.match(await author.call('get_packet', { packet_id }), { isError: false });
});

/** Writes that are killed once: the tool with its arguments, the request, and the event of its effect. */
const WRITES: [
  tool: string,
  type: string,
  given: (bridge: Bridge) => Promise<Record<string, unknown>>,
  request: (given: Record<string, unknown>) => string,
][] = [
  [
    'sign_guestbook',
    'NoteSubmitted',
    async () => ({ message: 'Once' }),
    () => 'POST /api/guestbook',
  ],
  [
    'withdraw_note',
    'NoteWithdrawn',
    async ({ call }) => ({ note_id: (await call('sign_guestbook', { message: 'Gone' })).id }),
    ({ note_id }) => `POST /api/guestbook/${note_id}/withdraw`,
  ],
  [
    'withdraw_packet',
    'ArtifactWithdrawn',
    async ({ call }) => ({ packet_id: (await call('publish_packet', BRIEF)).artifact.id }),
    ({ packet_id }) => `POST /api/v1/artifacts/${packet_id}/withdraw`,
  ],
];

for (const [tool, type, prepare, request] of WRITES)
  t.test(`${tool} has an effect once where the bridge is killed and started again`, async (t) => {
    const home = await newMember();
    const first = await bridge(t, home, ACCEPT);
    const given = await prepare(first);
    const before = await countEvents(service, type);
    const stalled = proxy.stallResponseTo(request(given));
    const lost = t.rejects(first.call(tool, given));
    await stalled;
    process.kill(first.pid(), 'SIGKILL');
    await lost;
    const again = await bridge(t, home, { action: 'decline' });
    t.match(await again.call(tool, given), { isError: false, finished_before: true });
    t.equal(await countEvents(service, type), before + 1);
  });

t.test('gives a large record in pieces that join to the whole', async (t) => {
  const { call } = await newBridge(t);
  const body = `${'"Grüße" 🌊\n'.repeat(1600)}the end`;
  const published = await call('publish_packet', { ...BRIEF, body });
  t.match(published, {
    isError: false,
    artifact: { id: String },
    cut: /long texts in it were cut/,
  });
  t.ok(JSON.stringify(published).length < MAX_ANSWER_CHARS);
  const packet_id = published.artifact.id;
  let whole = '';
  let pieces = 0;
  for (let offset: number | null = 0; offset !== null; pieces += 1) {
    const piece = await call('get_packet', { packet_id, offset });
    t.equal(piece.offset, offset);
    t.ok(piece.text.length <= MAX_ANSWER_CHARS && piece.text.isWellFormed());
    whole += piece.text;
    offset = piece.next_offset;
  }
  t.ok(pieces > 1);
  t.equal(JSON.parse(whole).artifact.packet.content.body, body);
});

t.test('gives fewer items of a page that is too large, and the others after them', async (t) => {
  const { call } = await newBridge(t);
  const opened: string[] = [];
  for (let n = 0; n < 9; n += 1)
    opened.push((await call('open_case', { ...CASE, objective: 'x'.repeat(3000) })).case.id);
  const first = await call('my_cases', { limit: 9 });
  t.ok(first.cases.length < 9 && JSON.stringify(first).length < MAX_ANSWER_CHARS);
  const found: string[] = [];
  for (let page = first; ; page = await call('my_cases', { limit: 9, cursor: page.next_cursor })) {
    for (const { id } of page.cases) found.push(id);
    if (page.next_cursor === null) break;
  }
  t.same(found, opened.reverse());
});
