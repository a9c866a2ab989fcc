import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A file beside this one, with `{name}` replaced where `values` has the name. */
export function textFile(name: string, values: Readonly<Record<string, string>> = {}): string {
  const text = readFileSync(fileURLToPath(new URL(name, import.meta.url)), 'utf8');
  return text.replace(/\{([a-z_]+)\}/g, (whole, key: string) => values[key] ?? whole);
}
