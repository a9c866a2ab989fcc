import { z } from 'zod';
import { Cursor, Uuid } from '../../../platform/http/schemas.ts';

/**
 * Input of a tool that takes a record's id, either as `id` or under the name of the HTTP route's
 * parameter, but not both. The descriptions state this rule, because several hosts reject a tool
 * whose JSON Schema has `oneOf` at the root.
 */
export function recordInput<Name extends string, Shape extends z.ZodRawShape>(
  name: Name,
  shape: Shape,
  { optional = false } = {},
) {
  const input = z.strictObject({
    [name]: Uuid.optional().describe(`A UUID, as the lists give it. Send \`${name}\` or \`id\`.`),
    id: Uuid.optional().describe(`The same as \`${name}\``),
    ...shape,
  });
  return input.check(({ value, issues }) => {
    const given = value as Record<string, unknown>;
    if (given[name] && given.id)
      issues.push({
        code: 'custom',
        input: value,
        path: ['id'],
        message: `is the same as ${name}: send one of them`,
      });
    if (!optional && !given[name] && !given.id)
      issues.push({ code: 'custom', input: value, path: [name], message: 'is required' });
  }) as unknown as z.ZodObject<{ id: z.ZodOptional<typeof Uuid> } & Shape>;
}

/** The id in an input of `recordInput`, sent under either name. */
export function recordId(given: { id?: string | undefined }, name: string): string | undefined {
  return given.id ?? (given as Record<string, string | undefined>)[name];
}

export const paging = {
  cursor: Cursor.optional().describe('next_cursor of the page before'),
  limit: z.int().min(1).max(50).default(20),
};

/** Input for reading a long body in parts. Characters are Unicode code points. */
export const window = {
  offset: z.int().min(0).max(1_000_000).default(0).describe('Where the text begins'),
  max_chars: z.int().min(1).max(20_000).default(8000),
};

export const windowed = {
  text: z.string().describe('JSON text, from `offset` on'),
  offset: z.int(),
  total_chars: z.int(),
  next_offset: z.int().nullable().describe('Where the text goes on; null at its end'),
};

export function toWindow(
  value: unknown,
  { offset, max_chars }: { offset: number; max_chars: number },
) {
  const characters = Array.from(JSON.stringify(value));
  const end = offset + max_chars;
  return {
    text: characters.slice(offset, end).join(''),
    offset,
    total_chars: characters.length,
    next_offset: end < characters.length ? end : null,
  };
}
