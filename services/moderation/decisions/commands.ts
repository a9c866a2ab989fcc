import type { NoteCommand } from '../../../domain/guestbook/note.ts';
import { LEADS, ROLES_BY_ACTION } from '../../../domain/moderation/roles.ts';
import { undoersOfOwn } from '../../../domain/publications/undo.ts';
import type { DecisionRow } from '../../../projections/guestbook/note-decisions.ts';
import type { DecisionRequest } from './contract.ts';
import type { RequestedDecision } from './desk.ts';

const HOUR_MS = 3_600_000;
/** How long a note is deferred if the request gives no time. */
const DEFERRED_MS = 24 * HOUR_MS;

/** Turns an API request into a command on the note. */
export function decisionOn(
  noteId: string,
  body: DecisionRequest,
  batchId?: string,
): RequestedDecision {
  return {
    noteId,
    roles: ROLES_BY_ACTION[body.action],
    overrides: { takeOver: body.take_over === true, removes: body.action === 'remove' },
    command({ me, claimedAt, parent, now }): NoteCommand {
      const { moderatorId } = me;
      const common = {
        expectedVersion: body.expected_version,
        claimedAt,
        ...(batchId ? { batchId } : {}),
      };
      const message = 'message' in body ? (body.message ?? null) : null;
      switch (body.action) {
        case 'approve':
          return { type: 'ApproveNote', ...common, parent };
        case 'reject':
          return { type: 'RejectNote', ...common, policy: body.policy, message };
        case 'escalate':
          return { type: 'EscalateNote', ...common, why: body.message };
        case 'defer':
          return {
            type: 'DeferNote',
            ...common,
            lead: LEADS.includes(me.role),
            until: new Date(body.until ?? now.getTime() + DEFERRED_MS),
          };
        case 'remove':
          return { type: 'RemoveNote', ...common, policy: body.policy, message };
        case 'restore':
          return { type: 'RestoreNote', ...common, moderatorId };
        case 'keep':
          return { type: 'KeepNote', ...common };
        case 'grant':
          return { type: 'GrantAppeal', ...common, moderatorId, message, parent };
        case 'uphold':
          return { type: 'UpholdAppeal', ...common, moderatorId, message };
      }
    },
  };
}

export function undoCommand(
  decision: Pick<DecisionRow, 'event_id' | 'note_id' | 'decision'>,
  undoSeconds: number,
  { expectedVersion, batchId }: { expectedVersion: number | null; batchId?: string },
): RequestedDecision {
  return {
    noteId: decision.note_id,
    roles: undoersOfOwn(decision.decision),
    overrides: 'claims',
    undoes: decision.event_id,
    command: ({ me, parent, authorGone, now }): NoteCommand => ({
      type: 'UndoDecision',
      expectedVersion,
      of: decision.event_id,
      moderatorId: me.moderatorId,
      role: me.role,
      parent,
      authorGone,
      undoSeconds,
      now,
      ...(batchId ? { batchId } : {}),
    }),
  };
}
