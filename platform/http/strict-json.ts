import { mendNames } from '../json.ts';
import { Problem, withoutKeys } from './problems.ts';

const MAX_DEPTH = 32;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

/**
 * Parses one UTF-8 JSON object (RFC 8259) and throws `invalid_json` for: a duplicate or `__proto__`
 * member, a byte-order mark, invalid UTF-8, a lone surrogate, a control character other than `\n`
 * and `\t`, nesting deeper than 32, a number outside the range of a double.
 *
 * JSON.parse does the parsing; a scan of the text finds what JSON.parse hides (duplicates, depth).
 */
export function parseStrictJson(bytes: Uint8Array): JsonObject {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw bad('the body is not valid UTF-8');
  }
  if (text.charCodeAt(0) === 0xfeff) throw bad('the body starts with a byte-order mark');
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    throw bad('the body is not valid JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw bad('the body is not a JSON object');
  scan(text);
  value = mendNames(text, value);
  checkValue(value, '');
  return value;
}

function bad(message: string): Problem {
  return new Problem('invalid_json', { message: `The body was refused: ${message}.` });
}

/** Scans text that JSON.parse accepts for its depth and for duplicate members of each object. */
function scan(text: string): void {
  const objects: (Set<string> | null)[] = [];
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x7b: // {
      case 0x5b: // [
        if (objects.length >= MAX_DEPTH) throw bad(`nested deeper than ${MAX_DEPTH}`);
        objects.push(text[index] === '{' ? new Set() : null);
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
  }
}

function stringEnd(text: string, start: number): number {
  let end = start + 1;
  while (text.charCodeAt(end) !== 0x22) end += text.charCodeAt(end) === 0x5c ? 2 : 1;
  return end;
}

function isMemberName(text: string, end: number): boolean {
  let next = end + 1;
  while (/[ \t\r\n]/.test(text[next] ?? '')) next++;
  return text[next] === ':';
}

function addMember(members: Set<string>, literal: string): void {
  const name = JSON.parse(literal) as string;
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
