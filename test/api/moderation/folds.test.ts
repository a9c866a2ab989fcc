import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Api } from '../../../harness/api.ts';
import { addModerator, decide, type Moderator, submitAs } from '../../../harness/moderation.ts';
import { patient } from '../../../harness/patient.ts';
import { signedIn } from '../../../harness/registration.ts';
import { MAX_FOLDS } from '../../../services/moderation/queue/live-folds.ts';
import { keepFolds } from '../../../workers/moderation/keep-folds.ts';
import { screenNote } from '../../../workers/screening/screen-note.ts';
import { type Service, startService } from '../../support/service.ts';

const ADVERT = 'Cheap telescopes for everyone, today only, write to the shop on the hill';

/** Sends a guest's note from an address, and screens it. */
async function send(service: Service, message: string, address = '192.0.2.1'): Promise<string> {
  const id = randomUUID();
  const body = { id, message };
  const headers = { 'x-forwarded-for': address };
  const answer = await service.call('POST', '/api/guestbook', { body, headers });
  if (answer.status !== 202) throw new Error(answer.text);
  await screenNote(service.core, { note_id: id });
  return id;
}

const fold = (service: Api, { token }: Moderator, place: string, body: object = {}) =>
  service.call('PUT', `/api/moderation/folds/${place}`, {
    body,
    headers: { authorization: `Bearer ${token}` },
  });

const unfold = (service: Service, { token }: Moderator, place: string) =>
  service.call('DELETE', `/api/moderation/folds/${place}`, {
    headers: { authorization: `Bearer ${token}` },
  });

interface Row {
  id: string;
  fold: { kind: string; note_id: string; notes: number } | null;
}

const rows = async (who: Moderator, query = ''): Promise<Row[]> =>
  (await who.get(`queue?limit=100&${query}`)).body.items;

const idsOf = async (who: Moderator, query = ''): Promise<string[]> =>
  (await rows(who, query)).map(({ id }) => id);

/** Settings with which each test sends many notes from the addresses of its choice. */
const SETTINGS = { TRUSTED_PROXIES: '1', LIMIT_NOTES_PER_TEN_MINUTES: '1000' };

t.test('folds notes with one text into one row, which opens and decides them all', async (t) => {
  const service = await startService(t, SETTINGS);
  const ann = await addModerator(service, 'Ann');
  const before = await send(service, 'A question about the archive, if I may ask one here');
  const adverts: string[] = [];
  for (const end of ['!', '', ' :)', '!!'])
    adverts.push(await send(service, ADVERT + end, `192.0.2.${adverts.length + 1}`));
  const member = await signedIn(service);
  const own = (await submitAs(service, member, { message: ADVERT })).id;
  await screenNote(service.core, { note_id: own });
  const [first = '', second = ''] = adverts;
  t.same(await idsOf(ann), [before, ...adverts, own]);

  const folded = await fold(service, ann, `text/${second}`, { days: 30 });
  t.equal(folded.status, 200, folded.text);
  t.same(await idsOf(ann), [before, first, own], "neither another text nor a member's note");
  const [, row] = await rows(ann);
  t.match(row?.fold, { kind: 'text', note_id: second, notes: 4 });
  t.same((await ann.get(`notes/${first}`)).body.item.fold.notes, 4);
  t.same(await idsOf(ann, `like=${second}`), adverts, 'all of them are still read');
  t.same(await idsOf(ann, 'q=telescopes'), [...adverts, own], 'a search finds them all');
  t.same(await idsOf(ann, `only=${adverts.join()}`), [first], 'live updates bring no other row');
  t.equal((await ann.get('queue')).body.counts.todo, 6, 'all of them wait');

  const later = await send(service, `${ADVERT}?`, '198.51.100.7');
  t.same(await idsOf(ann), [before, first, own], 'and those that come later');
  const status = await service.call('GET', `/notes/${later}/sent`);
  t.equal(status.status, 200, 'its guest learns nothing');
  t.notMatch(status.text, /fold/i);

  await decide(ann, first, 'reject');
  t.same(await idsOf(ann), [before, second, own], 'the next one represents the others');
  const waiting = await idsOf(ann, `like=${second}`);
  t.equal(waiting.length, 4);
  const batch = await ann.post('decisions/batch', {
    action: 'reject',
    policy: 'spam',
    items: waiting.map((note_id) => ({ note_id, expected_version: 1 })),
  });
  t.equal(batch.status, 200);
  t.same(await idsOf(ann), [before, own]);
  await ann.post(`batches/${batch.body.batch_id}/undo`, {});
  t.same(await idsOf(ann), [before, second, own]);

  const { folds } = (await ann.get('folds')).body;
  t.match(folds, [{ kind: 'text', note_id: second, notes: 4, moderator: { name: 'Ann' } }]);
  t.equal((await unfold(service, ann, `text/${second}`)).status, 200);
  t.same((await idsOf(ann)).length, 6);
  t.equal((await unfold(service, ann, `text/${second}`)).status, 404);
});

