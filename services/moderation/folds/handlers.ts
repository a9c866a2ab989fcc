import { conflict } from '../../../domain/conflict.ts';
import { foldStream } from '../../../domain/guestbook/words.ts';
import { keepFolds } from '../../../domain/moderation/jobs.ts';
import type { FoldKind } from '../../../domain/moderation/words.ts';
import { guestNoteOwner } from '../../../domain/owners.ts';
import type { Config } from '../../../platform/config.ts';
import { lastFact, streamVersion } from '../../../platform/eventstore/append.ts';
import type { NewEvent, RecordedEvent } from '../../../platform/eventstore/event.ts';
import { defineCommand, handle } from '../../../platform/eventstore/handle.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import { jobOf } from '../../../platform/jobs/job-type.ts';
import { query } from '../../../platform/postgres/query.ts';
import { refuse } from '../../../platform/refusal.ts';
import { joinNewest } from '../../../projections/screening/fold-marks.ts';
import type { ModerationDeps } from '../queue/deps.ts';
import { foldBody } from '../queue/item-parts.ts';
import { liveFolds, MAX_FOLDS } from '../queue/live-folds.ts';
import { byModerator } from '../staff/by-moderator.ts';
import type { foldsContract } from './contract.ts';
import {
  deleteFold,
  dropEndedFolds,
  findFoldable,
  foldKeys,
  lockFolds,
  saveFold,
} from './folds.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface FoldsDeps {
  config: Pick<Config, 'retentionAddressKeysHours'>;
}

export function foldsHandlers(
  deps: Pick<ModerationDeps, 'pool' | 'store'> & FoldsDeps,
): Handlers<typeof foldsContract> {
  const { pool, store, config } = deps;
  return {
    'moderation.folds': async () => {
      const folds = await query(pool, liveFolds());
      return { status: 200, body: { status: 'ok', folds: folds.map(foldBody) } };
    },

    'moderation.fold': async (call) => {
      const { kind, note_id: noteId } = call.params;
      const wanted = {
        kind,
        noteId,
        days: call.body.days,
        hours: config.retentionAddressKeysHours,
      };
      return handle(store, byModerator(call), fold(call.principal.moderatorId, wanted));
    },

    'moderation.unfold': async (call) => {
      const { kind, note_id: noteId } = call.params;
      return handle(store, byModerator(call), unfold(kind, noteId));
    },
  };
}

interface Wanted {
  kind: FoldKind;
  noteId: string;
  days: number;
  /** How long the keys of addresses are kept. */
  hours: number;
}

/**
 * What both commands read. The lock comes first, so that the limit holds for moderators who fold at the same time, and
 * the stream has one writer.
 */
const loadFolds = (noteId: string) => ({
  lock: lockFolds(),
  known: foldKeys(),
  stream: lastFact(guestNoteOwner(noteId), foldStream(noteId)),
});

const fold = (moderatorId: string, { kind, noteId, days, hours }: Wanted) =>
  defineCommand({
    load: { ...loadFolds(noteId), notes: findFoldable(noteId) },
    decide({ known, stream, notes: [note] }, now) {
      if (!note) return refuse('not_found');
      const { is_guest, has_text, address_at: since } = note;
      if (!is_guest || !(kind === 'text' ? has_text : since)) return conflict('wrong_state');
      const again = known.some((one) => one.kind === kind && one.note_id === noteId);
      if (!again && known.length >= MAX_FOLDS) return conflict('fold_limit');
      const kept = kind === 'address' && since ? since.getTime() + hours * HOUR_MS : Infinity;
      const until = new Date(Math.min(now.getTime() + days * DAY_MS, kept));
      const data = { subject: { type: 'note', id: noteId }, kind, until: until.toISOString() };
      return {
        appends: [foldAppend(noteId, stream, { type: 'NotesFolded', data, personal: null })],
        rows: [
          dropEndedFolds(),
          saveFold(kind, noteId, moderatorId, until),
          joinNewest(kind, noteId),
        ],
        // A worker compares the others.
        jobs: [jobOf(keepFolds, {})],
        reply: () => replyWith('folded', kind, noteId),
      };
    },
  });

const unfold = (kind: FoldKind, noteId: string) =>
  defineCommand({
    load: loadFolds(noteId),
    decide({ known, stream }) {
      if (!known.some((one) => one.kind === kind && one.note_id === noteId))
        return refuse('not_found');
      const data = { subject: { type: 'note', id: noteId }, kind };
      return {
        appends: [foldAppend(noteId, stream, { type: 'NotesUnfolded', data, personal: null })],
        rows: [deleteFold(kind, noteId)],
        reply: () => replyWith('unfolded', kind, noteId),
      };
    },
  });

/** Only guests' notes are folded, which own their streams. */
const foldAppend = (noteId: string, stream: readonly RecordedEvent[], event: NewEvent) => ({
  owner: guestNoteOwner(noteId),
  stream: foldStream(noteId),
  version: streamVersion(stream),
  events: [event],
});

const replyWith = (status: 'folded' | 'unfolded', kind: FoldKind, note_id: string) => ({
  status: 200 as const,
  body: { status, kind, note_id },
});
