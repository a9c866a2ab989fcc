import type { AuthorRecord, Script, View } from '../../../domain/moderation/words.ts';
import type { Filters } from './queue.ts';

/** Adds a value to a statement, and returns its SQL. */
export type Value = (given: unknown, type: string) => string;

/** Whether notes can fit the filters. */
export const hasNotes = ({ type }: Filters): boolean => type === undefined || type === 'note';

/** Whether a view's records or memberships can fit the filters, some of which apply to notes only. */
export function hasRecords(view: View, filters: Filters): boolean {
  const { q, finding, same_address_as, like, experience, script, author_record, type } = filters;
  const ofNotes = q ?? finding ?? same_address_as ?? like ?? experience ?? script ?? author_record;
  if (ofNotes !== undefined || type === 'note') return false;
  const ofDecided = filters.policy ?? filters.decided_by ?? filters.state;
  return ofDecided === undefined || view === 'decided';
}

/** The conditions on a note `n` that are checked on each scanned row; each is bounded by itself. */
export function noteConditions(
  { experience, reason, policy, decided_by, state, script, author_record }: Filters,
  value: Value,
): string[] {
  const conditions: string[] = [];
  if (experience !== undefined) conditions.push(`n.experience = ${value(experience, 'text')}`);
  // Scalar subqueries with a limit: for EXISTS the planner may hash a whole table.
  if (reason !== undefined)
    conditions.push(`(SELECT true FROM note_reports r WHERE r.note_id = n.note_id
      AND r.state = 'open' AND r.reason = ${value(reason, 'text')} LIMIT 1)`);
  if (policy !== undefined)
    conditions.push(`n.state IN ('rejected', 'removed') AND (
      SELECT d.policy FROM note_decisions d WHERE d.note_id = n.note_id AND d.undone_at IS NULL
        AND d.decision IN ('rejected', 'removed') ORDER BY d.decided_at DESC LIMIT 1)
      = ${value(policy, 'text')}`);
  if (decided_by !== undefined) conditions.push(`n.settled_by = ${value(decided_by, 'uuid')}`);
  if (state !== undefined) conditions.push(`n.state = ${value(state, 'text')}`);
  if (script !== undefined) conditions.push(inScript(script, value));
  if (author_record !== undefined) conditions.push(RECORDS[author_record]);
  return conditions;
}

/** How many of an author's newest decided notes make the record. */
const RECORD_NOTES = 20;

const newestDecided = `SELECT o.state FROM notes o WHERE o.member_id = n.member_id
  AND o.state IN ('approved', 'rejected', 'removed') ORDER BY o.settled_at DESC LIMIT ${RECORD_NOTES}`;

const someDecided = (condition: string): string =>
  `(SELECT true FROM (${newestDecided}) newest WHERE ${condition} LIMIT 1)`;

const APPROVED = someDecided(`state = 'approved'`);
const REFUSED = someDecided(`state <> 'approved'`);

const RECORDS: Readonly<Record<AuthorRecord, string>> = {
  guest: 'n.member_id IS NULL',
  new: `n.member_id IS NOT NULL AND ${APPROVED} IS NULL`,
  clean: `n.member_id IS NOT NULL AND ${APPROVED} AND ${REFUSED} IS NULL`,
  mixed: `n.member_id IS NOT NULL AND ${REFUSED}`,
};

/** The characters of each script, as ranges of a regular expression. */
const LETTERS: Readonly<Record<Exclude<Script, 'japanese'> | 'kana', string>> = {
  latin: 'A-Za-z\\u00c0-\\u024f\\u1e00-\\u1eff',
  cyrillic: '\\u0400-\\u052f',
  greek: '\\u0370-\\u03ff\\u1f00-\\u1fff',
  hebrew: '\\u0590-\\u05ff',
  arabic: '\\u0600-\\u06ff\\u0750-\\u077f',
  devanagari: '\\u0900-\\u097f',
  thai: '\\u0e00-\\u0e7f',
  hangul: '\\u1100-\\u11ff\\uac00-\\ud7af',
  kana: '\\u3040-\\u30ff',
  han: '\\u3400-\\u4dbf\\u4e00-\\u9fff',
};

/** Which characters count for a script, and which must or must not be among them. */
function lettersOf(script: Script): { own: string; kana?: boolean } {
  if (script === 'japanese') return { own: LETTERS.kana + LETTERS.han, kana: true };
  if (script === 'han') return { own: LETTERS.han, kana: false };
  return { own: LETTERS[script] };
}

const SAMPLE = 'left(n.message, 300)';

/** As in platform/language.ts, the beginning decides, and most of at least two letters. */
function inScript(script: Script, value: Value): string {
  const { own, kana } = lettersOf(script);
  const count = (letters: string) => `regexp_count(${SAMPLE}, ${value(`[${letters}]`, 'text')})`;
  const found = count(own);
  const conditions = [`${found} >= 2`, `2 * ${found} > ${count(Object.values(LETTERS).join(''))}`];
  if (kana !== undefined)
    conditions.push(`${SAMPLE} ${kana ? '~' : '!~'} ${value(`[${LETTERS.kana}]`, 'text')}`);
  return `(${conditions.join(' AND ')})`;
}
