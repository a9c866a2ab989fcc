import { hash, randomUUID } from 'node:crypto';
import canonicalize from 'canonicalize';

/** A JSON string, including the colon after a member name. Nothing else in JSON has quotes. */
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"(?:[ \t\r\n]*:)?/gs;

/**
 * JSON.parse with a workaround for a V8 defect (12.8 to at least 14.6, nodejs/node#63785): after a
 * member named `\`, V8 may parse an escaped member name as a prefix of its source text. So escaped
 * member names are parsed separately. Throws `SyntaxError` as JSON.parse does.
 */
export function parseJson(text: string): unknown {
  return mendNames(text, JSON.parse(text));
}

/** Returns `value`, the result of JSON.parse(text), with the correct member names. */
export function mendNames<Value>(text: string, value: Value): Value {
  if (!text.includes('\\')) return value;
  const mark = randomUUID();
  const names = new Map<string, string>();
  const plain = text.replaceAll(STRING, (literal) => {
    if (!(literal.endsWith(':') && literal.includes('\\'))) return literal;
    const name = `${mark}${names.size}`;
    names.set(name, JSON.parse(literal.slice(0, literal.lastIndexOf('"') + 1)));
    return `"${name}":`;
  });
  return names.size === 0 ? value : (rename(JSON.parse(plain), names) as Value);
}

function rename(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => rename(item, names));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [names.get(name) ?? name, rename(item, names)]),
  );
}

/** SHA-256, in hex, of the canonical JSON (RFC 8785) of a value. */
export function contentHash(value: unknown): string {
  return hash('sha256', canonicalize(value) ?? '', 'hex');
}
