import { z } from 'zod';
import { hasVisibleText } from '../visible-text.ts';

export const UUID_V4 =
  /^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-4[0-9A-Fa-f]{3}-[89aAbB][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$/;

/** A UUIDv4 in either case, converted to lowercase. */
export const Uuid = z
  .string()
  .regex(UUID_V4, 'must be a UUIDv4')
  .toLowerCase()
  .meta({ format: 'uuid' });

/** The idempotency key that a client chooses for an operation. */
export const IdempotencyKey = z
  .string()
  .regex(UUID_V4, 'must be a UUIDv4')
  .meta({ format: 'uuid' });

/** A UUID of any version that the server created. */
export const AnyUuid = z.uuid();

/** A server-created UUID that a client sends back: in either case, converted to lowercase. */
export const GivenUuid = z.uuid().toLowerCase();

export const Handle = z
  .string()
  .regex(/^[a-z][a-z0-9_]{2,23}$/, 'must be 3 to 24 of a-z, 0-9 and _, starting with a letter')
  .meta({ examples: ['ada_lovelace'] });

/** 64 lowercase hex characters: a key, a secret, or a SHA-256. */
const HEX_64 = /^[0-9a-f]{64}$/;

export const Key = z.string().regex(HEX_64, 'must be 64 lowercase hex characters');

export const Sha256 = z
  .string()
  .regex(HEX_64, 'must be 64 lowercase hex characters')
  .meta({ examples: ['c0'.repeat(32)] });

/** Integer Unix seconds, up to the end of the year 9999. */
export const UnixSeconds = z
  .int()
  .min(0)
  .max(253_402_300_799)
  .meta({ examples: [1_789_000_000] });

/** ISO 8601 UTC with milliseconds. */
export const Timestamp = z.iso
  .datetime({
    precision: 3,
    error: 'must be a time in UTC with milliseconds, such as 2026-09-12T08:30:00.000Z',
  })
  .meta({ examples: ['2026-09-12T08:30:00.000Z'] });

// Patterns for the OpenAPI document, in the syntax of every regular-expression dialect. TEXT
// accepts the characters of a strict JSON string, NOT_BLANK requires one that is no white space,
// and VISIBLE one that renders something. VISIBLE accepts more than `hasVisibleText`, never less,
// because a dialect without Unicode properties cannot name every invisible character of the Basic
// Multilingual Plane.
const CONTROL = '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f';
const WHITE_SPACE =
  '\\u0009\\u000a\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const INVISIBLE =
  '\\u00ad\\u0300-\\u036f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u1ab0-\\u1aff\\u1dc0-\\u1dff' +
  '\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u20d0-\\u20ff\\u2800\\u3164\\ue000-\\uf8ff\\ufe00-\\ufe0f' +
  '\\ufe20-\\ufe2f\\ufeff\\uffa0\\ufff0-\\ufffc';
const CHARACTER = `[^${CONTROL}]`;
const textWith = (required: string) => `^${CHARACTER}*${required}${CHARACTER}*$`;
const TEXT = `^${CHARACTER}*$`;
const NOT_BLANK = textWith(`[^${CONTROL}${WHITE_SPACE}]`);
const VISIBLE = textWith(`[^${CONTROL}${WHITE_SPACE}${INVISIBLE}]`);
const PLAIN = new RegExp(TEXT);

/** Refuses control characters, which strict JSON refuses earlier but a query does not. */
const plainText = (max: number) =>
  z
    .string()
    .refine((text) => PLAIN.test(text), 'must not have control characters')
    .refine((text) => codePoints(text) <= max, `must have at most ${max} characters`);

/** Text of at most `max` code points. A `min` of 1 requires a visible character. */
export function Text(min: 0 | 1, max: number) {
  return plainText(max)
    .refine((text) => min === 0 || hasVisibleText(text), 'must have a visible character')
    .meta({ minLength: min, maxLength: max, pattern: min === 0 ? TEXT : VISIBLE });
}

/**
 * A filter of at most `max` code points, which may consist of invisible characters but not of white
 * space alone.
 */
export function FilterText(max: number) {
  return plainText(max)
    .refine((text) => /\P{White_Space}/u.test(text), 'must not be empty')
    .meta({ minLength: 1, maxLength: max, pattern: NOT_BLANK });
}

/** Length in code points, as a reader counts characters. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

export const StatusReply = z
  .object({ status: z.string(), id: z.string().optional(), expires_at: UnixSeconds.optional() })
  .meta({ id: 'StatusReply' });

/** The body of an operation that takes no fields. */
export const EmptyBody = z.strictObject({}).meta({ id: 'EmptyBody' });

/** The receipt of a mutation. It is kept permanently, and an exact retry returns it again. */
export const ReceiptBody = z
  .object({
    operation_id: Uuid,
    operation: z.string(),
    member_id: AnyUuid,
    recorded_at: Timestamp,
    body_hash: Sha256,
    event_ids: z.array(AnyUuid),
  })
  .meta({ id: 'Receipt' });
export type ReceiptBody = z.infer<typeof ReceiptBody>;

/** Converts a time to Unix seconds, rounded down. */
export const unixSeconds = (time: Date): number => Math.floor(time.getTime() / 1000);

/** The OpenAPI schema of an integer that a query has as text: a `pattern` is for strings only. */
export const asInteger = (schema: { minimum: number; maximum: number; default?: number }) => ({
  override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
    delete jsonSchema.pattern;
    Object.assign(jsonSchema, { type: 'integer', ...schema });
  },
});

/** `limit` of a list as a query parameter: 1 to 100, 50 by default. */
export const Limit = z
  .string()
  .regex(/^(?:[1-9]\d?|100)$/, 'must be an integer from 1 to 100')
  .transform(Number)
  .default(50)
  .meta(asInteger({ minimum: 1, maximum: 100, default: 50 }));

const MAX_IDS = 50;
const ONE_ID = '[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}';
const IDS = `^${ONE_ID}(?:,${ONE_ID}){0,${MAX_IDS - 1}}$`;

/** `ids` of a list as a query parameter: only these records, in the order of the list. */
export const Ids = z
  .string()
  .regex(new RegExp(IDS), `must be 1 to ${MAX_IDS} UUIDs, separated by commas`)
  .transform((list) => list.toLowerCase().split(','))
  .optional()
  .meta({
    override: { type: 'string', pattern: IDS },
    description: `Only these records, if they are public: 1 to ${MAX_IDS} ids, separated by commas`,
  });

/** An opaque position in a list. The list itself refuses an invalid one, with `invalid_cursor`. */
export const Cursor = z.string().meta({ maxLength: 1000, pattern: '^[A-Za-z0-9_.-]+$' });

/** The fields of a page of a list that lead to the next page. HTTP also sends them as `Link`. */
export const NextPage = { next_cursor: z.string().nullable(), has_more: z.boolean() };

/** Any string of strict JSON. */
export const PlainText = z.string().meta({ pattern: TEXT });

/** For the `meta` of an object whose member names the caller chooses. */
export const PLAIN_NAMES = { propertyNames: { type: 'string', pattern: TEXT } };

/**
 * Any value of strict JSON. The OpenAPI document leaves it open, because code generators fail on
 * recursive unions.
 */
export const Json: z.ZodType = z
  .lazy(() =>
    z.union([
      PlainText,
      z.number(),
      z.boolean(),
      z.null(),
      z.array(Json),
      z.record(PlainText, Json),
    ]),
  )
  .meta({
    id: 'AnyValue',
    description: 'Any JSON value. Strings hold no control characters but tab and line feed.',
    override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
      delete jsonSchema.anyOf;
    },
  });
