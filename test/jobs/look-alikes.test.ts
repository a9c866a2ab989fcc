import { randomBytes } from 'node:crypto';
import t from 'tap';
import { guestNoteOwner } from '../../domain/owners.ts';
import {
  addModerator,
  decide,
  type Moderator,
  submit,
  submitAs,
} from '../../harness/moderation.ts';
import { signedIn } from '../../harness/registration.ts';
import { keyRing } from '../../platform/keys/key-ring.ts';
import { sql } from '../../platform/sql.ts';
import { rebuild } from '../../projections/rebuild/rebuild.ts';
import { catalogue, projections } from '../../services/features.ts';
import { bayesFindings } from '../../services/screening/bayes.ts';
import { screenNote } from '../../workers/screening/screen-note.ts';
import { learn } from '../../workers/screening/trained-classifier.ts';
import { matchAll } from '../support/match-all.ts';
import { type Service, startService } from '../support/service.ts';

const SPAM = 'Win a free holiday on the moon, all you need to do is write to us today';

async function submitScreened(
  service: Service,
  message: string,
  parts: Parameters<typeof screenNote>[0] = service.core,
) {
  const note = await submit(service, { message });
  await screenNote(parts, { note_id: note.id });
  return note;
}

async function readFindings(ann: Moderator, noteId: string): Promise<string[]> {
  const { items } = (await ann.get('queue?limit=100')).body;
  const item = items.find(({ id }: { id: string }) => id === noteId);
  return item.screening.findings.map(({ text }: { text: string }) => text);
}

t.test('reports how often a text was seen and how it was decided', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  for (let count = 0; count < 14; count++)
    await decide(ann, (await submitScreened(service, SPAM)).id, 'reject');
  for (const place of ['lake', 'hill', 'sea']) {
    const note = await submitScreened(
      service,
      `We spent a lovely, quiet and sunny week near the ${place}`,
    );
    await decide(ann, note.id, 'approve');
  }
  const again = await submitScreened(service, SPAM.toUpperCase().replaceAll(' ', ' \u200B'));
  t.ok((await readFindings(ann, again.id)).includes('same text as 14 rejected notes'));
  const like = await submitScreened(service, `${SPAM}!! Ask for Bob`);
  t.strictSame(await readFindings(ann, like.id), ['like 14 rejected notes', 'like 1 waiting note']);
  const kind = await submitScreened(
    service,
    'We spent a lovely, quiet and sunny week near the woods',
  );
  t.strictSame(await readFindings(ann, kind.id), ['like 3 approved notes']);
  const other = await submitScreened(service, 'Nothing of the kind');
  t.strictSame(await readFindings(ann, other.id), []);
});

t.test('recognises a text that was decided before any screening', async (t) => {
  const service = await startService(t, { FAST_LANE: 'true' });
  const ann = await addModerator(service, 'Ann');
  const member = await signedIn(service);
  for (let count = 0; count < 5; count++) {
    const good = await submitAs(service, member, { message: `A kind note, the ${count}th` });
    await decide(ann, good.id, 'approve');
  }
  // No worker has run so far.
  const spam = await submit(service, { message: SPAM });
  await decide(ann, spam.id, 'reject');
  const again = await submitAs(service, member, { message: SPAM });
  t.equal(await screenNote(service.core, { note_id: again.id }), true);
  t.match(await readFindings(ann, again.id), ['same text as 1 rejected note']);
  t.equal((await ann.get(`notes/${again.id}`)).body.item.state, 'pending', 'not in the fast lane');

  // The job of the first text comes late, and the decision is undone: it is screened as usual.
  await screenNote(service.core, { note_id: spam.id });
  const { body } = await ann.get(`notes/${spam.id}`);
  t.equal(body.item.screening.state, 'pending', 'a decided note gets no findings');
  const { event_id } = body.history.find(({ type }: { type: string }) => type === 'NoteRejected');
  const undo = { expected_version: body.item.version };
  t.equal((await ann.post(`decisions/${event_id}/undo`, undo)).status, 201);
  t.equal(await screenNote(service.core, { note_id: spam.id }), true);
  t.same(await readFindings(ann, spam.id), ['same text as 1 waiting note']);
});

t.test('recognises texts under a new server key that an older key hashed', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await decide(ann, (await submitScreened(service, SPAM)).id, 'reject');
  const older = service.core.config.serverKeys ?? [];
  const keys = keyRing([{ id: 2, secret: randomBytes(32) }, ...older]);
  const again = await submitScreened(service, SPAM, { ...service.core, keys });
  t.strictSame(await readFindings(ann, again.id), ['same text as 1 rejected note']);
});

