import { named, type Sql } from '../../platform/sql.ts';
import { toVector } from '../../platform/word-vector.ts';

/** A table whose rows have words, and the texts that these come from. */
interface SplitTable {
  id: string;
  /** Null once the texts are erased. */
  text: string;
  texts: string;
}

const TABLES = {
  notes: { id: 'note_id', text: 'message', texts: 'ARRAY[message]' },
  profiles: {
    id: 'member_id',
    text: 'display_name',
    texts: 'ARRAY[display_name, summary]',
  },
  artifacts: {
    id: 'artifact_id',
    text: 'title',
    texts: `ARRAY[title, packet->>'summary']`,
  },
  cases: { id: 'case_id', text: 'title', texts: 'ARRAY[title, summary, objective]' },
} as const satisfies Record<string, SplitTable>;

export type SplitTableName = keyof typeof TABLES;
export const SPLIT_TABLES = Object.keys(TABLES) as SplitTableName[];

/** Whether a process of an earlier release wrote the text, or erased it. As in the schema. */
export const isUnsplit = (table: string): string =>
  `(words IS NULL) <> (${TABLES[table as SplitTableName].text} IS NULL)`;

export interface UnsplitRow {
  id: string;
  version: number;
  texts: (string | null)[];
}

/** Reads rows whose words do not belong to their texts. */
export function unsplitRows(table: SplitTableName, limit: number): Sql<UnsplitRow> {
  const { id, texts } = TABLES[table];
  return named(
    `SELECT ${id} AS id, version, ${texts} AS texts FROM ${table}
      WHERE ${isUnsplit(table)} ORDER BY ${id} LIMIT $1`,
    [limit],
  );
}

/** Writes the words of rows, unless their texts were changed or erased meanwhile. */
export function splitRows(table: SplitTableName, rows: readonly UnsplitRow[]): Sql {
  const { id, text } = TABLES[table];
  return named(
    `UPDATE ${table} t SET words = CASE WHEN ${text} IS NOT NULL THEN given.words::tsvector END
      FROM unnest($1::uuid[], $2::int[], $3::text[]) AS given (id, version, words)
      WHERE t.${id} = given.id AND t.version = given.version AND ${isUnsplit(table).replaceAll('words', 't.words')}
      RETURNING 1`,
    [
      rows.map((row) => row.id),
      rows.map((row) => row.version),
      rows.map((row) => toVector(row.texts)),
    ],
  );
}
