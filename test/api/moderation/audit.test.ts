import t from 'tap';
import { readCookie } from '../../../harness/api.ts';
import { addModerator, decide, submit } from '../../../harness/moderation.ts';
import { auditPage } from '../../../projections/moderation/audit.ts';
import { revokeModerator } from '../../../services/moderation/staff/moderators.ts';
import { beginTestEpoch } from '../../support/restored-log.ts';
import { type Service, startService } from '../../support/service.ts';

interface Entry {
  position: number;
  type: string;
  subject: { type: string; id: string };
}

const typesOf = (entries: Entry[]) => entries.map(({ type }) => type);

async function startBusyService(t: Parameters<typeof startService>[0]) {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann', 'lead');
  const auditor = await addModerator(service, 'Aud', 'auditor');
  const first = await submit(service, { message: 'Never shown to an auditor' });
  const second = await submit(service, { name: 'Hidden' });
  const approved = await decide(ann, first.id, 'approve');
  await ann.post(`notes/${second.id}/decisions`, {
    action: 'reject',
    expected_version: 1,
    policy: 'spam',
    message: 'A word to the author',
  });
  await ann.post(`decisions/${approved.body.event_id}/undo`, { expected_version: 2 });
  const signIn = await service.call('POST', '/api/moderation/session', {
    body: { token: ann.token },
  });
  await service.call('PUT', '/api/moderation/policies', {
    body: { code: 'rude', title: 'Rude', text: 'Be kind.', active: true },
    cookie: readCookie(signIn),
  });
  await service.call('DELETE', '/api/moderation/session', { cookie: readCookie(signIn) });
  await revokeModerator(service.core, 'Ann');
  return { service, ann, auditor, first, second };
}

const EXPECTED = [
  'ModeratorAdded',
  'ModeratorAdded',
  'NoteApproved',
  'NoteRejected',
  'DecisionUndone',
  'ModeratorSignedIn',
  'PolicyChanged',
  'ModeratorSignedOut',
  'ModeratorRevoked',
];

const readAudit = (service: Service, token: string, path: string, accept?: string) =>
  service.call('GET', path, {
    headers: { authorization: `Bearer ${token}`, ...(accept ? { accept } : {}) },
  });

t.test('lists in order what moderators did, by whom, and never a text', async (t) => {
  const { service, ann, auditor, first, second } = await startBusyService(t);
  const { status, body, text } = await auditor.get('audit');
  t.equal(status, 200);
  t.same(typesOf(body.entries), EXPECTED);
  t.equal(body.next_cursor, null);
  t.match(body.entries[0], { actor: { type: 'service' }, data: { role: 'lead' } });
  t.match(body.entries[2], {
    actor: { type: 'moderator', id: ann.id, name: 'Ann' },
    subject: { type: 'note', id: first.id },
    version: 2,
    occurred_at: /^\d{4}-.*\.\d{3}Z$/,
  });
  t.match(body.entries[3], { subject: { id: second.id }, data: { policy: 'spam' } });
  t.match(body.entries[6].subject, { type: 'policy', id: 'rude' });
  t.match(body.entries[7].subject, { type: 'moderator-session' });
  const positions = body.entries.map(({ position }: Entry) => position);
  t.same(
    positions,
    [...positions].sort((left, right) => left - right),
  );
  for (const secret of ['Never shown', 'Hidden', 'A word to', 'Be kind', ann.token.split('.')[1]])
    t.notMatch(text, secret);

  const newest = await auditor.get('audit?order=newest');
  t.same(newest.body.entries, [...body.entries].reverse());
  for (const order of ['oldest', 'newest']) {
    const seen: Entry[] = [];
    for (let cursor = ''; ; ) {
      const page = await auditor.get(`audit?order=${order}&limit=2${cursor}`);
      seen.push(...page.body.entries);
      if (page.body.next_cursor === null) break;
      cursor = `&cursor=${page.body.next_cursor}`;
    }
    t.same(seen, order === 'oldest' ? body.entries : newest.body.entries);
  }
  const { next_cursor } = (await auditor.get('audit?limit=2')).body;
  const wrong = await auditor.get(`audit?order=newest&cursor=${next_cursor}`);
  t.equal(wrong.body.status, 'invalid_cursor', 'a cursor is valid only for its order');
  t.equal((await auditor.get('audit?cursor=nonsense')).body.status, 'invalid_cursor');
  t.equal((await service.call('GET', '/api/moderation/audit')).status, 401);
});

t.test('lists the entries of a moderator, a policy or a subject', async (t) => {
  const { ann, auditor, first, second } = await startBusyService(t);
  const read = async (filter: string) =>
    typesOf((await auditor.get(`audit?${filter}`)).body.entries);
  const byAnn = EXPECTED.slice(2, 8);
  t.same(await read('moderator=Ann'), byAnn);
  t.same(await read(`moderator=${ann.id}&order=newest`), byAnn.toReversed());
  t.same(await read('moderator=Unknown'), []);
  t.same(await read('policy=spam'), ['NoteRejected']);
  t.same(await read(`subject=${first.id}`), ['NoteApproved', 'DecisionUndone']);
  t.same(await read('subject=rude'), ['PolicyChanged']);
  t.same(await read('subject=r_de'), [], 'no wildcard');
  t.same(await read(`subject=${second.id}&moderator=Ann&policy=spam`), ['NoteRejected']);
  const page = await auditor.get('audit?moderator=Ann&limit=2');
  const rest = await read(`moderator=Ann&cursor=${page.body.next_cursor}`);
  t.same(rest, byAnn.slice(2));
  const lines = await auditor.get('audit?format=ndjson&policy=spam');
  t.equal(JSON.parse(lines.text).subject.id, second.id);
});

