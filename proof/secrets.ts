import { accessSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';

/** Bytes per search window; every form of a secret is at least twice as long. */
const WINDOW = 15;

/**
 * The forms in which a key of 64 hex digits may appear, as latin1: (1) hex in lower or upper case,
 * (2) its 32 raw bytes, (3) the bytes or the digits in base64, at each alignment, (4) the same in
 * base64url, (5) the digits escaped: percent, JSON, or hex again.
 */
export function encodedForms(secret: string): string[] {
  const bytes = [Buffer.from(secret, 'hex'), Buffer.from(secret)];
  // Keep only the characters that do not depend on the bytes before and after the secret.
  const base64 = bytes.flatMap((raw) =>
    [0, 1, 2].map((shift) =>
      Buffer.concat([Buffer.alloc(shift), raw])
        .toString('base64')
        .replace(/=+$/, '')
        .slice(shift === 0 ? 0 : shift + 1, -1),
    ),
  );
  const codes = [...secret].map((digit) => digit.charCodeAt(0).toString(16));
  const url = base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'));
  return [
    ...new Set([
      secret,
      secret.toUpperCase(),
      bytes[0]?.toString('latin1') ?? '',
      ...base64,
      ...url,
      codes.map((code) => `%${code}`).join(''),
      codes.map((code) => `\\u00${code}`).join(''),
      codes.join(''),
    ]),
  ];
}

/**
 * Searches for any form of many secrets in one pass. Every form is at least two windows long, so it
 * covers a whole window that starts at a multiple of the window's length; only those are looked up.
 */
export function finder(secrets: Iterable<string>): (bytes: Buffer) => string | undefined {
  const windows = new Map<string, { secret: string; form: string; at: number }[]>();
  for (const secret of secrets)
    for (const form of encodedForms(secret))
      for (let at = 0; at < WINDOW; at++) {
        const window = form.slice(at, at + WINDOW);
        const known = windows.get(window);
        if (known) known.push({ secret, form, at });
        else windows.set(window, [{ secret, form, at }]);
      }
  return (bytes) => {
    for (let place = 0; place + WINDOW <= bytes.length; place += WINDOW) {
      const hits = windows.get(bytes.toString('latin1', place, place + WINDOW)) ?? [];
      for (const { form, at, secret } of hits) {
        const from = place - at;
        if (from >= 0 && bytes.toString('latin1', from, from + form.length) === form) return secret;
      }
    }
    return undefined;
  };
}

/** Returns undefined if the file is gone: PostgreSQL removes and renames files at any time. */
function ifThere<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined;
    throw error;
  }
}

function filesIn(place: string): string[] {
  if (!statSync(place, { throwIfNoEntry: false })?.isDirectory()) return [place];
  const entries = ifThere(() => readdirSync(place, { withFileTypes: true })) ?? [];
  return entries.flatMap((entry) =>
    entry.isDirectory() || entry.isFile() ? filesIn(join(place, entry.name)) : [],
  );
}

/** Yields each file once, including files created or renamed meanwhile. */
export function* filesOf(places: readonly string[]): Generator<[file: string, bytes: Buffer]> {
  for (const place of places) accessSync(place);
  const known = new Set<string>();
  for (;;) {
    const fresh = new Set(places.flatMap(filesIn)).difference(known);
    if (fresh.size === 0) return;
    for (const file of fresh) {
      known.add(file);
      const bytes = ifThere(() => readFileSync(file));
      if (bytes) yield [file, bytes];
    }
  }
}

/** Searches every table row, in its text form, and every file for the secrets. */
export async function leaks(
  pool: pg.Pool,
  secrets: ReadonlySet<string>,
  places: readonly string[],
): Promise<{ found: string[]; searched: number }> {
  const find = finder(secrets);
  const found = new Set<string>();
  let searched = 0;
  const search = (bytes: Buffer, place: string) => {
    searched += bytes.length;
    if (find(bytes)) found.add(`a secret stands in ${place}`);
  };
  await pool.query('ANALYZE');
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname NOT IN ('information_schema', 'pg_catalog')
     UNION ALL VALUES ('pg_catalog.pg_stats'), ('pg_catalog.pg_statistic_ext_data')`,
  );
  for (const { name } of tables) {
    const { rows } = await pool.query<{ line: string }>(`SELECT t::text AS line FROM ${name} t`);
    search(Buffer.from(rows.map(({ line }) => line).join('\n')), `table ${name}`);
  }
  await pool.query('CHECKPOINT');
  for (const [file, bytes] of filesOf(places)) search(bytes, file);
  return { found: [...found], searched };
}
