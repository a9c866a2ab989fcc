import type pg from 'pg';
import { type ChangePolicy, changePolicy } from '../../../domain/moderation/policy.ts';
import { LEADS } from '../../../domain/moderation/roles.ts';
import { readStream, streamVersion } from '../../../platform/eventstore/append.ts';
import type { EventStore } from '../../../platform/eventstore/event-store.ts';
import { type Command, defineCommand, handle } from '../../../platform/eventstore/handle.ts';
import { SERVICE_OWNER } from '../../../platform/eventstore/owner.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import { query } from '../../../platform/postgres/query.ts';
import { isRefusal, refuse } from '../../../platform/refusal.ts';
import {
  allPolicies,
  findPolicy,
  type PolicyRow,
} from '../../../projections/moderation/policies.ts';
import { type ActiveModerator, byModerator } from '../staff/by-moderator.ts';
import type { policiesContract } from './contract.ts';

export interface PoliciesDeps {
  pool: pg.Pool;
  store: EventStore;
}

export function policiesHandlers({ pool, store }: PoliciesDeps): Handlers<typeof policiesContract> {
  return {
    'moderation.policies': async () => {
      const rows = await query(pool, allPolicies());
      return { status: 200, body: { status: 'ok', policies: rows.map(policyBody) } };
    },

    'moderation.change_policy': (call) => {
      const { expected_version: expectedVersion, messages, ...words } = call.body;
      return handle(
        store,
        byModerator(call),
        changeCommand({ ...words, messages, expectedVersion }),
      );
    },
  };
}

interface Saved {
  status: 200;
  body: { status: 'saved'; policy: ReturnType<typeof policyBody> };
}

// If two changes race, the log refuses the second append, and that change is decided again.
function changeCommand(
  change: ChangePolicy,
): Command<Saved, 'role_required' | 'state_conflict', ActiveModerator> {
  const { code, title, text, active } = change;
  const stream = `policy-${code}`;
  return defineCommand({
    load: { events: readStream(SERVICE_OWNER, stream), policies: findPolicy(code) },
    decide({ events, policies: [row] }, _now, { role }: ActiveModerator) {
      if (!LEADS.includes(role)) return refuse('role_required', { roles: LEADS });
      const decided = changePolicy(row, change);
      if (isRefusal(decided)) return decided;
      const messages = [...(change.messages ?? row?.messages ?? [])];
      const version = decided[0]?.data.version ?? row?.version ?? 1;
      const policy = { code, title, text, active, messages, version };
      return {
        appends: [
          { owner: SERVICE_OWNER, stream, version: streamVersion(events), events: decided },
        ],
        reply: () => ({ status: 200, body: { status: 'saved', policy } }),
      };
    },
  });
}

function policyBody({ code, title, text, active, version, messages }: PolicyRow) {
  return { code, title: title ?? '', text: text ?? '', active, messages: [...messages], version };
}
