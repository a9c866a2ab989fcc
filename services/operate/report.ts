/** A figure of the report, as programs and people read it. */
export type Figure =
  | null
  | string
  | number
  | boolean
  | Date
  /** An estimate of PostgreSQL's statistics. */
  | { about: number }
  /** Counted no further than a limit; `more`: there are more than `count`. */
  | { count: number; more: boolean }
  /** A number that is not a quantity. */
  | { id: number }
  | { bytes: number }
  | { seconds: number };

/** A figure with its name in JSON and its label on the page. */
export type Fact = readonly [name: string, label: string, figure: Figure];

export interface Table {
  name: string;
  title: string;
  columns: readonly (readonly [name: string, label: string])[];
  rows: readonly (readonly Figure[])[];
}

export interface Section {
  name: string;
  title: string;
  facts?: readonly Fact[];
  tables?: readonly Table[];
  /** What deserves a look, one sentence each. */
  warnings?: readonly string[];
  /** What an operator can do or should know about the section. */
  hints?: readonly string[];
  /** Why the section could not be read; it then has nothing else. */
  unread?: string;
}

/** What an operator sees of a service: figures alone, never a text that a caller has chosen. */
export interface Report {
  at: Date;
  process: string;
  sections: readonly Section[];
}

/** A count of a read that counts one row more than `limit`. */
export const counted = (count: number, limit: number): Figure => ({
  count: Math.min(count, limit),
  more: count > limit,
});

const toJson = (figure: Figure): unknown => {
  if (figure === null || typeof figure !== 'object' || figure instanceof Date) return figure;
  if ('id' in figure) return figure.id;
  if ('bytes' in figure) return figure.bytes;
  if ('seconds' in figure) return figure.seconds;
  return figure;
};

/** The report as JSON: an object for each section, with a list of objects for each table. */
export function reportJson({ at, process, sections }: Report): Record<string, unknown> {
  const bodies = sections.map((section) => {
    const { name, facts = [], tables = [], unread } = section;
    if (unread !== undefined) return [name, { unread }] as const;
    const lists = tables.map((table) => [
      table.name,
      table.rows.map((row) =>
        Object.fromEntries(table.columns.map(([key], index) => [key, toJson(row[index] ?? null)])),
      ),
    ]);
    const figures = facts.map(([key, , figure]) => [key, toJson(figure)]);
    return [name, Object.fromEntries([...figures, ...lists])] as const;
  });
  const warnings = sections.flatMap(({ name, warnings: texts = [] }) =>
    texts.map((text) => ({ section: name, text })),
  );
  return { at, seen_by: process, warnings, ...Object.fromEntries(bodies) };
}
