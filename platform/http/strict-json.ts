import { mendNames } from '../json.ts';
import { Problem, withoutKeys } from './problems.ts';

const MAX_DEPTH = 32;
/** Largest number of values, unless the caller knows that fewer suffice. */
const MAX_VALUES = 4096;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

/** Parses one object as `parseStrictValue` does, and refuses every other value. */
export function parseStrictJson(bytes: Uint8Array, maxValues?: number): JsonObject {
  const value = parseStrictValue(bytes, maxValues);
  if (!isJsonObject(value)) throw bad('the body is not a JSON object');
  return value;
}

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Parses one UTF-8 JSON value (RFC 8259) and throws `invalid_json` for: a duplicate or `__proto__`
 * member, a byte-order mark, invalid UTF-8, a lone surrogate, a control character other than `\n`
 * and `\t`, nesting deeper than 32, more than `maxValues` values, a number outside the range of a double.
 *
 * A scan of the text finds what JSON.parse hides (duplicates) and what makes a body expensive (depth
 * and number of values). It comes first, so that no value is made of a text that is refused.
 */
export function parseStrictValue(bytes: Uint8Array, maxValues = MAX_VALUES): Json {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw bad('the body is not valid UTF-8');
  }
  if (text.charCodeAt(0) === 0xfeff) throw bad('the body starts with a byte-order mark');
  scan(text, maxValues);
  const value = mendNames(text, parsed(text));
  checkValue(value, '');
  return value;
}

function bad(message: string): Problem {
  return new Problem('invalid_json', { message: `The body was refused: ${message}.` });
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw bad('the body is not valid JSON');
  }
}

/** Scans any text for its depth, its number of values and duplicate members of each object. */
function scan(text: string, maxValues: number): void {
  const objects: (Set<string> | null)[] = [];
  let values = 0;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x7b: // {
      case 0x5b: // [
        if (objects.length >= MAX_DEPTH) throw bad(`nested deeper than ${MAX_DEPTH}`);
        objects.push(text[index] === '{' ? new Set() : null);
        values++;
        break;
      case 0x2c: // ,
        values++;
        break;
      case 0x7d:
      case 0x5d:
        objects.pop();
        break;
      case 0x22: {
        const end = stringEnd(text, index);
        const members = objects.at(-1);
        if (members && isMemberName(text, end)) addMember(members, text.slice(index, end + 1));
        index = end;
      }
    }
    if (values > maxValues) throw bad(`more than ${maxValues} values`);
  }
}

/** The index of the closing quote, or the end of a text that lacks it. */
function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  if (end === -1) return text.length;
  if (text.charCodeAt(end - 1) !== 0x5c) return end;
  // Escapes are read one by one: a search for each quote would cost more where there are many.
  for (end = start + 1; end < text.length && text.charCodeAt(end) !== 0x22; end++)
    if (text.charCodeAt(end) === 0x5c) end++;
  return end;
}

function isMemberName(text: string, end: number): boolean {
  let next = end + 1;
  while (isWhiteSpace(text.charCodeAt(next))) next++;
  return text[next] === ':';
}

const isWhiteSpace = (code: number): boolean =>
  code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;

function addMember(members: Set<string>, literal: string): void {
  const name = literal.includes('\\') ? (parsed(literal) as string) : literal.slice(1, -1);
  if (name === '__proto__') throw bad('a member is named __proto__');
  if (members.has(name)) throw bad('an object has a member name twice');
  members.add(name);
}

function checkValue(value: Json, path: string): void {
  if (typeof value === 'string') checkText(value, path);
  else if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw bad(`a number is out of range at ${shown(path)}`);
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => {
      checkValue(item, join(path, String(index)));
    });
  } else if (value !== null && typeof value === 'object') {
    for (const [name, item] of Object.entries(value)) {
      checkText(name, path || 'a member name');
      checkValue(item, join(path, name));
    }
  }
}

const shown = (path: string) => withoutKeys(path).slice(0, 200);
const join = (path: string, name: string) => (path ? `${path}.${name}` : name);

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to refuse
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

function checkText(text: string, path: string): void {
  if (!text.isWellFormed()) throw bad(`a lone surrogate at ${shown(path)}`);
  if (CONTROL.test(text)) throw bad(`a control character at ${shown(path)}`);
}
