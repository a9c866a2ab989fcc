import { z } from 'zod';
import { Cursor, Uuid } from '../http/schemas.ts';

export const id = Uuid.describe('A UUID, as the lists give it');

export const paging = {
  cursor: Cursor.optional().describe('next_cursor of the page before'),
  limit: z.int().min(1).max(50).default(20),
};

/** For bodies that are longer than a model wants to read at once: characters are code points. */
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

export function windowOf(
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
