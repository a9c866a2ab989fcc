import pg from 'pg';

export interface Statement {
  /** Of the prepared statement; empty where it is none. */
  name: string;
  text: string;
  /** As they were bound, the first time. */
  values: unknown[];
}

interface Wire {
  parsedTexts?: Map<string, string>;
}

interface Methods {
  parse(this: Wire, query: { name?: string; text: string }, more?: boolean): void;
  bind(this: Wire, config: { statement?: string; values?: unknown[] }, more?: boolean): void;
  query(this: Wire, text: string): void;
}

/** Every statement that this process sends to PostgreSQL from now on, once, taken from the wire. */
export function recordStatements(t: { teardown(end: () => void): unknown }) {
  const statements = new Map<string, Statement>();
  const methods = (pg as unknown as { Connection: { prototype: Methods } }).Connection.prototype;
  const { parse, bind, query } = methods;
  const note = (name: string, text: string, values: unknown[]) => {
    if (!statements.has(text)) statements.set(text, { name, text, values });
  };
  methods.parse = function (parsed, more) {
    this.parsedTexts ??= new Map();
    this.parsedTexts.set(parsed.name ?? '', parsed.text);
    parse.call(this, parsed, more);
  };
  methods.bind = function (bound, more) {
    const name = bound.statement ?? '';
    note(name, this.parsedTexts?.get(name) ?? '', [...(bound.values ?? [])]);
    bind.call(this, bound, more);
  };
  methods.query = function (text) {
    note('', text, []);
    query.call(this, text);
  };
  t.teardown(() => Object.assign(methods, { parse, bind, query }));
  return statements;
}
