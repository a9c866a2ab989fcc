import type { Decider } from '../../platform/eventstore/decider.ts';
import type { NewEvent } from '../../platform/eventstore/event.ts';
import type * as events from './events.ts';
import type { FindingSpans, FindingWords } from './findings.ts';
import type { Fingerprint } from './fingerprint.ts';
import { type Finding, RULES_VERSION, toBand } from './rules.ts';

type ScreeningEvents = (typeof events)['NoteScreened'] | (typeof events)['NoteFingerprinted'];

/** The newest version of the rules that has screened the note; 0 if only its fingerprint is known. */
export interface ScreeningState {
  rulesVersion: number;
  fingerprinted: boolean;
}

export interface RecordScreening {
  noteId: string;
  /** The note's current state: an earlier decision makes the screening stale. */
  noteState: string;
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
  initial: { rulesVersion: 0, fingerprinted: false },

  decide(state, { noteId, noteState, findings, words, spans, fingerprint }) {
    if (DECIDED.includes(noteState) && !state.fingerprinted)
      return [toNoteFingerprinted(noteId, fingerprint)];
    if (noteState !== 'pending' || state.rulesVersion >= RULES_VERSION) return [];
    return [
      {
        type: 'NoteScreened',
        data: {
          note_id: noteId,
          rules_version: RULES_VERSION,
          band: toBand(findings),
          findings: [...findings],
        },
        personal: { words, spans, fingerprint },
      },
    ];
  },

  evolve(state, event: NewEvent<ScreeningEvents>) {
    const version = event.type === 'NoteScreened' ? event.data.rules_version : 0;
    return { rulesVersion: Math.max(state.rulesVersion, version), fingerprinted: true };
  },
};

/** Records the text of a note that is being decided, so that the decision is known to screenings. */
export const toNoteFingerprinted = (
  noteId: string,
  fingerprint: Fingerprint,
): NewEvent<(typeof events)['NoteFingerprinted']> => ({
  type: 'NoteFingerprinted',
  data: { note_id: noteId },
  personal: { fingerprint },
});
