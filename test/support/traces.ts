import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** The forms in which a text may appear: plain, hex, percent-encoded, JSON-escaped, base64. */
function encodedForms(text: string): string[] {
  const bytes = Buffer.from(text);
  const hex = bytes.toString('hex');
  const escapes = [...Array(text.length).keys()].map(
    (index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`,
  );
  const json = JSON.stringify(text).slice(1, -1);
  // Inside a longer text, base64 has three alignments. For each, keep only the characters that do
  // not depend on the text before and after.
  const base64 = [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    return encoded.replace(/=+$/, '').slice(shift === 0 ? 0 : shift + 1, -1);
  });
  return [
    text,
    json,
    json.replace(/[^ -~]/g, (mark) => escapes[text.indexOf(mark)] ?? mark),
    escapes.join(''),
    hex,
    encodeURIComponent(text),
    hex.replace(/../g, '%$&'),
    ...base64,
    ...base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
  ];
}

/** The forms of each text, and of its words of 12 or more characters that quoting never changes. */
function searchedForms(texts: readonly string[]): string[] {
  const words = texts.flatMap((text) => text.match(/[0-9a-z_]{12,}/g) ?? []);
  return [...texts, ...words].flatMap(encodedForms);
}

function containsAny(place: string, forms: readonly string[]): boolean {
  const lower = place.toLowerCase();
  return forms.some((form) => place.includes(form) || lower.includes(form.toLowerCase()));
}

/** Returns where any of the texts occurs, in every table and in the statistics of ANALYZE. */
export async function tracesInTables(pool: pg.Pool, texts: readonly string[]): Promise<string[]> {
  const forms = searchedForms(texts);
  await pool.query('ANALYZE');
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname NOT IN ('information_schema', 'pg_catalog')
       -- A partitioned table shows the rows of its partitions.
       AND NOT (SELECT relispartition FROM pg_class
         WHERE oid = format('%I.%I', schemaname, tablename)::regclass)
     UNION ALL VALUES ('pg_catalog.pg_stats'), ('pg_catalog.pg_statistic_ext_data')`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await pool.query<{ line: string }>(`SELECT t::text AS line FROM ${name} t`);
    for (const { line } of rows) if (containsAny(line, forms)) found.push(`${name}: ${line}`);
  }
  return found;
}

/** Like `tracesInTables`, in the files of tables, indexes and TOAST tables, after a VACUUM. */
export async function tracesInFiles(pool: pg.Pool, texts: readonly string[]): Promise<string[]> {
  // VACUUM keeps rows that an open transaction can still see, so retry.
  for (let attempt = 0; attempt < 20; attempt++) {
    const found = await tracesAfterVacuum(pool, texts);
    if (found.length === 0) return found;
    await sleep(250);
  }
  return tracesAfterVacuum(pool, texts);
}

async function tracesAfterVacuum(pool: pg.Pool, texts: readonly string[]): Promise<string[]> {
  await pool.query('VACUUM (FULL)');
  await pool.query('CHECKPOINT');
  const { rows: relations } = await pool.query<{ name: string }>(
    `SELECT oid::regclass::text AS name FROM pg_class
     WHERE relkind IN ('r', 'i', 't', 'm') AND pg_relation_size(oid) > 0 AND relisshared = false`,
  );
  const forms = searchedForms(texts).map((form) => Buffer.from(form));
  const found: string[] = [];
  for (const { name } of relations) {
    const { rows } = await pool.query<{ bytes: Buffer }>(
      'SELECT pg_read_binary_file(pg_relation_filepath($1::regclass)) AS bytes',
      [name],
    );
    if (forms.some((form) => rows[0]?.bytes.includes(form))) found.push(name);
  }
  return found;
}
