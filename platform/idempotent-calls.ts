import { type Command, mapAnswer } from './eventstore/command.ts';
import type { EventStore } from './eventstore/event-store.ts';
import { type IdempotentRequest, idempotentCommand } from './eventstore/idempotency.ts';
import { moderatorOwner } from './eventstore/owner.ts';
import { REPLAYED, requestOf } from './http/keyed-call.ts';
import type { PrincipalOf } from './http/principal.ts';
import type { RequestContext, Route } from './http/route.ts';
import type { JsonObject } from './http/strict-json.ts';
import type { Refusal } from './refusal.ts';

type Holder = PrincipalOf<'moderator'> | PrincipalOf<'session'>;

/** What the `Idempotency-Key` of a call covers. A key belongs to one member or moderator. */
export interface Keyed<Principal extends Holder = Holder> {
  operation: string;
  route: Route;
  params?: Record<string, string> | undefined;
  sent: JsonObject;
  principal: Principal;
  request: Pick<RequestContext, 'idempotencyKey'>;
}

/** An answer, with the `Idempotency-Replayed` header if it repeats an earlier answer. */
export interface Once<Answer> {
  answer: Answer;
  headers?: Record<string, string>;
}

/** Executes the command of a moderator's call, once per `Idempotency-Key`. */
export function executeOnce<Answer, Code extends string>(
  store: EventStore,
  call: Keyed<PrincipalOf<'moderator'>>,
  command: Command<Answer, Code>,
  httpStatus: number,
): Promise<Once<Answer> | Refusal<Code | 'idempotency_conflict'>> {
  return store.execute(moderatorOnce(call, command, httpStatus));
}

/** The command that `executeOnce` executes, for callers that execute or combine commands themselves. */
export function moderatorOnce<Answer, Code extends string>(
  call: Keyed<PrincipalOf<'moderator'>>,
  command: Command<Answer, Code>,
  httpStatus: number,
): Command<Once<Answer>, Code | 'idempotency_conflict'> {
  const owner = moderatorOwner(call.principal.moderatorId);
  return once({ owner, space: 'moderation', keys: null }, call, command, httpStatus);
}

function once<S extends 'moderation' | 'session', Answer, Code extends string>(
  holder: Pick<IdempotentRequest<S>, 'owner' | 'space' | 'keys'>,
  call: Keyed,
  command: Command<Answer, Code>,
  httpStatus: number,
) {
  return idempotentCommand<S, Once<Answer>, Code>(
    {
      ...holder,
      ...requestOf({ params: undefined, ...call }),
    } as unknown as IdempotentRequest<S>,
    {
      ...mapAnswer(command, (answer): Once<Answer> => ({ answer })),
      toReply: ({ answer }) => ({ status: httpStatus, body: answer }),
      replay: ({ reply }) => ({ answer: reply as Answer, headers: REPLAYED }),
    },
  );
}