t.test('says after a restore where a reader of the audit continues', async (t) => {
  const { service, auditor } = await startBusyService(t);
  const read = (order: string, cursor = '') =>
    auditor.get(`audit?limit=3&order=${order}${cursor && `&cursor=${cursor}`}`);
  const cursors = [
    (await read('oldest')).body.next_cursor,
    (await read('newest')).body.next_cursor,
  ];
  const { rows } = await service.database.pool.query(
    'SELECT max(position)::int AS last FROM events',
  );
  const kept = rows[0].last - 6;
  await beginTestEpoch(service);
  t.equal((await read('oldest', cursors[0])).status, 200);
  await service.tamper('UPDATE log_epochs SET position = $1 WHERE epoch > 1', [kept]);
  t.equal((await read('oldest', cursors[0])).status, 200, 'its position was kept');
  const reset = await read('newest', cursors[1]);
  t.match(reset.body, { status: 'cursor_reset', error: { kept_through: kept } });
  const older = await read('newest', reset.body.error.cursor);
  t.ok(older.body.entries[0].position <= kept);
  const old = Buffer.from('oldest 2').toString('base64url');
  t.equal((await read('oldest', old)).status, 200, 'a cursor without an epoch');
});

t.test('streams the whole audit as lines, whatever its length', async (t) => {
  const { service, auditor } = await startBusyService(t);
  await service.tamper(
    `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, actor, recorded_at)
     SELECT gen_random_uuid(), 'note-' || gen_random_uuid(), 2, gen_random_uuid(), 'NoteApproved',
       jsonb_build_object('n', n), '{"type":"service"}', now() FROM generate_series(1, 1300) n`,
  );
  for (const [path, accept] of [
    ['/api/moderation/audit?format=ndjson'],
    ['/api/moderation/audit', 'application/x-ndjson'],
    ['/api/moderation/audit?order=newest&format=ndjson'],
  ] as const) {
    const { status, headers, text } = await readAudit(service, auditor.token, path, accept);
    t.equal(status, 200);
    t.equal(headers.get('content-type'), 'application/x-ndjson');
    t.equal(headers.get('cache-control'), 'no-store');
    const entries = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Entry);
    if (path.includes('newest')) entries.reverse();
    t.equal(entries.length, EXPECTED.length + 1300);
    t.same(typesOf(entries.slice(0, EXPECTED.length)), EXPECTED);
    t.equal(new Set(entries.map(({ position }) => position)).size, entries.length);
  }
  const { next_cursor } = (await auditor.get('audit?limit=8')).body;
  const rest = await readAudit(
    service,
    auditor.token,
    `/api/moderation/audit?format=ndjson&cursor=${next_cursor}`,
  );
  t.equal(rest.text.trimEnd().split('\n').length, 1301);
  const json = await readAudit(
    service,
    auditor.token,
    '/api/moderation/audit?format=json',
    'application/x-ndjson',
  );
  t.equal(json.body.entries.length, 50, 'the format parameter overrides Accept');
});

t.test('finds entries across ranges of the log that hold none', async (t) => {
  const { service, auditor } = await startBusyService(t);
  await service.database.pool.query(`SELECT setval('events_position_seq', 900000000)`);
  await addModerator(service, 'Far');
  const expected = [...EXPECTED, 'ModeratorAdded'];
  t.same(typesOf((await auditor.get('audit?limit=20')).body.entries), expected);
  t.same(
    typesOf((await auditor.get('audit?limit=20&order=newest')).body.entries),
    expected.toReversed(),
  );
  const { body } = await auditor.get('audit?limit=9');
  const rest = await auditor.get(`audit?limit=9&cursor=${body.next_cursor}`);
  t.same(typesOf(rest.body.entries), ['ModeratorAdded']);
  t.equal(rest.body.next_cursor, null);
});

t.test('reads the audit by an index in both directions', async (t) => {
  const { service } = await startBusyService(t);
  const client = await service.database.pool.connect();
  await client.query('SET enable_seqscan = off; SET enable_bitmapscan = off');
  const filters = { moderatorId: 'Ann', policy: 'spam', subject: 'x' };
  for (const { text, values } of [
    auditPage('oldest', 0, 10_000, 10),
    auditPage('newest', 0, 10_000, 10),
    auditPage('newest', 0, 10_000, 10, filters),
  ]) {
    const { rows } = await client.query(`EXPLAIN ${text}`, values);
    t.match(JSON.stringify(rows), /events_audit/);
    t.notMatch(JSON.stringify(rows), /Sort {2}\(/);
  }
  client.release(true);
});
