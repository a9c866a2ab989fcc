import { z } from 'zod';
import { type Issue, toIssues } from '../../../platform/http/issues.ts';
import { IdempotencyKey } from '../../../platform/http/schemas.ts';
import { isJsonObject, type JsonObject } from '../../../platform/http/strict-json.ts';
import { A2aFault } from './fault.ts';

const JSON_TYPE = 'application/json';

// The strict parser has checked that everything is JSON. What a part or an input holds is not looked
// at before it is known who may send it: a schema that visits each value costs more than the parser.

/** In ProtoJSON, null means that the field is absent. */
const Message = z.object({
  messageId: z.string().min(1).max(256),
  contextId: z.string().max(256).nullish(),
  taskId: z.string().nullish(),
  // ProtoJSON accepts the name or the number of an enum value.
  role: z.union([z.literal('ROLE_USER'), z.literal(1)]),
  parts: z.array(z.unknown()).min(1).max(100),
});

const Params = z.object({
  message: Message,
  configuration: z
    .object({
      taskPushNotificationConfig: z.unknown().optional(),
      // The field's name before 1.0, so that older clients also get the error about push.
      pushNotificationConfig: z.unknown().optional(),
    })
    .nullable()
    .optional(),
});

const RequestedOperation = z.strictObject({
  operation: z.string().min(1).max(100),
  idempotency_key: IdempotencyKey.toLowerCase().optional(),
  input: z.custom<JsonObject>(isJsonObject, 'must be an object').default({}),
});
export type RequestedOperation = z.output<typeof RequestedOperation>;

export interface ReceivedMessage {
  contextId: string | undefined;
  /** Undefined if the message contains only text. */
  request: RequestedOperation | undefined;
}

/** Reads the parameters of SendMessage; ignores unknown fields, as ProtoJSON allows. */
export function readMessage(params: unknown): ReceivedMessage {
  const { message, configuration } = parsed(Params, params);
  if (message.taskId) throw new A2aFault('TASK_NOT_FOUND');
  if ((configuration?.taskPushNotificationConfig ?? configuration?.pushNotificationConfig) != null)
    throw new A2aFault('PUSH_NOTIFICATION_NOT_SUPPORTED');
  const data = message.parts.flatMap((part, index) => dataOf(part, index));
  if (data.length > 1)
    throw new A2aFault('INVALID_PARAMS', 'A message asks for one operation, in one data part.');
  return {
    contextId: message.contextId || undefined,
    request: data.length === 0 ? undefined : parsed(RequestedOperation, data[0]),
  };
}

const CONTENTS = ['text', 'raw', 'url', 'data'] as const;

/** The data of a part as an array of one value; empty for a text part. */
function dataOf(part: unknown, index: number): unknown[] {
  if (!isJsonObject(part))
    throw invalid([{ path: `message.parts.${index}`, message: 'must be an object' }]);
  // Null is a value in `data`; in the other fields it means absent.
  const [content, ...more] = CONTENTS.filter((name) =>
    name === 'data' ? Object.hasOwn(part, name) : (part[name] ?? null) !== null,
  );
  if (!content || more.length > 0)
    throw invalid([{ path: `message.parts.${index}`, message: 'must be one of text, data' }]);
  if (content === 'raw' || content === 'url') throw new A2aFault('CONTENT_TYPE_NOT_SUPPORTED');
  const type = part.mediaType ?? '';
  const expected = content === 'data' ? JSON_TYPE : 'text/plain';
  if (type !== '' && (typeof type !== 'string' || mediaOf(type) !== expected))
    throw new A2aFault('CONTENT_TYPE_NOT_SUPPORTED');
  if (content === 'text' && typeof part.text !== 'string')
    throw invalid([{ path: `message.parts.${index}.text`, message: 'must be a string' }]);
  return content === 'data' ? [part.data] : [];
}

const mediaOf = (type: string) => type.split(';')[0]?.trim().toLowerCase();

function parsed<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalid(toIssues(result.error));
}

const invalid = (issues: readonly Issue[]) => new A2aFault('INVALID_PARAMS', undefined, issues);
