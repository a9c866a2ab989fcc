import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import { Client } from '../../platform/postgres/client.ts';
import { clientConfig } from '../../platform/postgres/connection.ts';
import { type Engine, readEngine } from '../../platform/postgres/engine.ts';
import { named, type Sql } from '../../platform/sql.ts';

const QUERY_TIMEOUT_MS = 10_000;

/** What the checks of the database work with. */
export interface Context {
  env: Readonly<Record<string, string | undefined>>;
  config: Config;
  /** The addresses of DATABASE_URL and DATABASE_DIRECT_URL, or of the embedded PostgreSQL. */
  url: string;
  directUrl: string;
  /** A connection to `url`. */
  client: pg.Client;
  /** Runs a statement on `client`. */
  ask: Ask;
  /** The folder of the backups. */
  backups: string | undefined;
}

export type Ask = <Row>(statement: Sql<Row>) => Promise<Row[]>;

/** Whether the log is distributed over a cluster. */
export const engineOf = (ask: Ask): Promise<Engine> =>
  readEngine({ query: async (text) => ({ rows: await ask(named(text)) }) });

/**
 * Runs `work` on a new connection. Through a transaction pooler, its server process also serves
 * others, so `ask` prepares no statement, and `work` must not change the session.
 */
export async function connectTo<Result>(
  url: string,
  work: (client: pg.Client, ask: Ask) => Promise<Result>,
): Promise<Result> {
  const client = new Client({
    ...clientConfig(url, 'service doctor'),
    query_timeout: QUERY_TIMEOUT_MS,
  });
  // A lost connection already fails the pending query.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client, async <Row>({ text, values }: Sql<Row>) => {
      const { rows } = await client.query({ text, values });
      return rows as Row[];
    });
  } finally {
    await client.end();
  }
}

/** What a check has found. `command` mends it. */
export interface Finding {
  level: 'ok' | 'warn' | 'bad';
  text: string;
  command?: string;
}

export const ok = (text: string): Finding => ({ level: 'ok', text });

/** The service works, but something that it relies on may fail it. */
export const warn = (text: string, command: string): Finding => ({ level: 'warn', text, command });

/** The service does not work, or loses what it promised to keep. */
export const bad = (text: string, command: string): Finding => ({ level: 'bad', text, command });

/** The findings, or `text` if there are none. */
export const orOk = (findings: (Finding | false | undefined)[], text: string): Finding[] => {
  const found = findings.filter((finding) => finding !== false && finding !== undefined);
  return found.length > 0 ? found : [ok(text)];
};

/** Formats a finding of a check as one line. */
export const formatFinding = (check: string, { level, text, command }: Finding): string =>
  `${level.padEnd(4)}  ${check.padEnd(13)}  ${command === undefined ? text : `${text}: ${command}`}\n`;

/** A text as one word of a shell command, in quotes if it needs them. */
export const shellWord = (text: string): string =>
  /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
