import { FilterText, Text, UUID_V4 } from '../../../platform/http/schemas.ts';
import { join, markup, type Part } from '../../../platform/markup.ts';
import type { Schema } from './document-shape.ts';

/** What the patterns of the schemas mean. */
const PATTERN_WORDS = new Map<string | undefined, string>([
  ['^[0-9a-f]{64}$', '64 lowercase hexadecimal digits'],
  ['^[a-z][a-z0-9_]{2,23}$', '3 to 24 of a-z, 0-9 and _, starting with a letter'],
  ['^.{19}\\.\\d{3}Z$', 'with milliseconds'],
  [patternOf(Text(0, 1)), 'no control characters'],
  [patternOf(Text(1, 1)), 'at least one visible character, no control characters'],
  [patternOf(FilterText(1)), 'not only white space, no control characters'],
]);

function patternOf(text: ReturnType<typeof Text>): string | undefined {
  return text.meta()?.pattern as string | undefined;
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'UUID',
  'date-time': 'time (ISO 8601, UTC)',
  date: 'date',
  uri: 'https URL',
};

/** Longer patterns are hard to read; the page refers to the document instead. */
const MAX_PATTERN_LENGTH = 60;

/** The type and limits of a string, such as "string, 1 to 160 characters". */
export function stringText({ format, pattern, minLength, maxLength }: Schema): Part {
  if (pattern === UUID_V4.source) return 'UUID, version 4';
  const words = PATTERN_WORDS.get(pattern);
  const shown =
    words ??
    (pattern === undefined || format === 'uri'
      ? undefined
      : pattern.length > MAX_PATTERN_LENGTH
        ? markup`see its pattern in <a href="/openapi.json">openapi.json</a>`
        : markup`pattern <code>${pattern}</code>`);
  return listed(
    FORMATS[format ?? ''] ?? 'string',
    range(minLength || undefined, maxLength, 'character'),
    shown,
  );
}

/** The type and limits of a number, such as "integer, 1 to 100". */
export function numberText(type: string, { minimum, maximum }: Schema): Part {
  return listed(type, range(minimum, maximum));
}

/** "list of 1 to 12 different items, each: ", or "list of ". */
export function listText({ minItems, maxItems, uniqueItems }: Schema): string {
  const noun = uniqueItems ? 'different item' : 'item';
  const limits = range(minItems || undefined, maxItems, noun);
  if (limits) return `list of ${limits}, each: `;
  return uniqueItems ? 'list without repeats of ' : 'list of ';
}

export function range(min?: number, max?: number, noun?: string): string | undefined {
  const plural = noun === undefined ? '' : ` ${noun}${(max ?? min) === 1 ? '' : 's'}`;
  if (min !== undefined && min === max) return `exactly ${min}${plural}`;
  if (min !== undefined && max !== undefined) return `${min} to ${max}${plural}`;
  if (max !== undefined) return `at most ${max}${plural}`;
  return min === undefined ? undefined : `at least ${min}${plural}`;
}

const listed = (...parts: readonly (Part | undefined)[]): Part =>
  join(
    parts.filter((part) => part !== undefined),
    ', ',
  );
