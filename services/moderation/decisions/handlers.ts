import { v7 as uuidv7 } from 'uuid';
import { handle } from '../../../platform/eventstore/handle.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import { cursorText, nextPage, toCursor } from '../../../platform/keyset-cursor.ts';
import { query } from '../../../platform/postgres/query.ts';
import type { Reads } from '../../../platform/postgres/reads.ts';
import { isRefusal, refuse } from '../../../platform/refusal.ts';
import {
  decisionsOfBatch,
  decisionsRewound,
  findDecision,
} from '../../../projections/guestbook/note-decisions.ts';
import { findRecordDecision } from '../../../projections/publications/record-decisions.ts';
import { byModerator } from '../staff/by-moderator.ts';
import { readAsOf } from './as-of.ts';
import { decisionOn, undoCommand } from './commands.ts';
import type { BatchResult, DecisionRequest, reviewContract } from './contract.ts';
import { type ReviewsCommand, reviewCommand, reviewsCommand } from './decide.ts';
import { recordCommand } from './decide-record.ts';
import { deskOptions, type Result } from './desk.ts';
import type { DecisionsDeps } from './membership-decisions.ts';
import { noteScope } from './past-scopes.ts';
import { readNoteInThread } from './read-item.ts';
import { REWOUND_ROWS, repeatCommand, toRewoundPage } from './repeat-rewound.ts';

const VERSION_MISSING = {
  issues: [{ path: 'expected_version', message: 'is required' }],
};

export function reviewHandlers(deps: DecisionsDeps): Handlers<typeof reviewContract> {
  const { config, keys, pool, store, publicationKinds, membershipReview, disablingEndings } = deps;
  const undoSeconds = config.undoWindowSeconds;
  const desk = deskOptions(deps);

  /** The command to undo a decision, and how it locks its moderator; undefined if there is no such decision. */
  async function findUndoCommand(of: string, expectedVersion: number | undefined) {
    const [[onNote], [onRecord], onMember] = await Promise.all([
      query(pool, findDecision(of)),
      query(pool, findRecordDecision(of)),
      membershipReview.findUndo(of, { pool, keys, disablingEndings, undoSeconds }),
    ]);
    if (onMember) return { command: onMember, lock: 'alone' as const };
    if (expectedVersion === undefined)
      return onNote || onRecord ? refuse('invalid_request', VERSION_MISSING) : undefined;
    if (onNote) {
      const undo = undoCommand(onNote, undoSeconds, { expectedVersion });
      return { command: reviewCommand(undo, desk), lock: 'shared' as const };
    }
    const subject = publicationKinds.find(({ type }) => type === onRecord?.subject_type);
    if (!onRecord || !subject) return undefined;
    const undo = { action: 'undo' as const, of, expected_version: expectedVersion };
    const command = recordCommand(subject, onRecord.subject_id, undo, undoSeconds);
    return { command, lock: 'shared' as const };
  }

  return {
    'moderation.note': ({
      principal: me,
      params: { id },
      query: { history_before: before, as_of: asOf },
      request,
    }) => {
      const read = async (reads: Reads) => {
        const note = await readNoteInThread(reads, { id, me, config, asOf, before });
        return isRefusal(note)
          ? note
          : { status: 200 as const, body: { status: 'ok' as const, ...note } };
      };
      return readAsOf(deps, asOf, noteScope(id), read, request.gone());
    },

    'moderation.decide': (call) => {
      const { params, body } = call;
      const command = reviewCommand(decisionOn(params.id, body), desk, body);
      return handle(store, byModerator(call), command);
    },

    'moderation.undo': async (call) => {
      const { params, body } = call;
      const found = await findUndoCommand(params.event_id, body.expected_version);
      if (!found) return refuse('not_found');
      if (isRefusal(found)) return found;
      const { command, lock } = found;
      return handle(store, byModerator(call, lock), command);
    },

    'moderation.batch': (call) => {
      const { items, ...action } = call.body;
      const batch_id = uuidv7();
      const asked = items.map(({ note_id, expected_version }) =>
        decisionOn(note_id, { ...action, expected_version } as DecisionRequest, batch_id),
      );
      const toReply = (stored: { batch_id: string; results: BatchResult[] }) => ({
        status: 200 as const,
        body: { status: 'decided' as const, ...stored },
      });
      const command: ReviewsCommand<ReturnType<typeof toReply>> = {
        ...reviewsCommand(asked, desk, action, (results) =>
          toReply({ batch_id, results: results.map(resultBody) }),
        ),
        store: ({ body: { status: _, ...stored } }) => stored,
        restore: ({ body }) => toReply(body as Parameters<typeof toReply>[0]),
      };
      return handle(store, byModerator(call), command);
    },

    'moderation.undo_batch': async (call) => {
      const { params, body } = call;
      const { id } = params;
      const after = body.cursor === undefined ? null : readUndoPlace(body.cursor);
      if (after === undefined) return refuse('invalid_cursor');
      const [decisions, rewound] = await Promise.all([
        query(pool, decisionsOfBatch(id)),
        query(pool, decisionsRewound(id, after, REWOUND_ROWS)),
      ]);
      // A rewind that was undone has decisions itself, which are undone one by one.
      const isRewind = rewound.length > 0 || after !== null;
      if (!isRewind && decisions.length === 0) return refuse('not_found');
      const page = toRewoundPage(rewound);
      const next = page.next === null ? null : writeUndoPlace(page.next);
      const toReply = (results: BatchResult[]) => ({
        status: 200 as const,
        body: { status: 'undone' as const, batch_id: id, results, ...nextPage(next) },
      });
      const reply = (results: Parameters<typeof resultBody>[0][]) =>
        toReply(results.map(resultBody));
      const asked = decisions.map((decision) =>
        undoCommand(decision, undoSeconds, { expectedVersion: null, batchId: id }),
      );
      const command: ReviewsCommand<ReturnType<typeof toReply>> = {
        ...(isRewind
          ? repeatCommand(id, page.notes, desk, reply)
          : reviewsCommand(asked, desk, {}, reply)),
        store: ({ body: { results } }) => results,
        restore: (stored) => toReply(stored.body as BatchResult[]),
      };
      return handle(store, byModerator(call), command);
    },
  };
}

function resultBody([noteId, result]: [noteId: string, result: Result]): BatchResult {
  if (!isRefusal(result)) return { note_id: noteId, ...result };
  const { refused, details: { message: _, ...details } = {} } = result;
  return { note_id: noteId, status: refused, error: { code: refused, ...details } };
}

const writeUndoPlace = (noteId: string): string => toCursor(`batch ${noteId}`);

function readUndoPlace(cursor: string): string | undefined {
  const [, noteId] =
    /^batch ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(cursorText(cursor) ?? '') ?? [];
  return noteId;
}
