import { findNote, type NoteRow } from '../projections/notes.ts';
import { lookAlikes } from '../projections/screenings.ts';
import type { Core } from '../services/app.ts';
import { readStream, streamVersion } from '../services/eventstore/append.ts';
import { replay } from '../services/eventstore/decider.ts';
import type { RecordedEvent } from '../services/eventstore/event.ts';
import type { Sql } from '../services/eventstore/sql.ts';
import type { Plan } from '../services/eventstore/store.ts';
import { query } from '../services/postgres.ts';
import { bayesFindings } from '../services/screening/bayes.ts';
import { findingsIn } from '../services/screening/findings.ts';
import { type Fingerprint, fingerprintsOf } from '../services/screening/fingerprint.ts';
import { type Candidate, lookAlikeFindings } from '../services/screening/look-alikes.ts';
import { type RecordScreening, screening } from '../services/screening/screening.ts';
import { MOST_COUNTED } from '../services/screening/sentences.ts';
import { learntBy } from './learnt.ts';

type Parts = Pick<Core, 'pool' | 'store' | 'keys'>;
type Screened = Omit<RecordScreening, 'noteState'>;

/** Tells the log what is found in a note that waits; answers whether it did. */
export async function screenNote(parts: Parts, { note_id }: { note_id: string }): Promise<boolean> {
  const [note] = await query<NoteRow>(parts.pool, findNote(note_id));
  if (note?.state !== 'pending' || note.message === null) return false;
  const { message, name } = note;
  const fingerprints = fingerprintsOf(parts.keys, message);
  const [fingerprint] = fingerprints;
  if (!fingerprint) throw new Error('no server key to make a fingerprint with');
  const [bayes, candidates] = await Promise.all([
    learntBy(parts),
    query<Candidate>(parts.pool, candidatesOf(note_id, fingerprints)),
  ]);
  const read = bayesFindings(bayes, message);
  const seen = findingsIn({ name: name ?? '', message });
  const screened = {
    noteId: note_id,
    findings: [...lookAlikeFindings(message, candidates), ...read.findings, ...seen.findings],
    words: { ...read.words, ...seen.words },
    fingerprint,
  };
  return (await parts.store.execute(recordPlan(note.owner_id, screened))) === true;
}

function candidatesOf(noteId: string, fingerprints: readonly Fingerprint[]): Sql {
  const wholes = fingerprints.map(({ whole }) => whole);
  const parts = fingerprints.flatMap((fingerprint) => fingerprint.parts);
  return lookAlikes(noteId, wholes, parts, MOST_COUNTED);
}

// The note's row is read without a lock: a claim or a decision never waits for a screening.
function recordPlan(owner: string, screened: Screened): Plan<boolean> {
  const stream = `screening-${screened.noteId}`;
  return {
    load: [findNote(screened.noteId), readStream(owner, stream)],
    decide({ rows }) {
      const [[note], events] = rows as unknown as [NoteRow[], RecordedEvent[]];
      const decided = screening.decide(replay(screening, events as never[]), {
        ...screened,
        noteState: note?.state ?? 'none',
      });
      if ('refused' in decided || decided.length === 0) return { unchanged: false };
      const actor = { type: 'service' as const };
      return {
        answer: true,
        appends: [{ owner, stream, version: streamVersion(events), actor, events: decided }],
      };
    },
  };
}
