import type { Decider } from '../../platform/eventstore/decider.ts';
import type { NewEvent } from '../../platform/eventstore/event.ts';
import type * as events from './events.ts';
import type { FindingSpans, FindingWords } from './findings.ts';
import type { Fingerprint } from './fingerprint.ts';
import { type Finding, RULES_VERSION, toBand } from './rules.ts';

type ScreeningEvents = (typeof events)['NoteScreened'];

/** The newest version of the rules that has screened the note. */
export interface ScreeningState {
  rulesVersion: number;
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

/** Records one screening per rules version, only for pending notes. A screening is only advice. */
export const screening: Decider<ScreeningState, RecordScreening, ScreeningEvents, never> = {
  initial: { rulesVersion: 0 },

  decide(state, { noteId, noteState, findings, words, spans, fingerprint }) {
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
    return { rulesVersion: Math.max(state.rulesVersion, event.data.rules_version) };
  },
};