t.test('folds what one address sent as long as its key is kept', async (t) => {
  const service = await startService(t, SETTINGS);
  const ann = await addModerator(service, 'Ann');
  const sent: string[] = [];
  for (const text of ['One', 'Two', 'Three']) sent.push(await send(service, text, '2001:db8:7::1'));
  const other = await send(service, 'Four', '2001:db8:8::1');
  const [first = ''] = sent;
  t.equal((await fold(service, ann, `address/${sent[1]}`, { days: 90 })).status, 200);
  t.same(await idsOf(ann), [first, other]);
  t.same(await idsOf(ann, `same_address_as=${sent[1]}`), sent);
  const { folds } = (await ann.get('folds')).body;
  const hours = (Date.parse(folds[0].ends_at) - Date.now()) / 3_600_000;
  t.ok(hours > 47 && hours <= 48, `${hours} hours`);
  const { rows: stored } = await service.database.pool.query('SELECT * FROM note_folds');
  const { rows: keys } = await service.database.pool.query('SELECT bucket FROM note_addresses');
  t.notMatch(JSON.stringify(stored), keys[0].bucket, 'the key is not copied');

  await service.tamper('DELETE FROM note_addresses');
  t.same(await idsOf(ann), [...sent, other], 'nothing is hidden that no row represents');
  await service.tamper("UPDATE note_folds SET ends_at = now() - interval '1 second'");
  t.same((await ann.get('folds')).body.folds, []);
});

t.test('claims the note that represents the others, and no other', async (t) => {
  const service = await startService(t, SETTINGS);
  const ann = await addModerator(service, 'Ann');
  const bob = await addModerator(service, 'Bob');
  const lead = await addModerator(service, 'Lea', 'lead');
  const adverts = [await send(service, ADVERT), await send(service, `${ADVERT}!`)];
  const last = await send(service, 'The last note of this afternoon, and a friendly one');
  await fold(service, ann, `text/${adverts[1]}`);
  const claimed = async (who: Moderator) => {
    const { claims } = (await who.post('claims', { count: 2 })).body;
    return claims.map(({ note_id }: { note_id: string }) => note_id);
  };
  t.same(await claimed(ann), [adverts[0], last]);
  t.same(await claimed(bob), [], 'the rest waits for the first decision');
  await decide(ann, adverts[0] ?? '', 'reject');
  t.same(await claimed(bob), [adverts[1]]);
  // What somebody has handed to the leads keeps its row.
  await ann.post('claims/release', {
    lease_ids: (await ann.get('me')).body.leases.map(
      ({ lease_id }: { lease_id: string }) => lease_id,
    ),
  });
  const third = await send(service, `${ADVERT}?`);
  const escalated = await bob.post(`notes/${adverts[1]}/decisions`, {
    action: 'escalate',
    message: 'Is this allowed?',
    expected_version: 1,
  });
  t.equal(escalated.status, 201, escalated.text);
  t.same(await idsOf(lead), [adverts[1], last, third]);
});

t.test('refuses what cannot be folded', async (t) => {
  const service = await startService(t, SETTINGS);
  const ann = await addModerator(service, 'Ann');
  const tim = await addModerator(service, 'Tim', 'triage');
  const member = await signedIn(service);
  const own = (await submitAs(service, member)).id;
  const note = await send(service, ADVERT);
  const refusal = async (place: string, body?: object, who = ann) => {
    const { status, body: answer } = await fold(service, who, place, body);
    return [status, answer.error?.reason ?? answer.error?.code];
  };
  t.same(await refusal(`text/${own}`), [409, 'wrong_state']);
  t.same(await refusal(`address/${own}`), [409, 'wrong_state']);
  t.same(await refusal(`text/${randomUUID()}`), [404, 'not_found']);
  t.same(await refusal(`name/${note}`), [400, 'invalid_request']);
  for (const days of [0, 91, 1.5, '7']) t.same((await refusal(`text/${note}`, { days }))[0], 400);
  t.same(await refusal(`text/${note}`, {}, tim), [403, 'role_required']);
  t.equal((await unfold(service, tim, `text/${note}`)).status, 403);
  for (let count = 0; count < MAX_FOLDS; count++) {
    const text = `The ${'abcdefghijkl'[count]}th advert ${randomUUID()} unlike all others ${randomUUID()}`;
    t.equal((await refusal(`text/${await send(service, text)}`))[0], 200);
  }
  t.same(await refusal(`text/${note}`), [409, 'fold_limit']);
  await service.tamper(
    'UPDATE note_folds SET ends_at = now() WHERE note_id = (SELECT min(note_id::text)::uuid FROM note_folds)',
  );
  t.equal((await refusal(`text/${note}`))[0], 200, 'one that is over makes room');
  const { rows: left } = await service.database.pool.query('SELECT FROM note_folds');
  t.equal(left.length, MAX_FOLDS);
});

