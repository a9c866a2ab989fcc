import type pg from 'pg';
import { type ChangePolicy, changePolicy } from '../../../domain/moderation/policy.ts';
import { LEADS } from '../../../domain/moderation/roles.ts';
import { SERVICE_OWNER } from '../../../domain/owners.ts';
import { WEIGHTS } from '../../../domain/screening/rules.ts';
import { readStream, streamVersion } from '../../../platform/eventstore/append.ts';
import type { EventStore } from '../../../platform/eventstore/event-store.ts';
import { type Command, defineCommand, handle } from '../../../platform/eventstore/handle.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import { cursorText, toCursor, toPage } from '../../../platform/keyset-cursor.ts';
import { query } from '../../../platform/postgres/query.ts';
import { isRefusal, refuse } from '../../../platform/refusal.ts';
import {
  allPolicies,
  findPolicy,
  type PolicyRow,
} from '../../../projections/moderation/policies.ts';
import { screenedNotes } from '../../../projections/screening/screenings.ts';
import { type Backtest, type Judgement, judgeAll, newBacktest } from '../../screening/backtest.ts';
import { type ActiveModerator, byModerator } from '../staff/by-moderator.ts';
import type { policiesContract, RulesBacktest } from './contract.ts';

/** Notes that are judged between two turns of the event loop: some milliseconds. */
const JUDGED_AT_A_TIME = 10;
const ALL_TIME = { from: null, to: null };

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

    'moderation.backtest': async ({ query: { cursor, limit } }) => {
      const after = cursor === undefined ? undefined : readCursor(cursor);
      if (cursor !== undefined && !after) return refuse('invalid_cursor');
      const found = await query(pool, screenedNotes(ALL_TIME, limit + 1, after));
      const { rows, next } = toPage('backtest', found, limit, ({ note_id }) =>
        toCursor(`backtest ${note_id}`),
      );
      const figures = newBacktest();
      await judgeAll(figures, rows, WEIGHTS, JUDGED_AT_A_TIME);
      return { status: 200, body: { status: 'ok', ...figuresBody(figures), ...next } };
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

/** The id of the last note of a page; undefined if the cursor is not one of this list. */
const readCursor = (cursor: string): string | undefined =>
  /^backtest ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(cursorText(cursor) ?? '')?.[1];

const figuresBody = ({ notes, recorded, judged, codes }: Backtest) => ({
  notes,
  recorded: judgementBody(recorded),
  judged: judgementBody(judged),
  findings: [...codes].map(([code, figures]) => ({ code, ...figures })),
});

const judgementBody = ({
  bands,
  waited,
  handled,
  restored,
}: Judgement): RulesBacktest['judged'] => ({
  ...bands,
  waited_seconds: waited,
  handled_seconds: handled,
  restored,
});

function policyBody({ code, title, text, active, version, messages }: PolicyRow) {
  return { code, title: title ?? '', text: text ?? '', active, messages: [...messages], version };
}
