import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { readCookie } from '../../../harness/api.ts';
import {
  addModerator,
  decide,
  type Moderator,
  submit,
  submitAs,
} from '../../../harness/moderation.ts';
import {
  notifyRemovals,
  type Published,
  publishArtifact,
  publishCase,
  publishCaseNote,
  publishProfile,
  report,
} from '../../../harness/records.ts';
import { signedIn } from '../../../harness/registration.ts';
import { revokeModerator } from '../../../services/moderation/staff/moderators.ts';
import { eraseMembers } from '../../../workers/account/erase-member.ts';
import { screenNote } from '../../../workers/screening/screen-note.ts';
import { notifyAuthors } from '../../support/passing-time.ts';
import { atMoment, type RecordedAnswer, recordAnswers } from '../../support/recorded-answers.ts';
import { type Service, startService } from '../../support/service.ts';

/** The processes without an undo window, so that authors are notified of a decision when a job runs. */
const withoutWindow = (service: Service): Service => ({
  ...service,
  core: { ...service.core, config: { ...service.core.config, undoWindowSeconds: 0 } },
});

const act = async (one: Moderator, path: string, body: object) => {
  const { version } = (await one.get(path)).body.item;
  const answer = await one.post(`${path}/decisions`, { expected_version: version, ...body });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body;
};

/** Asks again for what was recorded. */
async function compareAgain(t: Test, one: Moderator, answers: readonly RecordedAnswer[]) {
  for (const { path, at, text } of answers) {
    const answer = await one.get(atMoment(path, at));
    t.equal(answer.text, text, `${path} at ${at}`);
    t.equal(answer.headers.get('cache-control'), 'no-store');
  }
}

const issueOf = (answer: { status: number; body: { error: { issues: object[] } } }) => [
  answer.status,
  answer.body.error.issues,
];

t.test('answers about a note and its thread as it did then, byte for byte', async (t) => {
  const service = await startService(t);
  const [ann, lea] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const [member, other] = [await signedIn(service), await signedIn(service)];
  const reporter = await newAgent(service);
  const { answers, record } = recordAnswers(service, ann);
  const text = 'The harbour is quiet in winter and loud when the boats come home in spring.';

  const parent = await submit(service, { message: 'A question' });
  await decide(ann, parent.id, 'approve');
  const note = await submitAs(service, member, { parent_id: parent.id, message: text });
  const paths = [`notes/${note.id}`, `subjects/note/${note.id}`, `notes/${parent.id}`];
  await record(...paths);
  await screenNote(service.core, { note_id: note.id });
  const like = await submitAs(service, other, { message: `${text} Yes.` });
  await screenNote(service.core, { note_id: like.id });
  await record(...paths, `notes/${like.id}`);
  t.equal(JSON.parse(answers.at(-1)?.text ?? '').item.look_alikes.length, 1);
  await submitAs(service, other, { parent_id: parent.id, message: 'A sibling' });
  await lea.post(`subjects/note/${note.id}/comments`, { text: 'Look at this.' });
  await act(ann, `notes/${note.id}`, { action: 'escalate', message: 'A lead should see it.' });
  await record(...paths);
  const approved = await act(lea, `notes/${note.id}`, { action: 'approve' });
  await record(...paths);
  await lea.post(`decisions/${approved.event_id}/undo`, { expected_version: approved.version });
  await record(...paths);
  await act(lea, `notes/${note.id}`, { action: 'approve' });
  await record(...paths);
  await report(reporter, { type: 'note', id: note.id }, { details: 'An advertisement.' });
  await record(...paths);
  await act(lea, `notes/${note.id}`, { action: 'keep' });
  await record(...paths);
  await notifyAuthors(withoutWindow(service));
  await record(...paths);
  await act(lea, `notes/${note.id}`, { action: 'remove', policy: 'spam', message: 'No.' });
  await record(...paths);
  await notifyAuthors(withoutWindow(service));
  await record(...paths);
  const appeal = await service.call('POST', `/api/guestbook/${note.id}/appeal`, {
    body: { text: 'Please look again.' },
    cookie: member.cookie,
  });
  t.equal(appeal.status, 202, appeal.text);
  await record(...paths);
  await act(ann, `notes/${note.id}`, { action: 'grant', message: 'You are right.' });
  await record(...paths);
  const second = await submitAs(service, member, { message: 'Another one' });
  await decide(ann, second.id, 'reject');
  await record(...paths, `notes/${second.id}`);
  await service.call('POST', `/api/guestbook/${second.id}/withdraw`, {
    body: {},
    cookie: member.cookie,
  });
  await record(...paths, `notes/${second.id}`);

  await compareAgain(t, ann, answers);
  t.ok(answers.length > 40);
});

