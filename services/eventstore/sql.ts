import { hash } from 'node:crypto';

/** A statement with its values; `name` makes it a prepared statement on each connection. */
export interface Sql {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
  /** The values of one statement of this text that does what several do, one after the other. */
  readonly together?: (values: readonly unknown[][]) => unknown[];
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
