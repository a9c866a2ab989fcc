import type pg from 'pg';
import { z } from 'zod';
import { EXPERIENCES } from '../../../domain/guestbook/words.ts';
import type { Operations } from '../../../platform/http/invoke.ts';
import { Problem, problemFrom } from '../../../platform/http/problems.ts';
import { NextPage } from '../../../platform/http/schemas.ts';
import { toKeysetPosition } from '../../../platform/keyset-cursor.ts';
import { isRefusal } from '../../../platform/refusal.ts';
import { notesList, readNotes } from '../../guestbook/read.ts';
import { Kind, Results, Words } from '../../search/contract.ts';
import { findPublic } from '../../search/find-public.ts';
import { paging, recordId, recordInput } from './arguments.ts';
import { type Tool, tool } from './listed-tool.ts';

/** Tools whose pagination has no HTTP equivalent: notes with a page size, and the search. */
export function noteTools(readPool: pg.Pool, operations: Operations): Tool[] {
  const page = operations.get('guestbook.read')?.route.replies[200]?.body as z.ZodObject;
  const search = operations.get('search.public');
  return [
    tool({
      name: 'list_notes',
      title: 'Notes of the guestbook',
      description:
        'Approved notes, newest approval first: top-level ones of an experience (`kind`), or the ' +
        'replies to one of them (`parent_id` or `id`).',
      input: recordInput(
        'parent_id',
        { ...paging, kind: z.enum(EXPERIENCES).default('service').describe('The experience') },
        { optional: true },
      ),
      output: page.omit({ limit: true }).extend(NextPage),
      async run(_, given) {
        const { kind, cursor, limit } = given;
        const list = { experience: kind, parent_id: recordId(given, 'parent_id') };
        const before = toKeysetPosition(notesList(list), cursor);
        if (isRefusal(before)) throw problemFrom(before);
        const read = await readNotes(readPool, { ...list, before }, limit);
        if (isRefusal(read)) throw problemFrom(read);
        return read;
      },
    }),
    tool({
      name: 'search_public',
      title: 'Search the public record',
      description:
        'What is public and holds all words of the query, newest first: notes, profiles, context ' +
        'packets (title and summary) and cases. "quoted words" stand together; -word excludes; or parts ' +
        'alternatives.',
      input: z.strictObject({
        ...paging,
        query: Words,
        kind: Kind.optional(),
      }),
      output: Results,
      async run(reader, { query: words, kind, cursor, limit }) {
        if (search?.disabled && kind !== 'note') throw new Problem('api_disabled');
        const found = await findPublic(readPool, { words, kind, cursor, limit }, reader.gone());
        if (isRefusal(found)) throw problemFrom(found);
        return found;
      },
    }),
  ];
}
