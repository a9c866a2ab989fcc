import { v7 as uuidv7 } from 'uuid';
import { mapAnswer } from '../../../platform/eventstore/command.ts';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import { executeOnce } from '../../../platform/idempotent-calls.ts';
import { query } from '../../../platform/postgres/query.ts';
import { snapshot } from '../../../platform/postgres/snapshot.ts';
import { isRefusal, refuse } from '../../../platform/refusal.ts';
import {
  decisionsOfBatch,
  decisionsRewound,
  findDecision,
} from '../../../projections/guestbook/note-decisions.ts';
import { noteOwners } from '../../../projections/guestbook/notes.ts';
import { moderatorNames } from '../../../projections/moderation/actor-names.ts';
import { findRecordDecision } from '../../../projections/publications/record-decisions.ts';
import type { ModerationDeps } from '../deps.ts';
import { itemBodies } from '../queue/item-bodies.ts';
import { itemsById } from '../queue/item-rows.ts';
import { REWOUND_ROWS, repeatCommand, toRewoundPage } from '../rewind/repeat.ts';
import { decisionOn, undoCommand } from './commands.ts';
import type { BatchResult, DecisionRequest, reviewContract } from './contract.ts';
import { type Result, reviewCommand, reviewsCommand } from './decide.ts';
import { recordCommand } from './decide-record.ts';
import { deskOptions } from './desk.ts';
import { historyBodies, historyOf, listThread, noteStreams, threadBody } from './history.ts';

type Moderator = PrincipalOf<'moderator'>;

const VERSION_MISSING = {
  issues: [{ path: 'expected_version', message: 'is required' }],
};

export function reviewHandlers(deps: ModerationDeps): Handlers<typeof reviewContract> {
  const { config, keys, pool, store, publicationKinds, membershipReview, disablingEndings } = deps;
  const undoSeconds = config.undoWindowSeconds;
  const desk = deskOptions(deps);

  /** The command to undo a decision; undefined if there is no such decision. */
  async function findUndoCommand(me: Moderator, of: string, expectedVersion: number | undefined) {
    const [[onNote], [onRecord], onMember] = await Promise.all([
      query(pool, findDecision(of)),
      query(pool, findRecordDecision(of)),
      membershipReview.findUndo(me, of, { pool, keys, disablingEndings, undoSeconds }),
    ]);
    if (onMember) return onMember;
    if (expectedVersion === undefined)
      return onNote || onRecord ? refuse('invalid_request', VERSION_MISSING) : undefined;
    if (onNote)
      return reviewCommand(me, undoCommand(onNote, undoSeconds, { expectedVersion }), desk);
    const subject = publicationKinds.find(({ type }) => type === onRecord?.subject_type);
    if (!onRecord || !subject) return undefined;
    const undo = { action: 'undo' as const, of, expected_version: expectedVersion };
    return recordCommand(me, subject, onRecord.subject_id, undo, undoSeconds);
  }

  return {
    'moderation.note': async ({
      principal: me,
      params: { id },
      query: { history_before: before },
    }) => {
      const [owner] = await query(pool, noteOwners([id]));
      if (!owner) return refuse('not_found');
      const page = await historyOf(pool, noteStreams(owner), before);
      if (isRefusal(page)) return page;
      const [rows, thread, events, moderators] = await snapshot(pool, [
        itemsById([id]),
        listThread(id),
        page,
        moderatorNames(),
      ]);
      const [item] = await itemBodies(deps, me, rows);
      if (!item) return refuse('not_found');
      return {
        status: 200,
        body: {
          status: 'ok',
          item,
          thread: thread.map(threadBody),
          ...historyBodies(events, moderators),
        },
      };
    },

    'moderation.decide': async (call) => {
      const { principal, params, body } = call;
      const command = reviewCommand(principal, decisionOn(params.id, body), desk, body);
      const decided = await executeOnce(store, call, command, 201);
      if (isRefusal(decided)) return decided;
      const { answer, ...extras } = decided;
      return { status: 201, body: answer, ...extras };
    },

    'moderation.undo': async (call) => {
      const { principal, params, body } = call;
      const command = await findUndoCommand(principal, params.event_id, body.expected_version);
      if (!command) return refuse('not_found');
      if (isRefusal(command)) return command;
      const undone = await executeOnce(store, call, command, 201);
      if (isRefusal(undone)) return undone;
      const { answer, ...extras } = undone;
      return { status: 201, body: answer, ...extras };
    },

    'moderation.batch': async (call) => {
      const { principal, body } = call;
      const { items, ...action } = body;
      const batch_id = uuidv7();
      const asked = items.map(({ note_id, expected_version }) =>
        decisionOn(note_id, { ...action, expected_version } as DecisionRequest, batch_id),
      );
      const command = reviewsCommand(principal, asked, desk, action);
      const decided = await executeOnce(
        store,
        call,
        mapAnswer(command, (results) => ({
          batch_id,
          results: asked.map((one, index) => resultBody(one.noteId, results[index])),
        })),
        200,
      );
      if (isRefusal(decided)) return decided;
      const { answer, ...extras } = decided;
      return { status: 200, body: { status: 'decided', ...answer }, ...extras };
    },

    'moderation.undo_batch': async (call) => {
      const { principal, params, body } = call;
      const { id } = params;
      const after = body.cursor === undefined ? null : readUndoPlace(body.cursor);
      if (after === undefined) return refuse('invalid_cursor');
      const [decisions, rewound] = await Promise.all([
        query(pool, decisionsOfBatch(id)),
        query(pool, decisionsRewound(id, after, REWOUND_ROWS)),
      ]);
      // A rewind that was undone has decisions of its own, which are undone one by one.
      const isRewind = rewound.length > 0 || after !== null;
      if (!isRewind && decisions.length === 0) return refuse('not_found');
      const page = toRewoundPage(rewound);
      const asked = decisions.map((decision) =>
        undoCommand(decision, undoSeconds, { expectedVersion: null, batchId: id }),
      );
      const command = isRewind
        ? mapAnswer(repeatCommand(principal, id, page.notes, desk), (results) =>
            [...results].map(([noteId, result]) => resultBody(noteId, result)),
          )
        : mapAnswer(reviewsCommand(principal, asked, desk), (results) =>
            decisions.map(({ note_id }, index) => resultBody(note_id, results[index])),
          );
      const undone = await executeOnce(store, call, command, 200);
      if (isRefusal(undone)) return undone;
      const { answer: results, ...extras } = undone;
      const next = page.next === null ? null : writeUndoPlace(page.next);
      return {
        status: 200,
        body: {
          status: 'undone',
          batch_id: id,
          results,
          next_cursor: next,
          has_more: next !== null,
        },
        ...extras,
      };
    },
  };
}

function resultBody(noteId: string, result: Result | undefined): BatchResult {
  if (!result) throw new Error('an item without a result');
  if (!isRefusal(result)) return { note_id: noteId, ...result };
  const { refused, details = {} } = result;
  return { note_id: noteId, status: refused, error: { code: refused, ...details } };
}

const writeUndoPlace = (noteId: string): string =>
  Buffer.from(`batch ${noteId}`).toString('base64url');

function readUndoPlace(cursor: string): string | undefined {
  const [, noteId] =
    /^batch ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(
      Buffer.from(cursor, 'base64url').toString(),
    ) ?? [];
  return noteId && writeUndoPlace(noteId) === cursor ? noteId : undefined;
}
