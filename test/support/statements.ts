import pg from 'pg';
import { prepareValue } from '../../platform/postgres/pipeline.ts';

export interface Statement {
  /** Name of the prepared statement; empty if the statement is not prepared. */
  name: string;
  text: string;
  /** The values bound at its first execution. */
  values: unknown[];
  /** How many times it was executed. */
  times: number;
}

interface Wire {
  /** Text of the unnamed statement. */
  parsedText?: string;
}

interface Methods {
  parse(this: Wire, query: { name?: string; text: string }, more?: boolean): void;
  bind(this: Wire, config: { statement?: string; values?: unknown[] }, more?: boolean): void;
  query(this: Wire, text: string): void;
}

/** Records each distinct statement that this process sends to PostgreSQL from now on. */
export function recordStatements(t: { teardown(end: () => void): unknown }) {
  const statements = new Map<string, Statement>();
  const methods = (pg as unknown as { Connection: { prototype: Methods } }).Connection.prototype;
  const { parse, bind, query } = methods;
  const texts = new Map<string, string>();
  const note = (statement: Omit<Statement, 'times'>) => {
    const noted = statements.get(statement.text);
    if (noted) noted.times++;
    else statements.set(statement.text, { ...statement, times: 1 });
  };
  methods.parse = function (parsed, more) {
    if (parsed.name) texts.set(parsed.name, parsed.text);
    else this.parsedText = parsed.text;
    parse.call(this, parsed, more);
  };
  methods.bind = function (bound, more) {
    const name = bound.statement ?? '';
    const text = (name ? texts.get(name) : this.parsedText) ?? '';
    note({ name, text, values: [...(bound.values ?? [])] });
    bind.call(this, bound, more);
  };
  methods.query = function (text) {
    note({ name: '', text, values: [] });
    query.call(this, text);
  };
  t.teardown(() => Object.assign(methods, { parse, bind, query }));
  return statements;
}

/**
 * The statements as a script for psql: each is prepared, and executed with the values of its first execution, next to
 * the names of its parameters. A part of the script can be pasted alone.
 */
export const toPsql = (statements: readonly Statement[]): string =>
  statements
    .map(({ text, values, times }) => {
      const given = values.map((value, index) => `\n  /* $${index + 1} */ ${toLiteral(value)}`);
      const execute =
        given.length > 0 ? `EXECUTE printed (${given.join(',')});` : 'EXECUTE printed;';
      return `-- executed ${times} times\nPREPARE printed AS ${text.trim()};\n${execute}\nDEALLOCATE printed;\n`;
    })
    .join('\n');

function toLiteral(value: unknown): string {
  const prepared = prepareValue(value);
  if (prepared === null || prepared === undefined) return 'NULL';
  if (Buffer.isBuffer(prepared)) return `'\\x${prepared.toString('hex')}'`;
  return pg.escapeLiteral(String(prepared));
}

/** The number of ids in the longest array that this process sends to PostgreSQL from now on. */
export function longestBatches(t: { teardown(end: () => void): unknown }): () => number {
  const methods = (pg as unknown as { Connection: { prototype: Methods } }).Connection.prototype;
  const { bind } = methods;
  let longest = 0;
  methods.bind = function (bound, more) {
    for (const value of bound.values ?? [])
      if (typeof value === 'string' && /^\{"?[0-9a-f]{8}-/.test(value))
        longest = Math.max(longest, value.split(',').length);
    bind.call(this, bound, more);
  };
  t.teardown(() => Object.assign(methods, { bind }));
  return () => longest;
}
