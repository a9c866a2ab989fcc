import { type Command, mapAnswer } from './eventstore/command.ts';
import type { EventStore } from './eventstore/event-store.ts';
import { type IdempotentRequest, idempotentCommand } from './eventstore/idempotency.ts';
import { memberOwner, moderatorOwner } from './eventstore/owner.ts';
import type { PrincipalOf } from './http/principal.ts';
import { fillPath, type RequestContext, type Route } from './http/route.ts';
import type { JsonObject } from './http/strict-json.ts';
import type { KeyRing } from './keys/key-ring.ts';
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

/** The headers of a response that repeats an earlier answer. */
export const REPLAYED = { 'idempotency-replayed': 'true' };

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

/** The command of a session's call, once per `Idempotency-Key`. */
export function memberOnce<Answer, Code extends string>(
  keys: KeyRing,
  call: Keyed<PrincipalOf<'session'>>,
  command: Command<Answer, Code>,
  httpStatus: number,
): Command<Once<Answer>, Code | 'idempotency_conflict'> {
  const owner = memberOwner(call.principal.memberId);
  return once({ owner, space: 'session', keys }, call, command, httpStatus);
}

function once<S extends 'moderation' | 'session', Answer, Code extends string>(
  holder: Pick<IdempotentRequest<S>, 'owner' | 'space' | 'keys'>,
  call: Keyed,
  command: Command<Answer, Code>,
  httpStatus: number,
) {
  const { operation, sent, request } = call;
  return idempotentCommand<S, Once<Answer>, Code>(
    {
      ...holder,
      key: request.idempotencyKey,
      operation,
      route: requestLine(call),
      sent,
    },
    {
      ...mapAnswer(command, (answer): Once<Answer> => ({ answer })),
      toReply: ({ answer }) => ({ status: httpStatus, body: answer }),
      replay: ({ reply }) => ({ answer: reply as Answer, headers: REPLAYED }),
    },
  );
}

/** The method and the path of a call, as its receipt stores them. */
export function requestLine({ route, params }: { route: Route; params?: unknown }): string {
  return `${route.method} ${fillPath(route, params)}`;
}
