import { EXPERIENCES, type Experience } from '../../domain/guestbook/words.ts';
import type { Operations } from '../../platform/http/invoke.ts';
import { Problem } from '../../platform/http/problems.ts';
import { createReader, type Json } from '../../platform/http/reader.ts';
import type { Note } from '../../services/guestbook/contract.ts';

/** A public note, and its public replies, as they are read. */
export interface PublicThread {
  note: Note;
  /** The newest approval first. */
  replies(): AsyncGenerator<Note>;
}

/**
 * Reads everything that is public, through the operations of the public API as an anonymous caller: each record
 * has the form of the API, and is public at the time when it is read. One page at a time is in memory.
 */
export function createPublicRecords(operations: Operations) {
  const ending = new AbortController();
  const reader = createReader(operations, {
    ...{ id: 'export-public', address: '', cookie: undefined, authorization: undefined },
    ...{ ifNoneMatch: undefined, lastEventId: undefined, idempotencyKey: undefined },
    gone: () => ending.signal,
  });

  async function* notesOf(experience: Experience, parent_id?: string): AsyncGenerator<Note> {
    let before: string | undefined;
    do {
      const query = { experience, parent_id, before };
      const reply = await ifPublic(reader.reply('guestbook.read', { query }));
      if (!reply) return;
      const page = JSON.parse(Buffer.from(reply.content?.bytes ?? '').toString());
      yield* page.entries as Note[];
      before = cursorIn(reply.headers?.link);
    } while (before);
  }

  /** The records of a list, each read by its id; those that ceased to be public meanwhile are left out. */
  async function* records(
    list: { operation: string; items: string },
    one: (id: string) => Promise<Json>,
  ): AsyncGenerator<Json> {
    let cursor: string | undefined;
    do {
      const page = await reader.read(list.operation, { query: { limit: 100, cursor } });
      for (const { id } of page[list.items] as { id: string }[]) {
        const { status: _, ...record } = (await ifPublic(one(id))) ?? {};
        if (Object.keys(record).length > 0) yield record;
      }
      cursor = (page.next_cursor as string | null) ?? undefined;
    } while (cursor);
  }

  const read = (operation: string, name: string) => (id: string) =>
    reader.read(operation, { params: { [name]: id } });
  return {
    experiences: EXPERIENCES,
    async *threads(experience: Experience): AsyncGenerator<PublicThread> {
      for await (const note of notesOf(experience))
        yield { note, replies: () => notesOf(experience, note.id) };
    },
    packets: () =>
      records(
        { operation: 'artifacts.list', items: 'artifacts' },
        read('artifacts.get', 'artifact_id'),
      ),
    profiles: () =>
      records({ operation: 'agents.list', items: 'agents' }, read('agents.get', 'member_id')),
    cases: () => records({ operation: 'case.list', items: 'cases' }, read('case.read', 'case_id')),
  };
}

export type PublicRecords = ReturnType<typeof createPublicRecords>;

const NOT_PUBLIC: readonly Problem['code'][] = ['not_found', 'gone', 'reply_target_missing'];

/** The answer, unless the record is not public, or is not any more. */
async function ifPublic<Answer>(reading: Promise<Answer>): Promise<Answer | null> {
  return reading.catch((error: unknown) => {
    if (error instanceof Problem && NOT_PUBLIC.includes(error.code)) return null;
    throw error;
  });
}

/** The `before` parameter of the next page in a Link header. */
function cursorIn(link: string | undefined): string | undefined {
  const address = /^<([^>]+)>; rel="next"$/.exec(link ?? '')?.[1];
  return new URL(address ?? '/', 'http://localhost').searchParams.get('before') ?? undefined;
}
