import { Role, SendMessageResponse } from '@a2a-js/sdk';
import { v5 as uuidv5, v7 as uuidv7 } from 'uuid';
import {
  authorise,
  invoke,
  type Operation,
  type Operations,
} from '../../../platform/http/invoke.ts';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import { Problem, problemFrom } from '../../../platform/http/problems.ts';
import { bodyLimit } from '../../../platform/http/read-request.ts';
import { responseBody } from '../../../platform/http/respond.ts';
import { type AnyReply, isMutation, type RequestContext } from '../../../platform/http/route.ts';
import { isRefusal } from '../../../platform/refusal.ts';
import { A2aFault } from './fault.ts';
import { type RequestedOperation, readMessage } from './message.ts';
import { operationInput, operationSummary } from './operations.ts';

export interface SendDeps {
  operations: Operations;
}

export interface MessageSender {
  principal: PrincipalOf<'credential'>;
  request: RequestContext;
  /** Headers of the HTTP response, to which an operation adds what is left of its limits. */
  headers: Record<string, string>;
}

// All replies to one write share one message id, even if the write first came over HTTP.
const NAMESPACE = '5a2f6d0e-8a3c-4c55-9d3b-0f6f4f8a9b61';

/** Answers a message with the reply of an operation, or with a list of the operations. */
export async function sendMessage(deps: SendDeps, params: unknown, caller: MessageSender) {
  const { contextId, request } = readMessage(params);
  if (!request) return messageOf(uuidv7(), contextId, usage(deps.operations));
  const operation = deps.operations.get(request.operation);
  if (!operation) throw new A2aFault('UNSUPPORTED_OPERATION', 'There is no such operation.');
  const reply = await run(operation, request, caller);
  for (const name of ['ratelimit-policy', 'ratelimit'])
    if (reply.headers?.[name]) caller.headers[name] = reply.headers[name];
  const body = responseBody(reply);
  const data = {
    operation: operation.id,
    status: reply.status,
    replayed: reply.headers?.['idempotency-replayed'] === 'true',
    ...(body.receipt ? { receipt: body.receipt } : {}),
    result: body,
  };
  const id = isMutation(operation.route)
    ? uuidv5(`${caller.principal.memberId} ${request.idempotency_key}`, NAMESPACE)
    : uuidv7();
  return messageOf(id, contextId, [{ $case: 'data', value: data }]);
}

/** Runs an operation. From the scope on, checks are the same and in the same order as over HTTP. */
async function run(
  operation: Operation,
  requested: RequestedOperation,
  { principal, request }: MessageSender,
): Promise<AnyReply> {
  const { route } = operation;
  const forbidden = authorise(operation, principal);
  if (forbidden) throw problemFrom(forbidden);
  const { idempotency_key: idempotencyKey } = requested;
  if (route.idempotency === 'required' && !idempotencyKey)
    throw new A2aFault('INVALID_PARAMS', 'A write needs an idempotency_key.', [
      { path: 'idempotency_key', message: 'must be a UUIDv4' },
    ]);
  const input = operationInput(route, requested.input);
  if (input.body && Buffer.byteLength(JSON.stringify(input.body)) > bodyLimit(route))
    throw new Problem('body_too_large', { limit_bytes: bodyLimit(route) });
  const outcome = await invoke(operation, principal, input, { ...request, idempotencyKey });
  if (isRefusal(outcome)) throw problemFrom(outcome);
  return outcome;
}

/** Marks a message whose texts may be written by strangers. */
const UNTRUSTED = { untrusted: true };

type Content = { $case: 'text'; value: string } | { $case: 'data'; value: unknown };

function usage(operations: Operations): Content[] {
  const listed = [...operations.values()].map(operationSummary);
  const names = listed.map(({ operation, summary }) => `${operation}: ${summary}`).join('\n');
  const text =
    'Nothing was done: this service takes structured requests. Send exactly one data part ' +
    '{"operation", "idempotency_key" (a UUIDv4, for writes), "input" (flat: path, query and body ' +
    `fields beside each other)}; /openapi.json describes each operation by its operationId.\n${names}`;
  return [
    { $case: 'text', value: text },
    { $case: 'data', value: { operations: listed } },
  ];
}

function messageOf(id: string, contextId: string | undefined, contents: Content[]): unknown {
  return SendMessageResponse.toJSON({
    payload: {
      $case: 'message',
      value: {
        messageId: id,
        contextId: contextId ?? uuidv7(),
        taskId: '',
        role: Role.ROLE_AGENT,
        parts: contents.map((content) => ({
          content,
          metadata: undefined,
          filename: '',
          mediaType: content.$case === 'data' ? 'application/json' : 'text/plain',
        })),
        metadata: UNTRUSTED,
        extensions: [],
        referenceTaskIds: [],
      },
    },
  });
}
