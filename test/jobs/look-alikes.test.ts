import { randomBytes } from 'node:crypto';
import t from 'tap';
import { addModerator, decide, type Moderator, submit } from '../../harness/moderation.ts';
import { keyRing } from '../../platform/keys/key-ring.ts';
import { sql } from '../../platform/sql.ts';
import { rebuild } from '../../projections/rebuild/rebuild.ts';
import { catalogue, projections } from '../../projections/registry.ts';
import { bayesFindings } from '../../services/screening/bayes.ts';
import { screenNote } from '../../workers/screening/screen-note.ts';
import { learn } from '../../workers/screening/trained-classifier.ts';
import { matchAll } from '../support/match-all.ts';
import { type Service, startService } from '../support/service.ts';

const SPAM = 'Win a free holiday on the moon, all you need to do is write to us today';

async function screened(
  service: Service,
  message: string,
  parts: Parameters<typeof screenNote>[0] = service.core,
) {
  const note = await submit(service, { message });
  await screenNote(parts, { note_id: note.id });
  return note;
}

async function findings(ann: Moderator, noteId: string): Promise<string[]> {
  const { items } = (await ann.get('queue?limit=100')).body;
  const item = items.find(({ id }: { id: string }) => id === noteId);
  return item.screening.findings.map(({ text }: { text: string }) => text);
}

t.test('a note tells how often its text was seen, and what became of it', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  for (let count = 0; count < 14; count++)
    await decide(ann, (await screened(service, SPAM)).id, 'reject');
  for (const place of ['lake', 'hill', 'sea']) {
    const note = await screened(
      service,
      `We spent a lovely, quiet and sunny week near the ${place}`,
    );
    await decide(ann, note.id, 'approve');
  }
  const again = await screened(service, SPAM.toUpperCase().replaceAll(' ', ' \u200B'));
  t.ok((await findings(ann, again.id)).includes('same text as 14 rejected notes'));
  const like = await screened(service, `${SPAM}!! Ask for Bob`);
  t.strictSame(await findings(ann, like.id), ['like 14 rejected notes', 'like 1 waiting note']);
  const kind = await screened(service, 'We spent a lovely, quiet and sunny week near the woods');
  t.strictSame(await findings(ann, kind.id), ['like 3 approved notes']);
  const other = await screened(service, 'Nothing of the kind');
  t.strictSame(await findings(ann, other.id), []);
});

t.test('a new server key finds what an older one has hashed', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await decide(ann, (await screened(service, SPAM)).id, 'reject');
  const older = service.core.config.serverKeys ?? [];
  const keys = keyRing([{ id: 2, secret: randomBytes(32) }, ...older]);
  const again = await screened(service, SPAM, { ...service.core, keys });
  t.strictSame(await findings(ann, again.id), ['same text as 1 rejected note']);
});

t.test('an erased note leaves neither a word nor a hash of its text', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const note = await screened(service, `Shit. ${SPAM}`);
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
          owner: note.id,
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
  const again = await screened(service, SPAM);
  t.strictSame(await findings(ann, again.id), [], 'nothing remembers it');
  await rebuild(service.database.url, catalogue, projections);
  t.equal((await left())[1], 9, 'nor does a rebuild');
});

t.test('decisions teach it, but neither undone nor automatic ones', async (t) => {
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
  const note = await screened(service, message);
  matchAll(t, await findings(ann, note.id), [
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

  const says = async () => bayesFindings(await learn(service.core), message).findings.length;
  t.equal(await says(), 1);
  await ann.post(undos[0] ?? '', { expected_version: 2 });
  t.equal(await says(), 0, 'ninety-nine are left');
  await decide(ann, (await submit(service)).id, 'approve');
  t.equal(await says(), 1);
  await service.tamper(
    `UPDATE note_decisions SET moderator_id = NULL WHERE event_id =
      (SELECT event_id FROM note_decisions WHERE undone_at IS NULL LIMIT 1)`,
  );
  t.equal(await says(), 0, 'nobody decided on that one');
});

t.test('a note is shown beside the five that read most like it', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const same = [];
  for (let count = 0; count < 6; count++) same.push(await screened(service, SPAM.toUpperCase()));
  await decide(ann, same[0]?.id ?? '', 'reject');
  const near = await screened(service, `${SPAM}, dear friend`);
  await screened(service, 'Nothing of the kind is said by anybody in this quiet little place');
  const note = await screened(service, SPAM);
  const { look_alikes: alike } = (await ann.get(`notes/${note.id}`)).body.item;
  t.equal(alike.length, 5);
  t.same(new Set(alike.map(({ similarity }: { similarity: number }) => similarity)), new Set([1]));
  const [own] = (await ann.get(`notes/${near.id}`)).body.item.look_alikes;
  t.ok(own.similarity > 0.6 && own.similarity < 1, String(own.similarity));
  const { items } = (await ann.get('queue?limit=100')).body;
  const listed = items.find(({ id }: { id: string }) => id === note.id);
  t.same(listed.look_alikes, alike, 'in the queue as well');
  t.ok(alike.every(({ text, state }: { text: string; state: string }) => text && state));
  const lonely = items.find(({ text }: { text: string }) => text.startsWith('Nothing'));
  t.same(lonely.look_alikes, []);
});
