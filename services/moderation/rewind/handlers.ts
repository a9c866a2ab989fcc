import type { Handlers } from '../../../platform/http/route.ts';
import { executeOnce } from '../../../platform/idempotent-calls.ts';
import { query } from '../../../platform/postgres/query.ts';
import { conflict, isRefusal, refuse } from '../../../platform/refusal.ts';
import { moderatorNames } from '../../../projections/moderation/actor-names.ts';
import { actsOf } from '../../../projections/moderation/audit.ts';
import { deskOptions } from '../decisions/desk.ts';
import type { ModerationDeps } from '../deps.ts';
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
        me,
        { moderatorId, since, dryRun, fingerprint, place },
        toDecisionsPage(acts, since),
        { publicationKinds, desk, writePlace },
      );
      const rewound = await executeOnce(store, call, command, 200);
      if (isRefusal(rewound)) return rewound;
      const { answer, ...extras } = rewound;
      return { status: 200, body: answer, ...extras };
    },
  };
}

const writePlace = ({ before, batchId }: RewindPlace): string =>
  Buffer.from(`rewind ${before} ${batchId ?? '-'}`).toString('base64url');

function readPlace(cursor: string | undefined): RewindPlace | undefined {
  if (cursor === undefined) return FIRST_PLACE;
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, before, batchId] =
    /^rewind (\d{1,15}) (-|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(text) ?? [];
  if (!before || !batchId) return undefined;
  const place = { before: Number(before), batchId: batchId === '-' ? null : batchId };
  return writePlace(place) === cursor ? place : undefined;
}
