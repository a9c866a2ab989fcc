import { keepFolds } from '../../../domain/moderation/jobs.ts';
import type { Config } from '../../../platform/config.ts';
import { defineCommand, handle } from '../../../platform/eventstore/handle.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import { jobOf } from '../../../platform/jobs/job-type.ts';
import { MODERATION_TOPIC } from '../../../platform/postgres/notifications.ts';
import { query } from '../../../platform/postgres/query.ts';
import { conflict, isRefusal, refuse } from '../../../platform/refusal.ts';
import { joinNewest } from '../../../projections/screening/fold-marks.ts';
import type { ModerationDeps } from '../deps.ts';
import { byModerator } from '../staff/by-moderator.ts';
import type { foldsContract } from './contract.ts';
import { foldBody } from './fold-body.ts';
import {
  deleteFold,
  dropEndedFolds,
  type FoldKind,
  findFoldable,
  foldKeys,
  liveFolds,
  lockFolds,
  MAX_FOLDS,
  saveFold,
} from './folds.ts';

export interface FoldsDeps {
  config: Pick<Config, 'retentionAddressKeysHours'>;
}

export function foldsHandlers(
  deps: Pick<ModerationDeps, 'pool' | 'store' | 'wakeUps'> & FoldsDeps,
): Handlers<typeof foldsContract> {
  const { pool, store, wakeUps, config } = deps;
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
      const done = await handle(store, byModerator(call), fold(call.principal.moderatorId, wanted));
      if (!isRefusal(done)) wakeUps.wake([MODERATION_TOPIC]);
      return done;
    },

    'moderation.unfold': async (call) => {
      const { kind, note_id: noteId } = call.params;
      const done = await handle(store, byModerator(call), unfold(kind, noteId));
      if (!isRefusal(done)) wakeUps.wake([MODERATION_TOPIC]);
      return done;
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

const fold = (moderatorId: string, { kind, noteId, days, hours }: Wanted) =>
  defineCommand({
    // The lock comes first, so that the limit holds for moderators who fold at the same time.
    load: { lock: lockFolds(), known: foldKeys(), notes: findFoldable(noteId) },
    decide({ known, notes: [note] }) {
      if (!note) return refuse('not_found');
      const { is_guest, has_text, address_at: since } = note;
      if (!is_guest || !(kind === 'text' ? has_text : since)) return conflict('wrong_state');
      const again = known.some((one) => one.kind === kind && one.note_id === noteId);
      if (!again && known.length >= MAX_FOLDS) return conflict('fold_limit');
      const latest =
        kind === 'address' && since ? new Date(since.getTime() + hours * 3_600_000) : null;
      return {
        appends: [],
        changesRows: true,
        rows: [
          dropEndedFolds(),
          saveFold(kind, noteId, moderatorId, { days, latest }),
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
    load: { known: foldKeys() },
    decide({ known }) {
      if (!known.some((one) => one.kind === kind && one.note_id === noteId))
        return refuse('not_found');
      return {
        appends: [],
        changesRows: true,
        rows: [deleteFold(kind, noteId)],
        reply: () => replyWith('unfolded', kind, noteId),
      };
    },
  });

const replyWith = (status: 'folded' | 'unfolded', kind: FoldKind, note_id: string) => ({
  status: 200 as const,
  body: { status, kind, note_id },
});
