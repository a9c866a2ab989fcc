import { type Sql, sql } from '../services/eventstore/sql.ts';
import * as events from '../services/screening/events.ts';
import { defineProjection, type EventOf } from './projection.ts';

type Screened = EventOf<typeof events, 'NoteScreened'>;

/** The latest screening of each note, with the hashes that find its look-alikes. */
export const screenings = defineProjection(events, {
  name: 'screenings',
  tables: ['note_screenings', 'note_fingerprints'],
  on: {
    NoteScreened: ({ data, personal, recorded_at }) => [
      sql`INSERT INTO note_screenings (note_id, rules_version, band, findings, words, screened_at)
        VALUES (${data.note_id}, ${data.rules_version}, ${data.band},
          ${JSON.stringify(data.findings)}, ${personal?.words ?? null}, ${recorded_at})
        ON CONFLICT (note_id) DO UPDATE SET rules_version = excluded.rules_version,
          band = excluded.band, findings = excluded.findings, words = excluded.words,
          screened_at = excluded.screened_at`,
      dropFingerprints(data.note_id),
      sql`INSERT INTO note_fingerprints (hash, screened_at, note_id)
        SELECT DISTINCT hash, ${recorded_at}::timestamptz, ${data.note_id}::uuid
        FROM unnest(${hashesOf(personal)}::bigint[]) hash`,
    ],
  },
});

function hashesOf(personal: Screened['personal']): string[] {
  return personal ? [personal.fingerprint.whole, ...personal.fingerprint.parts] : [];
}

function dropFingerprints(noteId: string): Sql {
  return sql`DELETE FROM note_fingerprints WHERE note_id = ${noteId}`;
}

/** What an erased note leaves: the facts, without its words and without a hash of its text. */
export function eraseScreening(noteId: string): Sql[] {
  return [
    sql`UPDATE note_screenings SET words = NULL WHERE note_id = ${noteId}`,
    dropFingerprints(noteId),
  ];
}

export interface ScreeningRow {
  note_id: string;
  rules_version: number;
  band: Screened['data']['band'];
  findings: Screened['data']['findings'];
  words: NonNullable<Screened['personal']>['words'] | null;
  screened_at: Date;
}