t.test('answers about records and memberships as it did then, byte for byte', async (t) => {
  const service = await startService(t);
  const [ann, lea, max] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
    await addModerator(service, 'Max', 'lead'),
  ];
  const [author, reporter] = [await newAgent(service), await newAgent(service)];
  const { answers, record } = recordAnswers(service, lea);
  const found = await publishCase(author);
  const records: Published[] = [
    await publishProfile(author),
    await publishArtifact(author),
    found,
    await publishCaseNote(reporter, found.id),
  ];
  const paths = records.map(({ type, id }) => `subjects/${type}/${id}`);
  await record(...paths);
  for (const one of records)
    await report(one.type === 'case_note' ? author : reporter, one, { details: 'Buy now' });
  await record(...paths);
  const removals = [];
  for (const path of paths)
    removals.push(await act(ann, path, { action: 'remove', policy: 'spam', message: 'No.' }));
  await record(...paths);
  const [first] = removals;
  await ann.post(`decisions/${first.event_id}/undo`, { expected_version: first.version });
  await notifyRemovals(withoutWindow(service));
  await record(...paths);
  await act(max, paths[2] as string, { action: 'restore' });
  await record(...paths);

  const membership = `subjects/member/${author.id}`;
  await record(membership);
  const disabled = await lea.post(`members/${author.id}/disable`, {
    policy: 'spam',
    message: 'Nine adverts',
    until: null,
  });
  t.equal(disabled.status, 201, disabled.text);
  await record(membership, ...paths);
  await max.post(`members/${author.id}/enable`, {});
  await record(membership, ...paths);
  await compareAgain(t, lea, answers);
});

t.test('answers without what was erased since', async (t) => {
  const service = await startService(t);
  const lea = await addModerator(service, 'Lea', 'lead');
  const { answers, record } = recordAnswers(service, lea);
  const [author, stays] = [await newAgent(service), await signedIn(service)];
  const parent = await submitAs(service, stays, { message: 'A question that stays' });
  await decide(lea, parent.id, 'approve');
  const cookie = readCookie(
    await service.call('POST', '/api/membership/login', {
      body: { id: author.id, sign_in_key: author.sign_in_key },
    }),
  );
  const note = await submitAs(
    service,
    { ...author, cookie },
    {
      parent_id: parent.id,
      message: 'Words that the author takes back',
    },
  );
  await screenNote(service.core, { note_id: note.id });
  await decide(lea, note.id, 'reject');
  const profile = await publishProfile(author, 'A name that is erased');
  const paths = [
    `notes/${note.id}`,
    `notes/${parent.id}`,
    `subjects/profile/${profile.id}`,
    `subjects/member/${author.id}`,
  ];
  await record(...paths);
  const erased = [
    author.handle,
    'Words that the author takes back',
    'A name that is erased',
    'Counts',
  ];
  t.ok(answers.every(({ text }) => erased.some((word) => text.includes(word))));

  const deletion = { confirm_handle: author.handle, erase_notes: true };
  t.equal((await author.call('POST', '/api/v1/me/delete', deletion)).status, 200);
  const again = async (when: string) => {
    for (const { path, at, text } of answers) {
      const answer = await lea.get(atMoment(path, at));
      t.equal(answer.status, 200, `${path} ${when}`);
      t.notOk(
        erased.some((word) => answer.text.includes(word)),
        `${path} ${when}`,
      );
      t.equal(withoutWords(answer.text), withoutWords(text), `${path} ${when}`);
    }
  };
  /** The fields that an erasure empties. */
  const withoutWords = (text: string) =>
    JSON.stringify(JSON.parse(text), (key, value) =>
      ['text', 'name', 'title', 'words', 'spans', 'look_alikes'].includes(key) ? undefined : value,
    );
  await again('while the erasure has not come to the log');
  await eraseMembers(service.core);
  await again('afterwards');
});

