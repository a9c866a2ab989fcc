import { handle } from '../../../platform/eventstore/handle.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import type { Reads } from '../../../platform/postgres/reads.ts';
import { isRefusal, refuse } from '../../../platform/refusal.ts';
import { byModerator } from '../staff/by-moderator.ts';
import { readAsOf } from './as-of.ts';
import type { DecisionsDeps } from './membership-decisions.ts';
import type { subjectContract } from './record-contract.ts';
import { reviewKinds } from './review-kinds.ts';

export function subjectHandlers(deps: DecisionsDeps): Handlers<typeof subjectContract> {
  const { config, store } = deps;
  const kindOf = reviewKinds(deps);
  return {
    'moderation.subject': async ({
      principal: me,
      params: { type, id },
      query: { history_before: before, as_of: asOf },
      request,
    }) => {
      const kind = kindOf(type);
      if (!kind) return refuse('not_found');
      const read = async (reads: Reads) => {
        const found = await kind.read(reads, { id, me, config, asOf, before });
        if (isRefusal(found)) return found;
        return { status: 200 as const, body: { status: 'ok' as const, ...found } };
      };
      return readAsOf(deps, asOf, kind.scope(id), read, request.gone());
    },

    'moderation.decide_subject': async (call) => {
      const { type, id } = call.params;
      const kind = kindOf(type);
      if (!kind) return refuse('not_found');
      const command = kind.decide(id, call.body);
      if (isRefusal(command)) return command;
      return handle(store, byModerator(call, kind.lock), command);
    },
  };
}
