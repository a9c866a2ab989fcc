import { rescreeningJob } from '../../domain/guestbook/jobs.ts';
import type * as events from '../../domain/screening/events.ts';
import { type Finding, RULES_VERSION, toBand } from '../../domain/screening/rules.ts';
import type { Decider } from '../../platform/eventstore/decider.ts';
import { type NewEvent, SERVICE_ACTOR } from '../../platform/eventstore/event.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import { handle } from '../../platform/eventstore/handle.ts';
import { defineStream } from '../../platform/eventstore/stream.ts';
import { query } from '../../platform/postgres/query.ts';
import { type NoteToScreen, notesToScreen } from '../../projections/screening/screenings.ts';
import type { FindingSpans, FindingWords } from './findings.ts';
import type { Fingerprint } from './fingerprint.ts';

type ScreeningEvents = (typeof events)[keyof typeof events];

/** What is known of the newest text of the note that was read. */
export interface ScreeningState {
  /** How often the author had corrected it. */
  corrections: number;
  /** The newest version of the rules that has screened it; 0 if only its fingerprint is known. */
  rulesVersion: number;
  fingerprinted: boolean;
}

export interface RecordScreening {
  noteId: string;
  /** The note's current state: an earlier decision makes the screening stale. */
  noteState: string;
  /** How often the author has corrected the text. */
  corrections: number;
  findings: readonly Finding[];
  words: FindingWords;
  spans: FindingSpans;
  fingerprint: Fingerprint;
}

const DECIDED = ['approved', 'rejected', 'removed'];

/**
 * Records one screening per rules version for a pending note. A screening is only advice, so of a
 * note that was decided before, only the fingerprint is recorded, once.
 */
export const screening: Decider<ScreeningState, RecordScreening, ScreeningEvents, never> = {
  initial: { corrections: 0, rulesVersion: 0, fingerprinted: false },

  decide(before, { noteId, noteState, corrections, findings, words, spans, fingerprint }) {
    const state = knownOfText(before, corrections);
    if (DECIDED.includes(noteState) && !state.fingerprinted)
      return [toNoteFingerprinted(noteId, corrections, fingerprint)];
    if (noteState !== 'pending' || state.rulesVersion >= RULES_VERSION) return [];
    return [
      {
        type: 'NoteScreened',
        data: {
          note_id: noteId,
          ...ofText(corrections),
          rules_version: RULES_VERSION,
          band: toBand(findings),
          findings: [...findings],
        },
        personal: { words, spans, fingerprint },
      },
    ];
  },

  evolve(state, event: NewEvent<ScreeningEvents>) {
    const { corrections = 0 } = event.data;
    const version = event.type === 'NoteScreened' ? event.data.rules_version : 0;
    const { rulesVersion } = knownOfText(state, corrections);
    return { corrections, rulesVersion: Math.max(rulesVersion, version), fingerprinted: true };
  },
};

/** The screenings of a note are in one stream, which has the note's owner. */
export const screeningStreams = defineStream('screening', screening);

/** What is known of the text that its author has corrected so often. */
export const knownOfText = (state: ScreeningState, corrections: number): ScreeningState =>
  state.corrections === corrections ? state : screening.initial;

const ofText = (corrections: number) => (corrections > 0 ? { corrections } : {});

/** Records the text of a note that is being decided, so that the decision is known to screenings. */
export const toNoteFingerprinted = (
  noteId: string,
  corrections: number,
  fingerprint: Fingerprint,
): NewEvent<(typeof events)['NoteFingerprinted']> => ({
  type: 'NoteFingerprinted',
  data: { note_id: noteId, ...ofText(corrections) },
  personal: { fingerprint },
});

/** Notes per job; a job must end long before it expires and is given to another worker. */
const BATCH = 50;

/**
 * Enqueues a screening of every pending note that the current rules have not screened; returns the
 * number of notes. Notes decided in the meantime are skipped, and a duplicate job has no effect.
 */
export async function rescreen(store: EventStore): Promise<number> {
  let after: NoteToScreen | undefined;
  for (let count = 0; ; ) {
    const notes = await query(store.pool, notesToScreen(RULES_VERSION, BATCH, after));
    const jobs = notes.length > 0 ? [rescreeningJob(notes.map(({ note_id }) => note_id))] : [];
    await handle(store, SERVICE_ACTOR, {
      load: {},
      decide: () => ({ appends: [], jobs, reply: () => true }),
    });
    count += notes.length;
    if (notes.length < BATCH) return count;
    after = notes.at(-1);
  }
}
