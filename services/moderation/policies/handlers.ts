import type pg from 'pg';
import { type ChangePolicy, changePolicy } from '../../../domain/moderation/policy.ts';
import { LEADS } from '../../../domain/moderation/roles.ts';
import { readStream, streamVersion } from '../../../platform/eventstore/append.ts';
import {
  type Command,
  defineCommand,
  type EventStore,
} from '../../../platform/eventstore/event-store.ts';
import { SERVICE_OWNER } from '../../../platform/eventstore/owner.ts';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import { query } from '../../../platform/postgres/query.ts';
import { isRefusal, refuse } from '../../../platform/refusal.ts';
import {
  allPolicies,
  findPolicy,
  type PolicyRow,
} from '../../../projections/moderation/policies.ts';
import { shareLockModerator } from '../staff/lock-moderator.ts';
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

    'moderation.change_policy': async ({ principal, body }) => {
      const { expected_version: expectedVersion, messages, ...words } = body;
      const change = { ...words, messages, expectedVersion };
      const policy = await store.execute(changeCommand(principal, change));
      return isRefusal(policy) ? policy : { status: 200, body: { status: 'saved', policy } };
    },
  };
}

// If two changes race, the log refuses the second append, and that change is decided again.
function changeCommand(
  me: PrincipalOf<'moderator'>,
  command: ChangePolicy,
): Command<
  ReturnType<typeof policyBody>,
  'moderator_required' | 'role_required' | 'state_conflict'
> {
  const { code, title, text, active } = command;
  const stream = `policy-${code}`;
  return defineCommand({
    load: {
      moderators: shareLockModerator(me),
      events: readStream(SERVICE_OWNER, stream),
      policies: findPolicy(code),
    },
    decide({
      rows: {
        moderators: [live],
        events,
        policies: [row],
      },
    }) {
      if (!live) return refuse('moderator_required');
      if (!LEADS.includes(live.role)) return refuse('role_required', { roles: LEADS });
      const decided = changePolicy(row, command);
      if (isRefusal(decided)) return decided;
      const [event] = decided;
      const messages = command.messages ?? row?.messages ?? [];
      const policy = { code, title, text, active, messages: [...messages] };
      if (!event) return { unchanged: { ...policy, version: row?.version ?? 1 } };
      return {
        answer: { ...policy, version: event.data.version },
        appends: [
          {
            owner: SERVICE_OWNER,
            stream,
            version: streamVersion(events),
            actor: { type: 'moderator', id: me.moderatorId },
            events: decided,
          },
        ],
      };
    },
  });
}

function policyBody({ code, title, text, active, version, messages }: PolicyRow) {
  return { code, title: title ?? '', text: text ?? '', active, messages: [...messages], version };
}
