import { caseDecider } from '../../domain/cases/case.ts';
import { caseNote } from '../../domain/cases/case-note.ts';
import {
  type CaseEvent,
  type ExistingCase,
  RESETS,
  stateSinceReset,
} from '../../domain/cases/case-state.ts';
import { memberOwner } from '../../domain/owners.ts';
import { defineFactsSinceReset, streamVersion } from '../../platform/eventstore/append.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { derive } from '../../platform/eventstore/load.ts';
import { defineStream } from '../../platform/eventstore/stream.ts';
import { refuse } from '../../platform/refusal.ts';
import {
  caseFacts,
  livingMembersOfCase,
  membersOfCase,
} from '../../projections/cases/case-members.ts';
import { type CaseRow, findCase } from '../../projections/cases/cases.ts';

/** The service ends a lease that has expired, whichever command on the case comes next. */
export const caseStreams = defineStream('case', caseDecider, {
  CaseLeaseEnded: { type: 'service' },
});

/** Each note on a case has a stream. */
export const caseNoteStreams = defineStream('case-note', caseNote);

/** The stream of a case, from its row and its events since the last one that reset its state. */
export function caseStream<Row extends Parameters<typeof stateSinceReset>[0]>(
  row: Row,
  events: readonly RecordedEvent[],
) {
  const state: ExistingCase = stateSinceReset(row, events as unknown as CaseEvent[]);
  const owner = memberOwner(row.author_id);
  return { row, ...caseStreams.at(owner, row.case_id, streamVersion(events), state) };
}

export type FoundCase = ReturnType<typeof caseStream<CaseRow>>;

const factsSinceReset = defineFactsSinceReset(RESETS);

/**
 * Loads a case, and the members whom it concerns. A case whose author's account is closed is
 * gone in every state.
 */
export const loadCase = (caseId: string) =>
  derive(
    {
      events: caseFacts(caseId, factsSinceReset),
      cases: findCase(caseId),
      living: livingMembersOfCase(caseId),
    },
    ({ events, cases: [row], living }) => {
      if (!row || events.length === 0) return refuse('not_found');
      if (row.author_gone) return refuse('gone');
      const members = living.map(({ member_id }) => member_id);
      return { ...caseStream(row, events), members };
    },
    membersOfCase(caseId),
  );
