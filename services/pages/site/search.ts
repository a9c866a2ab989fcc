import type pg from 'pg';
import { issuesOf } from '../../../platform/http/issues.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Reader } from '../../../platform/http/reader.ts';
import { findWords, parseQuery } from '../../../platform/words.ts';
import type { Page } from '../view.ts';
import { address } from './lists.ts';
import { findPeople, readBody } from './page-reads.ts';

const PER_PAGE = 30;

interface Asked {
  q?: string | undefined;
  type?: string | undefined;
  cursor?: string | undefined;
}

/** The search form, with its results once there are words. Words that are refused get the reason. */
export async function searchPage(
  reader: Reader,
  pool: pg.Pool,
  { q = '', type, cursor }: Asked,
): Promise<Page> {
  const words = q.trim();
  const filter = { q: words, type: type || undefined };
  const head = {
    title: words ? `Search: ${words}` : 'Search',
    description: 'Search of notes, members, context packets and cases.',
    path: address('/search', { ...filter, cursor }),
    section: 'search' as const,
    hidden: true as const,
  };
  const form = {
    kind: 'search' as const,
    words,
    of: filter.type,
    results: undefined,
    people: {},
    count: 0,
    complete: true,
  };
  if (!words && cursor !== undefined) throw new Problem('invalid_cursor');
  if (!words) return { head, view: form };
  const found = await find(reader, { ...filter, cursor });
  if ('problem' in found) return { head, view: { ...form, ...found } };
  const { results, next_cursor, count, complete } = found;
  const next = next_cursor ? address('/search', { ...filter, cursor: next_cursor }) : undefined;
  const people = await findPeople(
    pool,
    results.flatMap(({ kind, id }) => (kind === 'member' ? [id] : [])),
  );
  return {
    head: { ...head, older: next },
    view: {
      ...form,
      results: results.map((one) => ({ ...one, titleMarks: titleMarks(one, words) })),
      count,
      complete,
      people,
      older: next,
    },
  };
}

async function find(reader: Reader, asked: Asked) {
  try {
    return await readBody(reader, 'search.public', {
      query: { ...asked, limit: PER_PAGE },
    });
  } catch (error) {
    const [issue] = error instanceof Problem ? issuesOf(error.details) : [];
    if (issue?.path !== 'q') throw error;
    return { problem: `The words ${issue.message}.` };
  }
}

/** The hits in a title, start and length in code points. The name of a note's author is not searched. */
function titleMarks({ kind, title }: { kind: string; title: string }, words: string): number[][] {
  if (kind === 'note') return [];
  const count = (text: string) => [...text].length;
  return findWords(title, parseQuery(words)).map(([start, end]) => [
    count(title.slice(0, start)),
    count(title.slice(start, end)),
  ]);
}