t.test('refuses a moment that has no answer, and one with too much of the log', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service);
  const path = `notes/${note.id}`;
  const { rows } = await service.database.pool.query(
    'SELECT max(position) AS last, min(recorded_at) AS first FROM events',
  );
  const [last, first] = [Number(rows[0].last), rows[0].first as Date];
  const refusals = {
    [new Date(Date.now() + 3_600_000).toISOString()]: 'must not be in the future',
    [new Date(first.getTime() - 1).toISOString()]: 'is before the first event of the log',
    '0001-01-01T00:00:00Z': 'is before the first event of the log',
    '9999-12-31T23:59:59Z': 'must not be in the future',
    [last + 1]: 'is beyond the end of the log',
    '9999999999999999': 'is beyond the end of the log',
  };
  for (const [asOf, message] of Object.entries(refusals))
    t.same(issueOf(await ann.get(atMoment(path, asOf))), [400, [{ path: 'as_of', message }]], asOf);
  const malformed = [
    '2026-09-12T08:30:00',
    '2026-09-12',
    '2026-02-30T08:30:00Z',
    '2026-09-12T08:30:00+99:00',
    '0',
    '-1',
    '1.5',
    '1e3',
    'now',
    'infinity',
    "2026-09-12T08:30:00Z'; DROP TABLE events; --",
    '',
    '9'.repeat(400),
    `2026-09-12T08:30:00.${'0'.repeat(400)}Z`,
  ];
  for (const asOf of malformed) {
    const answer = await ann.get(atMoment(path, asOf));
    t.match(answer, { status: 400, body: { error: { issues: [{ path: 'as_of' }] } } }, asOf);
  }
  t.equal((await ann.get(`${path}?as_of=${last}&as_of=${last}`)).status, 400, 'twice');
  t.equal((await ann.get(atMoment(path, 1))).status, 404, 'the note did not exist then');
  t.equal((await ann.get(atMoment(path, last))).status, 200);
  t.equal((await ann.get(atMoment(`notes/${randomUUID()}`, last))).status, 404);
  const zoned = new Date(Date.now() + 7_200_000).toISOString().replace('Z', '+02:00');
  t.equal((await ann.get(atMoment(path, zoned))).status, 200, 'in another zone');
});

t.test(
  'answers moderators of today, and others no more than the public record of today',
  async (t) => {
    const service = await startService(t);
    const [ann, tom, aud, former] = [
      await addModerator(service, 'Ann'),
      await addModerator(service, 'Tom', 'triage'),
      await addModerator(service, 'Aud', 'auditor'),
      await addModerator(service, 'Max', 'lead'),
    ];
    const member = await signedIn(service);
    const note = await submitAs(service, member);
    await decide(ann, note.id, 'approve');
    const at = new Date().toISOString();
    await act(ann, `notes/${note.id}`, { action: 'remove', policy: 'spam', message: 'No.' });
    await revokeModerator(service.core, former.id);

    for (const one of [ann, tom, aud])
      t.match((await one.get(atMoment(`notes/${note.id}`, at))).body.item, { state: 'approved' });
    const membership = atMoment(`subjects/member/${member.id}`, at);
    t.equal((await ann.get(membership)).status, 403, 'only leads read memberships');
    t.equal((await former.get(atMoment(`notes/${note.id}`, at))).status, 401);
    for (const cookie of [member.cookie, undefined]) {
      const moderators = atMoment(`/api/moderation/notes/${note.id}`, at);
      t.equal((await service.call('GET', moderators, { cookie })).status, 401);
      t.equal(
        (await service.call('GET', atMoment(`/api/guestbook/${note.id}`, at), { cookie })).status,
        400,
      );
      const page = await service.call('GET', atMoment('/api/guestbook', at), { cookie });
      t.same(page.body.entries, [], 'the page of today, with any `as_of`');
      const own = atMoment(`/api/guestbook/${note.id}/outcome`, at);
      t.equal((await service.call('GET', own, { cookie })).status, cookie ? 400 : 401);
    }
  },
);

t.test('takes a cursor of a history at its own moment only', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service);
  const path = `notes/${note.id}`;
  for (let count = 1; count <= 105; count++)
    await ann.post(`subjects/note/${note.id}/comments`, { text: `Comment ${count}` });
  const at = new Date().toISOString();
  const { body } = await ann.get(atMoment(path, at));
  const before = `${path}?history_before=${body.history_before}`;
  const earlier = await ann.get(atMoment(before, at));
  t.match(earlier.body, { history: [{ type: 'NoteSubmitted' }], history_before: null });
  t.equal(earlier.body.history.length, 6);
  for (const other of [before, atMoment(before, new Date().toISOString())])
    t.match(await ann.get(other), { status: 400, body: { status: 'invalid_cursor' } });
  const present = (await ann.get(path)).body.history_before;
  const mixed = atMoment(`${path}?history_before=${present}`, at);
  t.match(await ann.get(mixed), { status: 400, body: { status: 'invalid_cursor' } });
});

t.test('leaves room for the writes of guests while many ask for the past', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service);
  const path = atMoment(`notes/${note.id}`, new Date().toISOString());
  const asked = Promise.all(Array.from({ length: 50 }, () => ann.get(path)));
  for (let count = 1; count <= 20; count++) await submit(service);
  const answers = await asked;
  const refused = answers.filter(({ status }) => status !== 200);
  t.ok(refused.length < answers.length);
  for (const { status, headers, body } of refused) {
    t.match({ status, body }, { status: 503, body: { error: { code: 'overloaded' } } });
    t.match(headers.get('retry-after'), /^[1-5]$/);
  }
  t.equal((await ann.get(path)).status, 200, 'every turn was given back');
});
