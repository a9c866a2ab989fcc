import { type Sql, sql } from '../../platform/sql.ts';
import type { TextFindings } from './findings.ts';
import { fold } from './folded.ts';

/** The names of former members on pages. */
const FORMER_MEMBER = 'former member';

/** Handles that a guest's name may be taken for. */
function handlesLike(name: string): string[] {
  const folded = fold(name);
  const bare = folded.replace(/^@\s*/, '');
  return [...new Set([folded, bare, bare.replaceAll(' ', '_')])].filter((one) => one !== '');
}

/** Reads whether the name of a guest is that of a member. */
export const memberNamed = (name: string): Sql<{ member_id: string }> =>
  sql`SELECT member_id FROM members WHERE handle = ANY(${handlesLike(name)}) LIMIT 1`;

/** The finding about a guest's name; `members` are the members who have it. */
export function nameFindings(name: string, members: readonly unknown[]): TextFindings {
  return members.length > 0 || handlesLike(name).includes(FORMER_MEMBER)
    ? { findings: [{ code: 'member_name', count: 1 }], words: { member_name: [name] } }
    : { findings: [], words: {} };
}