t.test('keeps to ten folds when many are made at the same time', async (t) => {
  const service = await startService(t, SETTINGS);
  const moderators = await Promise.all(
    Array.from({ length: 8 }, (_, n) => addModerator(service, `Moderator ${n}`)),
  );
  const notes: string[] = [];
  for (let n = 0; n < 2 * MAX_FOLDS; n++)
    notes.push(await send(service, `Note ${n}: ${randomUUID()} ${randomUUID()} ${randomUUID()}`));
  const answers = await Promise.all(
    notes.map((note, n) => fold(patient(service), moderators[n % 8] as Moderator, `text/${note}`)),
  );
  const statuses = answers.map(({ status }) => status).toSorted();
  t.same(statuses, [...Array(MAX_FOLDS).fill(200), ...Array(MAX_FOLDS).fill(409)]);
  const { rows: kept } = await service.database.pool.query('SELECT FROM note_folds');
  t.equal(kept.length, MAX_FOLDS);
});

t.test('records in the audit who folded and unfolded, and nowhere else', async (t) => {
  const service = await startService(t, SETTINGS);
  const ann = await addModerator(service, 'Ann');
  const bob = await addModerator(service, 'Bob');
  const member = await signedIn(service);
  const own = (await submitAs(service, member, { message: ADVERT })).id;
  await screenNote(service.core, { note_id: own });
  const note = await send(service, ADVERT, '2001:db8:7::1');

  await fold(service, ann, `text/${note}`, { days: 30 });
  await fold(service, bob, `address/${note}`, { days: 90 });
  await fold(service, bob, `text/${note}`, { days: 1 });
  await unfold(service, ann, `text/${note}`);
  await fold(service, ann, `text/${own}`);
  await unfold(service, ann, `text/${note}`);

  const { folds } = (await ann.get('folds')).body;
  const subject = { type: 'note', id: note };
  const { entries } = (await ann.get(`audit?subject=${note}`)).body;
  const acts = entries.filter(({ type }: { type: string }) => type.startsWith('Notes'));
  t.match(acts, [
    { type: 'NotesFolded', actor: { name: 'Ann' }, version: 1, data: { kind: 'text' } },
    { type: 'NotesFolded', actor: { name: 'Bob' }, version: 2, data: { until: folds[0].ends_at } },
    { type: 'NotesFolded', actor: { name: 'Bob' }, version: 3, data: { kind: 'text' } },
    { type: 'NotesUnfolded', actor: { name: 'Ann' }, version: 4, data: { kind: 'text' } },
  ]);
  t.equal(acts.length, 4, 'a refused request is no act');
  for (const act of acts) t.same(act.subject, subject);
  const days = (Date.parse(acts[2].data.until) - Date.parse(acts[2].occurred_at)) / 86_400_000;
  t.ok(Math.abs(days - 1) < 0.01, `${days} days`);
  const types = async (query: string) =>
    (await ann.get(`audit?${query}`)).body.entries.map(({ type }: { type: string }) => type);
  t.same(await types('moderator=Bob'), ['NotesFolded', 'NotesFolded']);
  const { history } = (await ann.get(`notes/${note}`)).body;
  t.match(history.at(-1), { type: 'NotesUnfolded', actor: { name: 'Ann' } });

  const { rows: stored } = await service.database.pool.query(
    "SELECT data, personal FROM events WHERE type LIKE 'Notes%'",
  );
  const { rows: keys } = await service.database.pool.query(
    `SELECT DISTINCT bucket AS key FROM note_addresses
      UNION SELECT DISTINCT hash::text FROM note_fingerprints`,
  );
  t.ok(keys.length > 5);
  for (const { key } of keys) t.notMatch(JSON.stringify(stored), key, 'keys are not copied');
  t.ok(stored.every(({ personal }) => personal === null));

  const outcome = await service.call('GET', `/api/guestbook/${note}/outcome`);
  t.notMatch(`${outcome.text}${(await service.call('GET', '/api/v1/activity')).text}`, /fold/i);
  t.equal(await feedEntriesAbout(service, note), 0, 'no feed has it');
});

/** How many entries of members' feeds name a note. */
async function feedEntriesAbout(service: Service, noteId: string): Promise<number> {
  const { rows } = await service.database.pool.query(
    'SELECT count(*)::int FROM feed f WHERE to_jsonb(f)::text LIKE $1',
    [`%${noteId}%`],
  );
  return rows[0].count;
}

t.test('ends a fold from before its acts were recorded', async (t) => {
  const service = await startService(t, SETTINGS);
  const ann = await addModerator(service, 'Ann');
  const note = await send(service, ADVERT);
  const other = await send(service, `${ADVERT}!`);
  await service.tamper(
    `INSERT INTO note_folds (kind, note_id, moderator_id, folded_at, ends_at)
      VALUES ('text', '${note}', '${ann.id}', now(), now() + interval '1 day')`,
  );
  await keepFolds(service.core);
  t.same(await idsOf(ann), [note]);
  t.equal((await unfold(service, ann, `text/${note}`)).status, 200);
  t.same(await idsOf(ann), [note, other]);
  const { entries } = (await ann.get(`audit?subject=${note}&order=newest&limit=1`)).body;
  t.match(entries, [{ type: 'NotesUnfolded', version: 1, actor: { id: ann.id } }]);
});
