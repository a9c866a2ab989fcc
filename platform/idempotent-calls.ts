import { type Command, resolveAnswer } from './eventstore/command.ts';
import type { EventStore } from './eventstore/event-store.ts';
import { type Accepted, handle, type Policy } from './eventstore/handle.ts';
import { moderatorOwner } from './eventstore/owner.ts';
import { type KeyedCall, replayed, requestOf } from './http/keyed-call.ts';
import type { PrincipalOf } from './http/principal.ts';
import { isRefusal, type Refusal } from './refusal.ts';

/** An answer, with the `Idempotency-Replayed` header if it repeats an earlier answer. */
interface Once<Answer> {
  answer: Answer;
  headers?: Record<string, string>;
}

/** Handles a moderator's command that proves the moderator itself, once per `Idempotency-Key`. */
export async function executeOnce<Answer, Code extends string>(
  store: EventStore,
  call: KeyedCall & { principal: PrincipalOf<'moderator'> },
  { lock, find, load, decide }: Command<Answer, Code>,
  httpStatus: number,
): Promise<Once<Answer> | Refusal<Code | 'idempotency_conflict'>> {
  type Reply = { status: number; body: Answer; headers?: Record<string, string> };
  const { moderatorId: id } = call.principal;
  const policy: Policy<'idempotency_conflict', Reply> = {
    actor: { type: 'moderator', id },
    request: { owner: moderatorOwner(id), space: 'moderation', keys: null, ...requestOf(call) },
    repeat: replayed<Reply>,
  };
  const reply = await handle(store, policy, {
    ...(lock ? { lock } : {}),
    ...(find ? { find } : {}),
    load: { rows: load },
    decide({ rows }, now): Accepted<Reply> | Refusal<Code> {
      const decided = decide({ rows, locked: [], now });
      if (isRefusal(decided)) return decided as Refusal<Code>;
      const toReply = (body: Answer) => ({ status: httpStatus, body });
      if ('unchanged' in decided) return { appends: [], reply: () => toReply(decided.unchanged) };
      const { appends, rows: written = [], jobs = [], changesRows = false } = decided;
      const answer = (events: Parameters<Accepted<Reply>['reply']>[0]) =>
        toReply(resolveAnswer(decided, [...events]));
      return { appends, rows: written, jobs, changesRows, reply: answer };
    },
  });
  if (isRefusal(reply)) return reply as Refusal<Code | 'idempotency_conflict'>;
  const { body: answer, headers } = reply;
  return headers ? { answer, headers } : { answer };
}
