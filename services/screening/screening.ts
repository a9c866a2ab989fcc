import type { Decider } from '../../platform/eventstore/decider.ts';
import type { NewEvent } from '../../platform/eventstore/event.ts';
import type * as events from './events.ts';
import type { Words } from './findings.ts';
import type { Fingerprint } from './fingerprint.ts';
import { bandOf, type Finding, RULES_VERSION } from './rules.ts';

type ScreeningEvents = (typeof events)['NoteScreened'];

/** The newest rules that a note was screened by. */
export interface ScreeningState {
  rulesVersion: number;
}

export interface RecordScreening {
  noteId: string;
  /** The note's state now: a decision that came first makes the screening stale. */
  noteState: string;
  findings: readonly Finding[];
  words: Words;
  fingerprint: Fingerprint;
}

/** Once for each version of the rules, and only while the note waits. It is advice: nothing follows. */
export const screening: Decider<ScreeningState, RecordScreening, ScreeningEvents, never> = {
  initial: { rulesVersion: 0 },

  decide(state, { noteId, noteState, findings, words, fingerprint }) {
    if (noteState !== 'pending' || state.rulesVersion >= RULES_VERSION) return [];
    return [
      {
        type: 'NoteScreened',
        data: {
          note_id: noteId,
          rules_version: RULES_VERSION,
          band: bandOf(findings),
          findings: [...findings],
        },
        personal: { words, fingerprint },
      },
    ];
  },

  evolve(state, event: NewEvent<ScreeningEvents>) {
    return { rulesVersion: Math.max(state.rulesVersion, event.data.rules_version) };
  },
};
