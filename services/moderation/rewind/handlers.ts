import { conflict } from '../../../domain/conflict.ts';
import { handle } from '../../../platform/eventstore/handle.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import { cursorText, toCursor } from '../../../platform/keyset-cursor.ts';
import { query } from '../../../platform/postgres/query.ts';
import { refuse } from '../../../platform/refusal.ts';
import { actsOf } from '../../../projections/moderation/audit.ts';
import { moderatorNames } from '../../../projections/moderation/moderators.ts';
import { deskOptions } from '../decisions/desk.ts';
import type { ModerationDeps } from '../queue/deps.ts';
import { byModerator } from '../staff/by-moderator.ts';
import type { rewindContract } from './contract.ts';
import {
  FIRST_PLACE,
  MAX_ACTS,
  type RewindPlace,
  rewindCommand,
  toDecisionsPage,
} from './rewind.ts';

export function rewindHandlers(deps: ModerationDeps): Handlers<typeof rewindContract> {
  const { pool, store, publicationKinds } = deps;
  const desk = deskOptions(deps);
  return {
    'moderation.rewind': async (call) => {
      const { principal: me, params, body } = call;
      const { moderator_id: moderatorId } = params;
      if (moderatorId === me.moderatorId) return conflict('second_person_required');
      const place = readPlace(body.cursor);
      if (!place) return refuse('invalid_cursor');
      const moderators = await query(pool, moderatorNames());
      if (!moderators.some(({ moderator_id }) => moderator_id === moderatorId))
        return refuse('not_found');
      const since = new Date(body.since);
      const acts = await query(pool, actsOf(moderatorId, place.before, MAX_ACTS));
      const { dry_run: dryRun, fingerprint } = body;
      const command = rewindCommand(
        { moderatorId, since, dryRun, fingerprint, place },
        toDecisionsPage(acts, since),
        { publicationKinds, desk, writePlace },
      );
      return handle(store, byModerator(call), command);
    },
  };
}

const writePlace = ({ before, batchId }: RewindPlace): string =>
  toCursor(`rewind ${before} ${batchId ?? '-'}`);

function readPlace(cursor: string | undefined): RewindPlace | undefined {
  if (cursor === undefined) return FIRST_PLACE;
  const [, before, batchId] =
    /^rewind (0|[1-9]\d{0,14}) (-|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(
      cursorText(cursor) ?? '',
    ) ?? [];
  if (!before || !batchId) return undefined;
  return { before: Number(before), batchId: batchId === '-' ? null : batchId };
}
