import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Reads a file of this folder and replaces each `{name}` that `values` contains. */
export function textFile(name: string, values: Readonly<Record<string, string>> = {}): string {
  const text = readFileSync(fileURLToPath(new URL(name, import.meta.url)), 'utf8');
  return text.replace(/\{([a-z_]+)\}/g, (whole, key: string) => values[key] ?? whole);
}