t.test("keeps neither a word nor a hash of an erased note's text", async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const note = await submitScreened(service, `Shit. ${SPAM}`);
  await decide(ann, note.id, 'reject');
  const { pool } = service.database;
  const left = async () => {
    const words = await pool.query('SELECT words FROM note_screenings WHERE words IS NOT NULL');
    const hashes = await pool.query('SELECT hash FROM note_fingerprints');
    return [words.rowCount, hashes.rowCount];
  };
  t.strictSame(await left(), [1, 9]);
  await service.core.store.execute({
    load: sql`UPDATE events SET personal = NULL WHERE stream_id = ${`screening-${note.id}`}`,
    decide: () => ({
      answer: null,
      appends: [
        {
          owner: guestNoteOwner(note.id),
          stream: `note-${note.id}`,
          version: 2,
          actor: { type: 'service' },
          events: [
            {
              type: 'NoteErased',
              data: { note_id: note.id, cause: 'retention' },
              personal: null,
            } as never,
          ],
        },
      ],
    }),
  });
  t.strictSame(await left(), [0, 0]);
  const again = await submitScreened(service, SPAM);
  t.strictSame(await readFindings(ann, again.id), [], 'an erased text is not recognised');
  await rebuild(service.database.url, catalogue, projections);
  t.equal((await left())[1], 9, 'a rebuild does not restore its hashes');
});

t.test('learns from decisions, but not from undone or automatic ones', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const undos: string[] = [];
  for (let count = 0; count < 100; count++) {
    const spam = count % 4 === 0;
    const message = spam
      ? `Buy casino jackpots, bonus spins and winners of cash ${count}`
      : `Thank you for the tea and the garden ${count}`;
    const note = await submit(service, { message });
    const { body } = await decide(ann, note.id, spam ? 'reject' : 'approve');
    undos.push(`decisions/${body.event_id}/undo`);
  }
  const message = 'Casino bonus: jackpots and spins for winners';
  const note = await submitScreened(service, message);
  matchAll(t, await readFindings(ann, note.id), [
    /^reads like rejected notes \(\d+ %\): Casino, bonus, jackpots, spins, winners$/,
  ]);
  const { rows } = await service.database.pool.query(
    `SELECT data, personal FROM events WHERE stream_id = $1`,
    [`screening-${note.id}`],
  );
  t.notMatch(JSON.stringify(rows[0].data), /casino/i);
  t.same(rows[0].personal.words, {
    reads_like_rejected: ['Casino', 'bonus', 'jackpots', 'spins', 'winners'],
  });

  const countFindings = async () =>
    bayesFindings(await learn(service.core), message).findings.length;
  t.equal(await countFindings(), 1);
  await ann.post(undos[0] ?? '', { expected_version: 2 });
  t.equal(await countFindings(), 0, 'ninety-nine decisions are too few');
  await decide(ann, (await submit(service)).id, 'approve');
  t.equal(await countFindings(), 1);
  await service.tamper(
    `UPDATE note_decisions SET moderator_id = NULL WHERE event_id =
      (SELECT event_id FROM note_decisions WHERE undone_at IS NULL LIMIT 1)`,
  );
  t.equal(await countFindings(), 0, 'an automatic decision does not count');
});

t.test('shows a note beside the five most similar notes', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const same = [];
  for (let count = 0; count < 6; count++)
    same.push(await submitScreened(service, SPAM.toUpperCase()));
  await decide(ann, same[0]?.id ?? '', 'reject');
  const near = await submitScreened(service, `${SPAM}, dear friend`);
  await submitScreened(
    service,
    'Nothing of the kind is said by anybody in this quiet little place',
  );
  const note = await submitScreened(service, SPAM);
  const { look_alikes: alike } = (await ann.get(`notes/${note.id}`)).body.item;
  t.equal(alike.length, 5);
  t.same(new Set(alike.map(({ similarity }: { similarity: number }) => similarity)), new Set([1]));
  const [own] = (await ann.get(`notes/${near.id}`)).body.item.look_alikes;
  t.ok(own.similarity > 0.6 && own.similarity < 1, String(own.similarity));
  const { items } = (await ann.get('queue?limit=100')).body;
  const listed = items.find(({ id }: { id: string }) => id === note.id);
  t.same(listed.look_alikes, alike, 'the queue shows the same notes');
  t.ok(alike.every(({ text, state }: { text: string; state: string }) => text && state));
  const unique = items.find(({ text }: { text: string }) => text.startsWith('Nothing'));
  t.same(unique.look_alikes, []);
});
