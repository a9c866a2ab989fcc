import { hash } from 'node:crypto';

/** A statement with its values; `name` makes it a prepared statement on each connection. */
export interface Sql {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
  /** The text for so many of it as one, with the values of each in turn, where no rule tells it. */
  readonly many?: (count: number) => string;
}

const known = new WeakMap<TemplateStringsArray, { name: string; text: string }>();

/** `sql\`… ${value} …\``: every value becomes a parameter, the text a named prepared statement. */
export function sql(parts: TemplateStringsArray, ...values: unknown[]): Sql {
  let statement = known.get(parts);
  if (!statement) {
    const text = parts.reduce((left, right, index) => `${left}$${index}${right}`);
    statement = { name: hash('sha1', text), text };
    known.set(parts, statement);
  }
  return { ...statement, values };
}

/** The same rows as the text of one JSON array, in `rows`. */
export function asText({ name, text, values }: Sql): Sql {
  return {
    name: `text-${name}`,
    text: `SELECT coalesce(json_agg(row), '[]')::text AS rows FROM (${text}) row`,
    values,
  };
}
